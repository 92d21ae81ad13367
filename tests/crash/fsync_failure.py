"""The disk refuses one synchronisation; see fsync_failure.sh."""

import os
import re
import shutil
import sys
import tempfile
import time

from auditor import audit
from clients import Clients, wait_until_settled
from gateway import Gateway

EXIT_UNCERTAIN = 70
SKIPPED = 77
ENDS_WITHIN_S = 1.0
# Which synchronisation of a thread fails; several, because a commit and a checkpoint differ.
CALLS = (1, 2, 3, 5, 8, 13, 30)
LINE = re.compile(r"^\s*(\d+)\s+(\d+\.\d+) (.*)$")


def times(trace):
    """When the error was injected, and when the process was gone (seconds of the clock)."""
    failed = ended = None
    with open(trace, encoding="utf-8", errors="replace") as file:
        for text in file:
            match = LINE.match(text)
            if not match:
                continue
            if "(INJECTED)" in match[3] and failed is None:
                failed = float(match[2])
            if "+++ exited with" in match[3]:
                ended = float(match[2])
    return failed, ended


def run(seeded, call):
    with tempfile.TemporaryDirectory() as folder:
        shutil.copytree(seeded, folder, dirs_exist_ok=True)
        trace = os.path.join(folder, "trace")
        gateway = Gateway(os.environ["COFFER_RELEASE_BIN"], folder)
        strace = ("strace", "-f", "-ttt", "-o", trace, "-e", "trace=fsync,fdatasync",
                  "-e", f"inject=fsync,fdatasync:error=EIO:when={call}")
        clients = Clients(gateway, seed=call)
        try:
            gateway.start(wrapper=strace)
        except (RuntimeError, ConnectionError):
            pass  # its own first commit was hit
        clients.start()
        code = gateway.wait(20.0)
        if code != EXIT_UNCERTAIN:
            sys.exit(f"fsync_failure: call {call}: the process ended with {code}, not {EXIT_UNCERTAIN}")
        failed, ended = times(trace)
        if failed is None:
            sys.exit(f"fsync_failure: call {call}: nothing was injected, so nothing was tested")
        if ended - failed > ENDS_WITHIN_S:
            sys.exit(f"fsync_failure: call {call}: went on for {ended - failed:.2f} s")
        with clients.lock:
            told, unanswered = list(clients.surprises), len(clients.waiting)
            facts = {key: dict(value) for key, value in clients.facts().items()}
        faults = told + audit(gateway.db, facts)
        gateway.start()
        time.sleep(0.2)
        clients.stop()
        clients.replay_waiting()
        wait_until_settled(gateway)
        gateway.stop()
        faults += audit(gateway.db, clients.facts(), settled=True)
        for fault in faults[:20]:
            print("  " + str(fault))
        if faults or set(clients.acked) != set(clients.sent):
            sys.exit(f"fsync_failure: call {call}: {len(faults)} faults")
        print(f"  call {call}: exit 70 after {(ended - failed) * 1000:.0f} ms, {len(facts['acked'])} payments"
              f" acknowledged before, {unanswered} left without an answer, {clients.repeats} of them were there")


def main():
    if not shutil.which("strace") or os.system("strace -o /dev/null true 2>/dev/null") != 0:
        print("fsync_failure: strace is not there or may not trace")
        sys.exit(SKIPPED)
    with tempfile.TemporaryDirectory() as seeded:
        Gateway(os.environ["COFFER_RELEASE_BIN"], seeded).start().stop()
        for call in CALLS:
            run(seeded, call)
    print("fsync_failure: all is well")


main()
