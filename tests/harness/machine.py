"""What a test needs of the machine: binaries, programs, privileges, ports. A need that is not met ends the test:
with 77, which ctest reports as skipped, or as failed where ./dev installs it."""

import os
import shutil
import socket
import subprocess
import sys

SKIPPED = 77
ROOT = os.path.abspath(os.environ.get("COFFER_SOURCE_DIR") or os.path.join(os.path.dirname(__file__), "..", ".."))
# What to build for the binaries that tests judge, and where they are unless COFFER_<NAME>_BIN says otherwise.
BINARIES = {"release": ("release-static", "coffer"), "dev": ("dev", "coffer"), "faults": ("dev", "coffer"),
            "next": ("release-static", "coffer_next")}
BROWSERS = ("chromium", "chromium-browser", "google-chrome")
IN_NAMESPACES = "COFFER_TEST_IN_NAMESPACES"


def test_name():
    return os.path.splitext(os.path.basename(sys.argv[0]))[0]


def skip(reason):
    print(f"skipped: {reason}")
    sys.exit(SKIPPED)


def binary_path(name):
    """Where the binary is, whether or not it was built."""
    preset, file = BINARIES[name]
    return os.environ.get(f"COFFER_{name.upper()}_BIN") or os.path.join(ROOT, "build", preset, file)


def binary(name="release"):
    """The path of a binary that was built: `release` is what ships, `dev` has sanitizers, `faults` has fault
    points, `next` has one more step of the schema."""
    path = os.path.abspath(binary_path(name))
    if not os.access(path, os.X_OK):
        sys.exit(f"no binary at {path}: ./dev build {BINARIES[name][0]}")
    return path


def program(name):
    """The path of a program, also one that `./dev setup` unpacked; skips the test where it is missing."""
    cache = os.path.join(os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache"), "coffer", name)
    found = shutil.which(name, path=os.pathsep.join((os.environ.get("PATH", ""), "/usr/sbin", cache)))
    return found or skip(f"{name} is not installed: ./dev setup")


def chromium():
    """The path of a browser that playwright drives; skips the test on a machine without one."""
    found = os.environ.get("COFFER_CHROMIUM") or next(filter(None, map(shutil.which, BROWSERS)), None)
    return found or skip("no chromium")


def node_packages(folder, *names):
    """Ends the test where npm packages below tests/`folder` are missing; ./dev installs them."""
    for name in names or ("",):
        if not os.path.isdir(os.path.join(ROOT, "tests", folder, "node_modules", name)):
            sys.exit(f"the npm packages of tests/{folder} are missing: ./dev setup")


def in_namespaces(*kinds, as_root=True, optional=False):
    """Runs this program again in namespaces of its own ("mount", "net", "ipc", "uts"), with a loopback device where
    it has a network; then true. Where that is not possible: false if `optional`, else the test is skipped.
    `as_root` false: a user who is not root becomes root inside."""
    if os.environ.get(IN_NAMESPACES):
        if "net" in kinds:
            subprocess.run(["ip", "link", "set", "lo", "up"], check=True)
        return True
    unshare = ["unshare", *(f"--{kind}" for kind in kinds)]
    if os.geteuid() != 0:
        unshare.append("--map-root-user")
    possible = (os.geteuid() == 0 or not as_root) and subprocess.run(
        [*unshare, "true"], stderr=subprocess.DEVNULL, check=False).returncode == 0
    if not possible:
        return False if optional else skip(f"needs {'root and ' if as_root else ''}namespaces: {', '.join(kinds)}")
    os.environ[IN_NAMESPACES] = ",".join(kinds)
    sys.stdout.flush()
    return os.execvp(unshare[0], [*unshare, sys.executable, "-B", *sys.argv])


HELD = []


def held_port():
    """A port of this machine reserved for this test: a socket is bound to it and never
    listens. A server that asks for this very port, with SO_REUSEADDR as servers do, gets it."""
    holder = socket.socket()
    holder.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    holder.bind(("127.0.0.1", 0))
    HELD.append(holder)
    return holder.getsockname()[1]
