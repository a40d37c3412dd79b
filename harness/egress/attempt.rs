//! What a system call tries to reach, read from the memory of its process.

use std::fs::File;
use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::os::unix::fs::FileExt as _;

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
/// How long the head of a message is, and with the number of bytes that were sent of it.
const HEAD: (usize, u64) = (size_of::<libc::msghdr>(), size_of::<libc::mmsghdr>() as u64);

/// Lists what a system call tries to reach. Nothing, if it names no address or one that stays in the kernel.
pub(crate) fn targets(pid: u32, call: libc::c_long, args: &[u64; 6]) -> Vec<Target> {
    let Ok(memory) = File::open(format!("/proc/{pid}/mem")) else { return vec![Target::Unreadable] };
    let found = match call {
        libc::SYS_connect => vec![address(&memory, args[1], args[2])],
        libc::SYS_sendto => vec![address(&memory, args[4], args[5])],
        libc::SYS_sendmsg => vec![name_of_message(&memory, args[1])],
        libc::SYS_sendmmsg => {
            (0..args[2].min(MESSAGES)).map(|index| name_of_message(&memory, args[1] + index * HEAD.1)).collect()
        }
        _ => Vec::new(),
    };
    // An address that is not mapped is left to the kernel, which refuses the call.
    found.into_iter().filter_map(Result::ok).flatten().collect()
}

/// Reads the address that a message goes to, from its head. The first two fields are the pointer to it and its length.
fn name_of_message(memory: &File, at: u64) -> io::Result<Option<Target>> {
    let mut head = [0; HEAD.0];
    memory.read_exact_at(&mut head, at)?;
    let (pointer, rest) = head.split_at(size_of::<u64>());
    let pointer = u64::from_ne_bytes(pointer.try_into().unwrap_or_default());
    let length = u32::from_ne_bytes([rest[0], rest[1], rest[2], rest[3]]);
    if pointer == 0 { Ok(None) } else { address(memory, pointer, u64::from(length)) }
}

fn address(memory: &File, at: u64, length: u64) -> io::Result<Option<Target>> {
    let mut bytes = [0; LONGEST];
    let length = usize::try_from(length).map_or(LONGEST, |length| length.min(LONGEST));
    memory.read_exact_at(&mut bytes[..length], at)?;
    Ok(target(&bytes[..length]))
}

/// Reads a socket address as the kernel does. `None` if it stays in the kernel, or is too short to be one.
fn target(bytes: &[u8]) -> Option<Target> {
    let family = u16::from_ne_bytes([*bytes.first()?, *bytes.get(1)?]);
    let port = || Some(u16::from_be_bytes([*bytes.get(2)?, *bytes.get(3)?]));
    let ip = match i32::from(family) {
        libc::AF_UNSPEC | libc::AF_UNIX | libc::AF_NETLINK | libc::AF_ALG => return None,
        libc::AF_INET => IpAddr::from(<[u8; 4]>::try_from(bytes.get(4..8)?).map(Ipv4Addr::from).ok()?),
        libc::AF_INET6 => IpAddr::from(<[u8; 16]>::try_from(bytes.get(8..24)?).map(Ipv6Addr::from).ok()?),
        _ => return Some(Target::Family(family)),
    };
    Some(Target::Address(SocketAddr::new(ip.to_canonical(), port()?)))
}
