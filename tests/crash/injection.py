"""Makes system calls of a server fail with strace, which also works on a static binary."""

import os
import re
import shutil

from harness.machine import skip

EXIT_UNCERTAIN = 70
ENDS_WITHIN_S = 1.0
LINE = re.compile(r"^\s*\d+\s+(\d+\.\d+) (.*)$")
SYNC = re.compile(r"^f(?:data)?sync\(\d+<(.*)>\)\s+= (-?\d+)")


def may_trace():
    return shutil.which("strace") and os.system("strace -o /dev/null true 2>/dev/null") == 0


def skip_without_strace():
    if not may_trace():
        skip("strace is not installed or not permitted to trace")


def tracer(trace, calls, what, paths=()):
    """The wrapper command for a server. `what` is as in `strace -e inject=CALLS:WHAT`. `paths` limits it to calls on
    these files."""
    only = [word for path in paths for word in ("-P", path)]
    return ("strace", "-f", "-y", "-ttt", "-o", trace, *only, "-e", "trace=" + calls,
            "-e", f"inject={calls}:{what}")


def injected_and_ended(trace):
    """Times of the first injected call and of the end of the process; None if it did not happen.

    SQLite syncs the directory of a new log and ignores a failure. That is safe, because coffer has already synced
    the directory and does not ignore failures. Such a failure of SQLite does not count."""
    injected = ended = None
    safe = set()
    try:
        with open(trace, encoding="utf-8", errors="replace") as file:
            for match in filter(None, map(LINE.match, file)):
                sync = SYNC.match(match[2])
                if sync and sync[2] == "0":
                    safe.add(sync[1])
                again = sync and sync[1] in safe and os.path.isdir(sync[1])
                if "(INJECTED)" in match[2] and injected is None and not again:
                    injected = float(match[1])
                if "+++ exited with" in match[2] or "+++ killed by" in match[2]:
                    ended = float(match[1])
    except FileNotFoundError:
        pass  # the trace does not exist yet
    return injected, ended
