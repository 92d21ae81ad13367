"""Roots of Debian releases, created once with debootstrap and copied for each test.

The roots are kept as archives in ~/.cache/coffer/roots for a month; `roots.py RELEASE ...` creates them, from the
mirror that apt uses on this machine. If the machine cannot create them, the test is skipped (77).
"""

import contextlib
import hashlib
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import time

from harness.machine import in_namespaces, skip

# In addition to the base: packages of a real host that a package's scripts use, and the package's recommendations,
# which apt would fetch.
EXTRA = dict.fromkeys(("bookworm", "trixie"), "systemd,systemd-sysv,debconf,ca-certificates")
KEPT_S = 30 * 24 * 3600


def mirror():
    """The mirror that apt uses, without the release: for example http://deb.debian.org/debian."""
    said = subprocess.run(["apt-get", "--print-uris", "update"], stdout=subprocess.PIPE,
                          stderr=subprocess.DEVNULL, text=True).stdout
    for line in said.splitlines():
        address = line.split("'")[1] if "'" in line else ""
        if "/dists/" in address and "security" not in address and "debian" in address:
            return address.split("/dists/")[0]
    skip("apt has no Debian mirror configured")


def cache():
    home = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
    return pathlib.Path(home) / "coffer" / "roots"


def place_of(release):
    """The archive of a root. Its name depends on the packages."""
    extra = EXTRA.get(release)
    name = f"{release}-{hashlib.sha256(extra.encode()).hexdigest()[:8]}" if extra else release
    return cache() / (name + ".tar")


def kept(release):
    """Whether the root exists."""
    archive = place_of(release)
    return archive.is_file() and time.time() - archive.stat().st_mtime < KEPT_S


# In memory, which takes a third of the time: packages consist of thousands of files, each synced.
MAKE = """
set -e
mount --make-rprivate /
mount -t tmpfs -o mode=755 tmpfs "$1"
debootstrap --variant=minbase "$3" "$4" "$1/root" "$5"
rm -rf "$1/root/var/cache/apt/archives"
tar --create --file "$2" --numeric-owner -C "$1/root" .
"""


def archive_of(release):
    archive = place_of(release)
    if kept(release):
        return archive
    if not shutil.which("debootstrap"):
        skip("debootstrap is not installed")
    archive.parent.mkdir(parents=True, exist_ok=True)
    partial = f"{archive}.{os.getpid()}"
    include = "--include=" + EXTRA[release] if release in EXTRA else "--verbose"
    try:
        with tempfile.TemporaryDirectory() as folder:
            done = subprocess.run(["unshare", "--mount", "sh", "-c", MAKE, "make", folder, partial, include,
                                   release, mirror()], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                  stderr=subprocess.STDOUT, text=True, check=False)
        if done.returncode != 0:
            skip(f"debootstrap {release}: " + done.stdout.strip().rpartition("\n")[2])
        os.rename(partial, archive)
    finally:
        pathlib.Path(partial).unlink(missing_ok=True)
    return archive


# Runs in new namespaces, with the root's folder as the first argument: creates what systemd expects in a container,
# and then executes systemd.
BOOT = """
set -e
mount --make-rprivate /
mount --bind "$1" "$1"
mount -t proc proc "$1/proc"
mount -t sysfs -o ro sysfs "$1/sys"
mount -t cgroup2 cgroup2 "$1/sys/fs/cgroup"
mount -t tmpfs -o mode=755 tmpfs "$1/dev"
for name in null zero full random urandom tty; do
  touch "$1/dev/$name"
  mount --bind "/dev/$name" "$1/dev/$name"
done
ln -s /proc/self/fd "$1/dev/fd"
for number in 0 1 2; do
  name=$(echo stdin stdout stderr | cut -d ' ' -f $((number + 1)))
  ln -s "fd/$number" "$1/dev/$name"
done
mkdir "$1/dev/shm" "$1/dev/pts"
mount -t tmpfs tmpfs "$1/dev/shm"
mount -t devpts -o newinstance,ptmxmode=0666 devpts "$1/dev/pts"
ln -s pts/ptmx "$1/dev/ptmx"
mount -t tmpfs -o mode=755 tmpfs "$1/run"
cd "$1"
pivot_root . mnt
umount -l /mnt
mount --make-rshared /
exec env -i container=coffer-test PATH=/usr/sbin:/usr/bin:/sbin:/bin /lib/systemd/systemd --system \
  --show-status=0 systemd.unit=multi-user.target
"""


