"""Figures of a process from /proc."""

import contextlib
import os


def status(pid):
    """/proc/PID/status as a dictionary: name of the line -> its first word."""
    with open(f"/proc/{pid}/status", encoding="ascii", errors="replace") as file:
        return {name: (value.split() or [""])[0] for name, _, value in (line.partition(":") for line in file)}


def memory_mib(pid, which="VmRSS"):
    """`VmRSS`: current resident memory. `VmHWM`: its peak."""
    return int(status(pid)[which]) / 1024


def cpu_s(pid):
    """Processor time of all threads, in user and kernel mode."""
    with open(f"/proc/{pid}/stat", encoding="ascii") as stat:
        fields = stat.read().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def open_files(pid):
    """The open files as paths; sockets and similar by their kernel names."""
    folder, out = f"/proc/{pid}/fd", []
    with contextlib.suppress(FileNotFoundError):  # the process has ended
        for name in os.listdir(folder):
            with contextlib.suppress(OSError):  # closed meanwhile
                out.append(os.readlink(os.path.join(folder, name)))
    return out
