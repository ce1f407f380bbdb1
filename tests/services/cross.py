# SPDX-License-Identifier: BSD-2-Clause
"""What is installed, built for arm64 by clang and lld with Debian's libraries (tools/room arm64): nothing of it runs here."""
import os
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../e2e"))
from e2e import *

TOP = os.path.abspath(os.path.join(os.path.dirname(__file__), "../.."))
CROSS = """[binaries]
c = ['clang', '--target=aarch64-linux-gnu', '--sysroot={room}']
c_ld = 'lld'
ld = 'ld.lld'
ar = 'llvm-ar'
strip = 'llvm-strip'
objcopy = 'llvm-objcopy'
pkgconfig = 'pkg-config'
[properties]
sys_root = '{room}'
pkg_config_libdir = '{room}/usr/lib/aarch64-linux-gnu/pkgconfig:{room}/usr/share/pkgconfig'
[host_machine]
system = 'linux'
cpu_family = 'aarch64'
cpu = 'aarch64'
endian = 'little'
"""


def of_arm64():
    """Each program and library is arm64's, and has what one of this machine's has."""
    made = subprocess.run([TOP + "/tools/room", "arm64"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    if made.returncode:
        raise Skipped(made.stderr.strip())
    with open("cross.ini", "w") as f:
        f.write(CROSS.format(room=made.stdout.strip()))
    sh("meson", "setup", "--cross-file", "cross.ini", "-Doptimization=0", "-Ddebug=false", "-Dprefix=/usr", "build", TOP)
    sh("ninja", "-C", "build", "installed")
    sh("meson", "install", "-C", "build", "--no-rebuild", "--quiet", "--destdir", os.getcwd() + "/installed")
    found = set()
    for at, _, names in os.walk("installed"):
        for name in names:
            path = os.path.join(at, name)
            with open(path, "rb") as f:
                head = f.read(20)
            if head[:4] == b"\x7fELF":
                check(int.from_bytes(head[18:20], "little") == 183, path + " is of arm64")  # EM_AARCH64, elf(5)
                found.add(name.split(".so")[0])
    check(found >= {"dwell", "dwelld", "libdwell", "libdwell-papi", "libdwell-preload"}, found)
    libraries = glob.glob("installed/usr/lib/**/*.a", recursive=True)
    check({os.path.basename(a) for a in libraries} == {"libdwell.a", "libdwell-papi.a"}, libraries)
    for a in libraries:
        check("AArch64" in sh("readelf", "-h", a), a)


run(of_arm64)
