"""Load from wrk, controlled by a Lua script."""

import subprocess

from harness.machine import program


def wrk(script, url, seconds, connections, *words, timeout_s=2):
    """Runs wrk once. Returns the words that the script printed after `RESULT `. `words` are its arguments."""
    done = subprocess.run([program("wrk"), "-t1", f"-c{connections}", f"-d{seconds}s", "--timeout", f"{timeout_s}s",
                           "-s", script, url, "--", *map(str, words)], capture_output=True, text=True, check=True)
    return next(line for line in done.stdout.splitlines() if line.startswith("RESULT ")).split()[1:]
