//! What a system call tries to reach, read from the memory of its process.

use std::io;
use std::net::{IpAddr, SocketAddr};

/// What a process tried to reach.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Attempt {
    /// The process, which may be gone by now.
    pub pid: u32,
    /// Where the call leads.
    pub to: Target,
}

/// An end of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Target {
    /// An address of the Internet's protocols. An IPv4 address that is written as IPv6 is an IPv4 address.
    Address(SocketAddr),
    /// An address of another family than those that stay in the kernel, with its number (`AF_PACKET` is 17, `AF_VSOCK` 40).
    Family(u16),
    /// The process does not let its memory be read.
    Unreadable,
}

/// The longest address that the kernel takes.
const LONGEST: usize = 128;
/// How many messages one call can send, at most.
const MESSAGES: u64 = 1024;
/// How long the head of a message is in a list of them.
const HEAD: u64 = size_of::<libc::mmsghdr>() as u64;

/// Whether the memory of a program may be read. A program that has ended is no reason against it.
pub(crate) fn is_readable(pid: u32) -> io::Result<()> {
    match read(pid, 0, &mut [0]) {
        Err(refused) if refused.kind() == io::ErrorKind::PermissionDenied => Err(refused),
        _ => Ok(()),
    }
}

/// Lists what a system call tries to reach. Nothing, if it names no address or one that stays in the kernel.
pub(crate) fn targets(pid: u32, call: libc::c_long, args: &[u64; 6]) -> Vec<Target> {
    let message = |at| name_of_message(pid, at);
    match call {
        libc::SYS_connect => address(pid, args[1], args[2]).into_iter().collect(),
        libc::SYS_sendto => address(pid, args[4], args[5]).into_iter().collect(),
        libc::SYS_sendmsg => message(args[1]).into_iter().collect(),
        libc::SYS_sendmmsg => {
            (0..args[2].min(MESSAGES)).filter_map(|index| message(args[1].wrapping_add(index * HEAD))).collect()
        }
        _ => Vec::new(),
    }
}

/// Reads the address that a message goes to, from its head. The first two fields are the pointer to it and its length.
fn name_of_message(pid: u32, at: u64) -> Option<Target> {
    let mut head = [0; 16];
    if let Err(e) = read(pid, at, &mut head) {
        return unread(&e);
    }
    let (pointer, length) = head.split_at(size_of::<u64>());
    let pointer = u64::from_ne_bytes(pointer.try_into().unwrap_or_default());
    let length = u32::from_ne_bytes([length[0], length[1], length[2], length[3]]);
    if pointer == 0 { None } else { address(pid, pointer, u64::from(length)) }
}

fn address(pid: u32, at: u64, length: u64) -> Option<Target> {
    let mut bytes = [0; LONGEST];
    let bytes = &mut bytes[..usize::try_from(length).map_or(LONGEST, |length| length.min(LONGEST))];
    read(pid, at, bytes).map_or_else(|e| unread(&e), |()| target(bytes))
}

/// An address that is not mapped is left to the kernel, which refuses the call.
fn unread(e: &io::Error) -> Option<Target> {
    (e.kind() == io::ErrorKind::PermissionDenied).then_some(Target::Unreadable)
}

/// Reads from the memory of a process.
fn read(pid: u32, at: u64, into: &mut [u8]) -> io::Result<()> {
    let pid = libc::pid_t::try_from(pid).map_err(io::Error::other)?;
    let at = usize::try_from(at).map_err(io::Error::other)?;
    let here = libc::iovec { iov_base: into.as_mut_ptr().cast(), iov_len: into.len() };
    let there = libc::iovec { iov_base: std::ptr::without_provenance_mut(at), iov_len: into.len() };
    // SAFETY: the kernel writes at most as many bytes to the slice as it has.
    let count = unsafe { libc::process_vm_readv(pid, &raw const here, 1, &raw const there, 1, 0) };
    match usize::try_from(count) {
        Ok(count) if count == into.len() => Ok(()),
        Ok(_) => Err(io::ErrorKind::UnexpectedEof.into()),
        Err(_) => Err(io::Error::last_os_error()),
    }
}

/// Reads a socket address as the kernel does. `None` if it stays in the kernel, or is too short to be one.
fn target(bytes: &[u8]) -> Option<Target> {
    let family = u16::from_ne_bytes([*bytes.first()?, *bytes.get(1)?]);
    let port = || Some(u16::from_be_bytes([*bytes.get(2)?, *bytes.get(3)?]));
    let ip = match i32::from(family) {
        libc::AF_UNIX | libc::AF_NETLINK | libc::AF_ALG => return None,
        // A UDP socket takes an address without a family as one of IPv4. `connect` without a family undoes one, with zeroes.
        libc::AF_INET | libc::AF_UNSPEC => IpAddr::from(<[u8; 4]>::try_from(bytes.get(4..8)?).ok()?),
        libc::AF_INET6 => IpAddr::from(<[u8; 16]>::try_from(bytes.get(8..24)?).ok()?),
        _ => return Some(Target::Family(family)),
    };
    Some(Target::Address(SocketAddr::new(ip.to_canonical(), port()?)))
}
