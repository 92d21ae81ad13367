"""A file system in an image file on a loop device, which can be cut off like in a power failure, and filled up. The
caller needs a private mount namespace (`in_namespaces("mount")`)."""

import errno
import os
import subprocess
import tempfile

from harness.machine import skip


def run(*command):
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)


class Disk:
    def __init__(self, folder, size="640M"):  # above the floor at which writes stop
        self.image = os.path.join(folder, "disk.img")
        self.mount_point = os.path.join(folder, "disk")
        self.filler = os.path.join(self.mount_point, "filler")
        os.mkdir(self.mount_point)
        run("truncate", "-s", size, self.image)
        run("mkfs.ext4", "-q", "-F", "-m0", self.image)
        self.mount()

    def mount(self):
        run("mount", "-o", "loop", self.image, self.mount_point)

    def unmount(self):
        run("umount", self.mount_point)

    def cut(self):
        """Copies the image without data that is only in memory. Stop all writers first."""
        run("cp", "--sparse=always", self.image, self.image + ".cut")

    def come_back(self):
        """Mounts the copy, as after the restart of the machine; ext4 replays its journal."""
        self.unmount()
        os.replace(self.image + ".cut", self.image)
        self.mount()

    def free_bytes(self):
        info = os.statvfs(self.mount_point)
        return info.f_bavail * info.f_frsize

    def fill(self, leave):
        """Uses all space except `leave` bytes, like another program; 0: to the last block."""
        file = os.open(self.filler, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        try:
            wanted = self.free_bytes() - leave
            if wanted > 0:
                os.posix_fallocate(file, os.fstat(file).st_size, wanted)
            while leave == 0:
                os.write(file, b"\0" * 4096)
        except OSError as error:
            if error.errno != errno.ENOSPC:
                raise
        finally:
            os.close(file)

    def make_room(self):
        os.remove(self.filler)


def skip_without_loop_device():
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        try:
            Disk(folder, "16M").unmount()
        except (OSError, subprocess.CalledProcessError) as error:
            skip(f"loop devices are not available: {error}")
