"""Becomes a program for which the kernel refuses `seccomp`, as in a container without that right.

A filter of its own answers that call with EPERM. `prctl` installs it, so that nothing of what is tested is needed for that.
"""

import ctypes
import os
import platform
import struct
import sys

CALL = {"x86_64": 317, "aarch64": 277}[platform.machine()]
REFUSED, ALLOWED = 0x00050001, 0x7FFF0000
instruction = struct.Struct("HBBI").pack
program = b"".join(
    [
        instruction(0x20, 0, 0, 0),  # load the number of the call
        instruction(0x15, 0, 1, CALL),
        instruction(0x06, 0, 0, REFUSED),
        instruction(0x06, 0, 0, ALLOWED),
    ]
)
lines = ctypes.create_string_buffer(program)
libc = ctypes.CDLL(None, use_errno=True)
given = ctypes.create_string_buffer(struct.pack("HxxxxxxP", len(program) // 8, ctypes.addressof(lines)))
assert libc.prctl(38, 1, 0, 0, 0) == 0, "no new privileges"
assert libc.prctl(22, 2, given, 0, 0) == 0, os.strerror(ctypes.get_errno())
os.execvp(sys.argv[1], sys.argv[1:])
