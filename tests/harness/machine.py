"""The test's requirements of the machine: binaries, programs, privileges, ports. If one is missing, the test exits:
with 77, which ctest reports as skipped, or as failed if ./dev should have installed or built it."""

import os
import shutil
import socket
import subprocess
import sys

SKIPPED = 77
ROOT = os.path.abspath(os.environ.get("COFFER_SOURCE_DIR") or os.path.join(os.path.dirname(__file__), "..", ".."))
# Preset and file of each tested binary. COFFER_<NAME>_BIN overrides the path.
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
    """The path of the binary, which may not be built yet."""
    preset, file = BINARIES[name]
    return os.environ.get(f"COFFER_{name.upper()}_BIN") or os.path.join(ROOT, "build", preset, file)


def binary(name="release"):
    """The path of a built binary: `release` is the shipped build, `dev` has sanitizers, `faults` has fault
    points, `next` has one more schema upgrade."""
    path = os.path.abspath(binary_path(name))
    if not os.access(path, os.X_OK):
        sys.exit(f"{path} is missing. Build it with ./dev build {BINARIES[name][0]}")
    return path


def program(name):
    """The path of a program, installed or unpacked by `./dev setup`. If it is missing, skips the test."""
    cache = os.path.join(os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache"), "coffer", name)
    found = shutil.which(name, path=os.pathsep.join((os.environ.get("PATH", ""), "/usr/sbin", cache)))
    return found or skip(f"{name} is not installed. Run ./dev setup")


def chromium():
    """The path of a browser for Playwright. If it is missing, skips the test."""
    found = os.environ.get("COFFER_CHROMIUM") or next(filter(None, map(shutil.which, BROWSERS)), None)
    return found or skip("Chromium is not installed")


def node_packages(folder, *names):
    """Fails the test if npm packages of tests/`folder` are missing; ./dev installs them."""
    for name in names or ("",):
        if not os.path.isdir(os.path.join(ROOT, "tests", folder, "node_modules", name)):
            sys.exit(f"the npm packages of tests/{folder} are missing. Run ./dev setup")


def in_namespaces(*kinds, as_root=True, optional=False):
    """Restarts this program in new namespaces ("mount", "net", "ipc", "uts"), with an active loopback device for
    "net", and returns true there. If the machine does not allow it, returns false if `optional`, and skips the test
    otherwise. With `as_root` false, a user other than root becomes root inside."""
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
    """A port that is reserved for this test by a bound socket that never listens. A server can still listen on
    it with SO_REUSEADDR."""
    holder = socket.socket()
    holder.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    holder.bind(("127.0.0.1", 0))
    HELD.append(holder)
    return holder.getsockname()[1]
