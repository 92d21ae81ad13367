#!/usr/bin/env -S PYTHONPATH=tests python3 -B
"""The disk fails a commit. If a sync or write fails, the result of the commit is unknown: no client gets a response,
the process exits with 70 immediately, and a replay after the restart finds exactly one record of every payment. If
the disk is full, the commit certainly failed: clients are told to retry, and the same process continues."""

import os
import shutil
import subprocess
import tempfile
import time

from harness.auditor import audit
from harness.clients import Clients, wait_until_settled
from harness.machine import binary
from harness.report import Slow, fail, judge_faults, until_in_time
from harness.server import Demo
from injection import ENDS_WITHIN_S, EXIT_UNCERTAIN, injected_and_ended, skip_without_strace, tracer

# (system calls, error, numbers of the failing calls, whether the process must exit)
CASES = [("fsync,fdatasync", "EIO", (1, 2, 3, 8, 30, 150), True),
         ("pwrite64", "EIO", (1, 2, 7, 40, 300, 2000), True),
         ("pwrite64", "ENOSPC", (1, 3, 50, 700), False),
         ("pwrite64", "EDQUOT", (1, 3, 50), False)]


def start(gateway, calls, error, when, trace):
    # Only on the database and its log, under load; storage_sweep.py covers every call, one at a time.
    wrapper = tracer(trace, calls, f"error={error}:when={when}", (gateway.db, gateway.db + "-wal"))
    try:
        gateway.start(wrapper=wrapper)
    except (RuntimeError, ConnectionError):
        pass  # the server's own first commit failed


def wait_for_end(gateway, trace, what):
    code = gateway.wait(240.0)
    injected, ended = injected_and_ended(trace)
    if code != EXIT_UNCERTAIN or injected is None:
        fail(f"{what}: the process exited with {code}, injected at {injected}")
    if ended - injected > ENDS_WITHIN_S:
        raise Slow(f"{what}: the process ran for another {ended - injected:.2f} s")
    return f"exit 70 after {(ended - injected) * 1000:.0f} ms"


def wait_for_recovery(gateway, clients, trace, what):
    """The error must occur, and the same process must accept payments after it."""
    deadline = time.monotonic() + 240.0
    while injected_and_ended(trace)[0] is None:
        if time.monotonic() > deadline:
            fail(f"{what}: no error was injected, so nothing was tested")
        time.sleep(0.05)
    before = len(clients.acked)
    while len(clients.acked) < before + 20:
        if gateway.process.poll() is not None or time.monotonic() > deadline:
            fail(f"{what}: payments are no longer accepted")
        time.sleep(0.02)
    return "went on"


def run(seeded, calls, error, when, ends):
    what = f"{calls} {error} at call {when}"
    with tempfile.TemporaryDirectory() as folder:
        shutil.copytree(seeded, folder, dirs_exist_ok=True)
        trace = os.path.join(folder, "trace")
        gateway = Demo(binary(), folder)
        clients = Clients(gateway, seed=when)
        start(gateway, calls, error, when, trace)
        clients.start()
        if ends:
            outcome = wait_for_end(gateway, trace, what)
            unanswered = len(clients.waiting)
            faults = audit(gateway.db, clients.facts_now())
            gateway.start()
            time.sleep(0.1)
        else:
            outcome, unanswered, faults = wait_for_recovery(gateway, clients, trace, what), 0, []
        clients.stop()
        clients.replay_waiting()
        wait_until_settled(gateway)
        gateway.stop()
        faults += clients.surprises + audit(gateway.db, clients.facts(), settled=True)
        faults += [f"not answered: {one}" for one in set(clients.sent) - set(clients.acked)]
        judge_faults(faults, what)
        return [], (f"  {what}: {outcome}; {len(clients.acked)} payments acknowledged once,"
                    f" {unanswered} without a response, {clients.repeats} of them were stored")


def control(seeded):
    """A disk that swallows the error: the process cannot detect it and keeps running."""
    with tempfile.TemporaryDirectory() as folder:
        shutil.copytree(seeded, folder, dirs_exist_ok=True)
        trace = os.path.join(folder, "trace")
        gateway = Demo(binary(), folder)
        gateway.start(wrapper=tracer(trace, "fsync,fdatasync", "retval=0:when=3+"))
        clients = Clients(gateway).start()
        try:
            fail(f"after a swallowed error, the process exited with {gateway.wait(2.0)}")
        except subprocess.TimeoutExpired:
            clients.stop()
        gateway.stop()
        if injected_and_ended(trace)[0] is None:
            fail("the control swallowed no error")
    print("control: the process survives a swallowed error, so the exits of the other runs are meaningful")


def main():
    skip_without_strace()
    with tempfile.TemporaryDirectory() as seeded:
        Demo(binary(), seeded).start().stop()
        for calls, error, numbers, ends in CASES:
            for when in numbers:
                print(until_in_time(lambda: run(seeded, calls, error, when, ends)), flush=True)
        control(seeded)
    print(f"count: {sum(len(case[2]) for case in CASES)} failed calls under load, each payment stored once")


main()
