#!/usr/bin/env -S PYTHONPATH=tests python3 -B
# ctest: timeout=7200
"""The sources on each supported release, in a root with only its packages: `./dev demo` builds and serves, and the unit
tests build and pass.

    tests/package/releases.py [RELEASE ...]

It takes half an hour of two processors for each release: without COFFER_PACKAGE_ROOTS=make, the test is skipped. The
roots come from the mirror that apt uses on this machine, and those of Ubuntu from COFFER_UBUNTU_MIRROR.
"""

import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

import roots
from harness.machine import ROOT, skip
from harness.report import check

DEBIAN, UBUNTU = ("bookworm", "trixie"), ("noble",)
# Runs $2 in the root $1, with a network and the kernel's file systems.
ENTER = """
set -e
mount --make-rprivate /
mount -t proc proc "$1/proc"
mount --rbind /dev "$1/dev"
exec chroot "$1" bash -c "cd /src && $2"
"""
DEMO = """
./dev demo --json --port 0 --db /root/demo.db >/root/said 2>/root/log &
while ! grep baseUrl /root/said && kill -0 $!; do sleep 1; done
kill $!
tail -n 20 /root/log
"""


def make(release, place):
    """A root without the packages that the build installs, and the tracked sources in it."""
    mirror = os.environ["COFFER_UBUNTU_MIRROR"] if release in UBUNTU else roots.mirror()
    components = "--components=main,universe" if release in UBUNTU else "--components=main"
    done = subprocess.run(["debootstrap", "--variant=minbase", components, release, place, mirror],
                          stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        skip(f"debootstrap {release}: " + done.stdout.strip().rpartition("\n")[2])
    sources = pathlib.Path(place) / "src"
    sources.mkdir()
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, stdout=subprocess.PIPE, check=True).stdout
    packed = subprocess.run(["tar", "-c", "--null", "-T", "-"], cwd=ROOT, input=listed, stdout=subprocess.PIPE, check=True)
    subprocess.run(["tar", "-x", "-C", sources], input=packed.stdout, check=True)
    # Pinned sources of this machine, whose hashes the build checks, so that it needs no other network than apt's.
    pinned = roots.cache().parent / "third_party"
    if pinned.is_dir():
        shutil.copytree(pinned, f"{place}/root/.cache/coffer/third_party")


def run(place, command):
    environment = {"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "HOME": "/root", "LC_ALL": "C.UTF-8"}
    return subprocess.run(["unshare", "--mount", "bash", "-c", ENTER, "enter", place, command], env=environment,
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)


def try_on(release, place):
    make(release, place)
    done = run(place, DEMO)
    check(f"{release}: ./dev demo builds and serves", '"baseUrl"' in done.stdout, done.stdout[-2000:])
    # PostgreSQL is not installed there.
    done = run(place, "cmake --preset dev && cmake --build build/dev --target unit_tests && "
                      "build/dev/tests/unit_tests '~postgres log*'")
    check(f"{release}: the unit tests pass", done.returncode == 0, done.stdout[-2000:])
    print(f"count: {release}: {done.stdout.strip().rpartition(chr(10))[2]}")


def main(*releases):
    if os.environ.get("COFFER_PACKAGE_ROOTS") != "make":
        skip("it takes long; COFFER_PACKAGE_ROOTS=make runs it")
    if os.geteuid() != 0 or not shutil.which("debootstrap"):
        skip("not root, or debootstrap is not installed")
    if not releases:
        releases = DEBIAN + (UBUNTU if "COFFER_UBUNTU_MIRROR" in os.environ else ())
        if UBUNTU[0] not in releases:
            print("not tried: Ubuntu, because COFFER_UBUNTU_MIRROR is not set")
    for release in releases:
        # Not /tmp, which is in memory on many machines: a root with its build takes 6 GB.
        with tempfile.TemporaryDirectory(dir="/var/tmp") as folder:
            try_on(release, os.path.join(folder, release))


main(*sys.argv[1:])