@contextlib.contextmanager
def memory():
    """A folder in memory, for private namespaces: a root consists of thousands of small files, each synced."""
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run(["mount", "-t", "tmpfs", "-o", "mode=755", "tmpfs", folder], check=True)
        try:
            yield folder
        finally:
            subprocess.run(["umount", "--lazy", folder], check=True)


class Root:
    """A copy of a release's root below `folder`."""

    def __init__(self, release, folder):
        if os.geteuid() != 0:
            skip("not root")
        archive = archive_of(release)
        self.path = pathlib.Path(folder) / release
        self.path.mkdir()
        subprocess.run(["tar", "--extract", "--file", archive, "--numeric-owner", "-C", self.path],
                       check=True)
        self.machine, self.init, self.cgroup = None, None, None

    def boot(self):
        """Starts the root's systemd, which ends with this process. It shares the network and host name with the
        test."""
        tree = next((line.split()[1] for line in open("/proc/mounts", encoding="utf-8")
                     if line.split()[2] == "cgroup2"), None)
        if not tree or not os.access(tree, os.W_OK):
            skip("cgroup v2 is not writable")
        self.cgroup = pathlib.Path(tree) / f"coffer-test-{os.getpid()}"
        self.cgroup.mkdir()
        enter = f"echo $$ >{self.cgroup}/cgroup.procs && exec \"$@\""
        self.machine = subprocess.Popen(
            ["sh", "-c", enter, "sh", "unshare", "--cgroup", "--mount", "--pid", "--ipc", "--uts", "--fork",
             "--kill-child", "bash", "-c", BOOT, "boot", self.path],
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        state = "nothing"
        for _ in range(1200):
            time.sleep(0.1)
            children = pathlib.Path(f"/proc/{self.machine.pid}/task/{self.machine.pid}/children").read_text()
            if self.machine.poll() is not None or not children.strip():
                continue
            self.init = children.split()[0]
            state = self.run("systemctl", "is-system-running").stdout.strip()
            if state in ("running", "degraded"):
                return self
        self.halt()
        skip(f"systemd does not start in a container on this machine: {state}")

    def halt(self):
        if self.machine:
            # Kill the first process, with which all others end, so that its parent sees it end.
            os.kill(int(self.init or self.machine.pid), signal.SIGKILL)
            self.machine.wait()
            for _ in range(50):
                try:
                    for folder in sorted(self.cgroup.rglob("*/"), reverse=True):
                        if folder.is_dir():
                            folder.rmdir()
                    self.cgroup.rmdir()
                    break
                except OSError:
                    time.sleep(0.1)  # the processes are still exiting
        self.machine = None

    def run(self, *command, env=None, stdin=None):
        """Runs a command in the root, as root, and returns the finished process with its output as text."""
        environment = {"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "HOME": "/root", "LC_ALL": "C.UTF-8",
                       "DEBIAN_FRONTEND": "noninteractive", **(env or {})}
        into = ["nsenter", "--target", self.init, "--mount", "--pid", "--ipc", "--uts", "--cgroup", "--"] \
            if self.machine else ["chroot", self.path]
        return subprocess.run([*into, *command], env=environment, input=stdin, text=True,
                              stdin=None if stdin is not None else subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)

    def bring(self, file, place="/root"):
        """Copies a file into the root and returns its path there."""
        target = self.path / place.lstrip("/") / pathlib.Path(file).name
        shutil.copy2(file, target)
        return "/" + str(target.relative_to(self.path))

    def files(self):
        """Every path below the root, as text, except the kernel's file systems."""
        out = set()
        for folder, folders, names in os.walk(self.path):
            if folder == str(self.path):
                folders[:] = [name for name in folders
                              if name not in ("proc", "sys", "dev", "run", "root", "tmp")]
            out.update(os.path.relpath(os.path.join(folder, name), self.path)
                       for name in (*folders, *names))
        return out


def alone(*releases):
    """Restarts this program with private mounts, loopback and ports. There is no network there, so the required roots
    are created first."""
    if os.geteuid() != 0:
        skip("not root")
    for release in releases:
        archive_of(release)
    in_namespaces("mount", "net", "ipc", "uts")


if __name__ == "__main__":
    for wanted in sys.argv[1:]:
        archive_of(wanted)
