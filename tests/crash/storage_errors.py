"""One system call on the database files fails; see storage_errors.sh."""

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
LINE = re.compile(r"^\s*\d+\s+(\d+\.\d+) (.*)$")
# (system calls, error, which of them fails, whether the process must end)
CASES = [("fsync,fdatasync", "EIO", (1, 2, 3, 8, 30, 150), True),
         ("pwrite64", "EIO", (1, 2, 7, 40, 300, 2000), True),
         ("pwrite64", "ENOSPC", (1, 3, 50, 700), False)]


def injected_and_ended(trace):
    """Times of the first injected error and of the end of the process, None for what did not happen."""
    injected = ended = None
    with open(trace, encoding="utf-8", errors="replace") as file:
        for match in filter(None, map(LINE.match, file)):
            if "(INJECTED)" in match[2] and injected is None:
                injected = float(match[1])
            if "+++ exited with" in match[2]:
                ended = float(match[1])
    return injected, ended


def start(gateway, calls, error, when, trace):
    # Only on the database and its log: on others SQLite and coffer may shrug.
    strace = ("strace", "-f", "-ttt", "-o", trace, "-P", gateway.db, "-P", gateway.db + "-wal",
              "-e", "trace=" + calls, "-e", f"inject={calls}:error={error}:when={when}")
    try:
        gateway.start(wrapper=strace)
    except (RuntimeError, ConnectionError):
        pass  # its own first commit was hit


def wait_for_end(gateway, trace, what):
    code = gateway.wait(60.0)
    injected, ended = injected_and_ended(trace)
    if code != EXIT_UNCERTAIN or injected is None:
        sys.exit(f"storage_errors: {what}: the process ended with {code}, injected at {injected}")
    if ended - injected > ENDS_WITHIN_S:
        sys.exit(f"storage_errors: {what}: went on for {ended - injected:.2f} s")
    return f"exit 70 after {(ended - injected) * 1000:.0f} ms"


def wait_for_recovery(gateway, clients, trace, what):
    """The error has to happen, and payments have to go on after it in the same process."""
    deadline = time.monotonic() + 60.0
    while injected_and_ended(trace)[0] is None:
        if time.monotonic() > deadline:
            sys.exit(f"storage_errors: {what}: nothing was injected, so nothing was tested")
        time.sleep(0.05)
    before = len(clients.acked)
    while len(clients.acked) < before + 20:
        if gateway.process.poll() is not None or time.monotonic() > deadline:
            sys.exit(f"storage_errors: {what}: no payment is accepted any more")
        time.sleep(0.02)
    return "went on"


def run(seeded, calls, error, when, ends):
    what = f"{calls} {error} at call {when}"
    with tempfile.TemporaryDirectory() as folder:
        shutil.copytree(seeded, folder, dirs_exist_ok=True)
        trace = os.path.join(folder, "trace")
        gateway = Gateway(os.environ["COFFER_RELEASE_BIN"], folder)
        clients = Clients(gateway, seed=when)
        start(gateway, calls, error, when, trace)
        clients.start()
        if ends:
            outcome = wait_for_end(gateway, trace, what)
            with clients.lock:
                unanswered = len(clients.waiting)
                facts = {key: dict(value) for key, value in clients.facts().items()}
            faults = audit(gateway.db, facts)
            gateway.start()
            time.sleep(0.1)
        else:
            outcome, unanswered, faults = wait_for_recovery(gateway, clients, trace, what), 0, []
        clients.stop()
        clients.replay_waiting()
        wait_until_settled(gateway)
        gateway.stop()
        faults += clients.surprises + audit(gateway.db, clients.facts(), settled=True)
        for fault in faults[:20]:
            print("  " + str(fault))
        if faults or set(clients.acked) != set(clients.sent):
            sys.exit(f"storage_errors: {what}: {len(faults)} faults")
        print(f"  {what}: {outcome}; {len(clients.acked)} payments acknowledged once,"
              f" {unanswered} left without an answer, {clients.repeats} of them were there")


def main():
    if not shutil.which("strace") or os.system("strace -o /dev/null true 2>/dev/null") != 0:
        print("storage_errors: strace is not there or may not trace")
        sys.exit(SKIPPED)
    with tempfile.TemporaryDirectory() as seeded:
        Gateway(os.environ["COFFER_RELEASE_BIN"], seeded).start().stop()
        for calls, error, numbers, ends in CASES:
            for when in numbers:
                run(seeded, calls, error, when, ends)
    print("storage_errors: all is well")


main()
