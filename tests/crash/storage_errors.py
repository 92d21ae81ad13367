#!/usr/bin/env -S PYTHONPATH=tests python3 -B
"""The disk fails a commit. Refused synchronisation or write: the commit is neither done nor failed, so
no client gets a response, the process exits with 70 immediately, and the replay after the restart finds
exactly one record of every payment. No space: the commit is certainly not there, clients are told to
try again, and the same process goes on."""

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

# (system calls, error, which of them fails, whether the process must end)
CASES = [("fsync,fdatasync", "EIO", (1, 2, 3, 8, 30, 150), True),
         ("pwrite64", "EIO", (1, 2, 7, 40, 300, 2000), True),
         ("pwrite64", "ENOSPC", (1, 3, 50, 700), False)]


def start(gateway, calls, error, when, trace):
    # Only on the database and its log, under load; storage_sweep.py takes them all, one after the other.
    wrapper = tracer(trace, calls, f"error={error}:when={when}", (gateway.db, gateway.db + "-wal"))
    try:
        gateway.start(wrapper=wrapper)
    except (RuntimeError, ConnectionError):
        pass  # its own first commit was hit


def wait_for_end(gateway, trace, what):
    code = gateway.wait(240.0)
    injected, ended = injected_and_ended(trace)
    if code != EXIT_UNCERTAIN or injected is None:
        fail(f"{what}: the process ended with {code}, injected at {injected}")
    if ended - injected > ENDS_WITHIN_S:
        raise Slow(f"{what}: went on for {ended - injected:.2f} s")
    return f"exit 70 after {(ended - injected) * 1000:.0f} ms"


def wait_for_recovery(gateway, clients, trace, what):
    """The error has to happen, and payments have to go on after it in the same process."""
    deadline = time.monotonic() + 240.0
    while injected_and_ended(trace)[0] is None:
        if time.monotonic() > deadline:
            fail(f"{what}: nothing was injected, so nothing was tested")
        time.sleep(0.05)
    before = len(clients.acked)
    while len(clients.acked) < before + 20:
        if gateway.process.poll() is not None or time.monotonic() > deadline:
            fail(f"{what}: no payment is accepted any more")
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
                    f" {unanswered} left without an answer, {clients.repeats} of them were there")


def control(seeded):
    """A disk that swallows the error: nothing is noticed, so the process does not end."""
    with tempfile.TemporaryDirectory() as folder:
        shutil.copytree(seeded, folder, dirs_exist_ok=True)
        trace = os.path.join(folder, "trace")
        gateway = Demo(binary(), folder)
        gateway.start(wrapper=tracer(trace, "fsync,fdatasync", "retval=0:when=3+"))
        clients = Clients(gateway).start()
        try:
            fail(f"a swallowed error ended the process with {gateway.wait(2.0)}")
        except subprocess.TimeoutExpired:
            clients.stop()
        gateway.stop()
        if injected_and_ended(trace)[0] is None:
            fail("the control swallowed nothing")
    print("control: a swallowed error ends nothing, as it must be for the other runs to mean something")


def main():
    skip_without_strace()
    with tempfile.TemporaryDirectory() as seeded:
        Demo(binary(), seeded).start().stop()
        for calls, error, numbers, ends in CASES:
            for when in numbers:
                print(until_in_time(lambda: run(seeded, calls, error, when, ends)), flush=True)
        control(seeded)
    print(f"count: {sum(len(case[2]) for case in CASES)} failed calls under load, each payment there once")


main()
