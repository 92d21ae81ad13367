"""A file system in an image file, on a loop device: it can be cut off as a power failure would, and
filled up. The caller has a mount namespace of its own (`in_namespaces("mount")`)."""

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
        """Copies the image as it is: what is only in memory is not in it. Call with writers stopped."""
        run("cp", "--sparse=always", self.image, self.image + ".cut")

    def come_back(self):
        """The machine starts again with what the cut left; the journal of ext4 is replayed."""
        self.unmount()
        os.replace(self.image + ".cut", self.image)
        self.mount()

    def free_bytes(self):
        info = os.statvfs(self.mount_point)
        return info.f_bavail * info.f_frsize

    def fill(self, leave):
        """Another program takes all space but `leave` bytes; 0: to the last block."""
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
            skip(f"no loop device: {error}")
