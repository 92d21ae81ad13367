#!/usr/bin/env -S PYTHONPATH=tests python3 -B
# ctest: cost=40
"""Repeats a fixed run of payments. In each run, another write, sync, truncation, open or accept of the server fails,
once or permanently. After a failed write or sync, the process exits within a second, and no client is told that a
payment failed. Without space, every client is told to retry, and the process continues. In all cases, a replay after
the restart finds exactly one record of every payment. COFFER_SWEEP=full tests every call, one at a time; otherwise
COFFER_SEED selects a sample. COFFER_SWEEP_CASES: names of the cases. COFFER_SWEEP_JOBS (2): parallel runs."""

import os
import random
import shutil
import subprocess
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor

from harness.auditor import audit
from harness.clients import TRY_AGAIN, payment, wait_until_settled
from harness.machine import binary
from harness.report import SLOW, fail, until_in_time
from harness.server import Demo
from injection import ENDS_WITHIN_S, EXIT_UNCERTAIN, injected_and_ended, skip_without_strace, tracer

PAYMENTS = 10
TRIES = 40
READY_S = 60.0  # with strace, on a machine that runs one test per processor

# The required result of a failed call once the server is ready. Before, the server may also refuse to start.
ENDS = "the process exits immediately without a response"
GOES_ON = "the same process continues; every response asks the client to retry"
EITHER = "the process exits or continues"
# (name, system calls, error, failing calls if once, failing calls if permanent, required result)
CASES = [("sync", "fsync,fdatasync", "EIO", "{}", "{}+", ENDS),
         ("write", "pwrite64", "EIO", "{}", "{}+", ENDS),
         ("no-space", "pwrite64", "ENOSPC", "{}", "{}+", GOES_ON),
         ("truncate", "ftruncate", "EIO", "{}", "{}+", EITHER),
         ("open", "openat", "EMFILE", "{}", "{}+", EITHER),
         # Never permanently: no client could connect again.
         ("accept", "accept4", "EMFILE", "{}", "{}..{}", GOES_ON)]
ACCEPTS_IN_A_ROW = 20


class Script:
    """The same payments, one at a time, each on a new connection. Records every response."""

    def __init__(self, gateway):
        self.gateway = gateway
        self.sent, self.acked, self.answers = {}, {}, []
        self.repeats = 0

    def facts(self):
        return {"sent": self.sent, "acked": self.acked}

    def alive(self):
        return self.gateway.process.poll() is None

    def run(self, tries):
        for number in range(1, PAYMENTS + 1):
            transaction_id = f"s-{number}"
            route, body = payment(self.gateway, transaction_id, number)
            self.sent.setdefault(transaction_id, body)
            self.pay(transaction_id, route, body, tries)
            if not self.alive():
                return
        self.read()

    def pay(self, transaction_id, route, body, tries):
        for _ in range(tries):
            if transaction_id in self.acked or not self.alive():
                return
            try:
                connection = self.gateway.login()
                status, answer = connection.call("POST", "/v1/payments/" + route, body)
            except ConnectionError:
                time.sleep(0.02)
                continue
            self.answers.append((status, connection.answered.get("Retry-After"), answer))
            if status == 202:
                self.acked[transaction_id] = answer["transactionRecordId"]
                self.repeats += answer["isIdempotent"]
            else:
                time.sleep(0.05)

    def read(self):
        """Reads must work, even if writes do not."""
        for _ in range(TRIES):
            if not self.alive():
                return
            try:
                status, answer = self.gateway.login().call("GET", "/v1/transactions?limit=1")
            except ConnectionError as error:
                status, answer = 0, str(error)
                time.sleep(0.05)  # the process may be exiting
                continue
            break
        if status != 200:
            self.answers.append((status, None, answer))


def judge(outcome, ready, stopped_at, code, trace, script):
    """The faults in the reaction of the process, as sentences. `stopped_at`: when the test stopped it; None if it did
    not."""
    injected, ended = injected_and_ended(trace)
    if not ready:
        # The process sent no response, so it only has to exit.
        return [] if stopped_at is None and code != 0 else ["the process never became ready and did not exit"]
    faults = []
    for status, retry_after, answer in script.answers:
        if status != 202 and (outcome == ENDS or status not in TRY_AGAIN or not retry_after):
            faults.append(f"a client got {status} {answer}")
    # A call that fails while the process is already exiting changes nothing.
    went_on_s = (stopped_at or ended or time.time()) - injected
    if outcome == ENDS and went_on_s > ENDS_WITHIN_S:
        faults.append(f"{SLOW}the process ran for another {went_on_s:.2f} s")
    if outcome == ENDS and stopped_at is None and code != EXIT_UNCERTAIN:
        faults.append(f"the process exited with {code}")
    if outcome == GOES_ON and stopped_at is None:
        faults.append(f"the process exited with {code}")
    return faults


def end(gateway, outcome, trace):
    """Waits for the process if it must exit, and stops it otherwise. Returns the time of the stop."""
    if outcome == ENDS and injected_and_ended(trace)[0] is not None:
        try:
            gateway.wait(2 * ENDS_WITHIN_S)
            return None
        except subprocess.TimeoutExpired:
            pass
    if gateway.process.poll() is not None:
        return None
    stopped_at = time.time()
    try:
        gateway.stop()
    except ProcessLookupError:
        gateway.wait()
        return None
    return stopped_at


def restart_and_replay(gateway, script):
    """Restarts without faults: every payment must be accepted, as new or as a replay, and settle."""
    answers = len(script.answers)
    gateway.start(ready_within_s=READY_S)
    script.run(1)
    wait_until_settled(gateway)
    gateway.stop()
    faults = [f"after the restart: {answer}" for answer in script.answers[answers:] if answer[0] != 202]
    faults += audit(gateway.db, script.facts(), settled=True)
    if set(script.acked) != set(script.sent) or len(script.sent) != PAYMENTS:
        faults.append(f"{len(script.acked)} of {PAYMENTS} payments were accepted in the end")
    return faults


def run_one(seeded, calls, what, outcome, tries):
    """Returns (whether the call was reached, the faults, the script)."""
    with tempfile.TemporaryDirectory() as folder:
        shutil.copytree(seeded, folder, dirs_exist_ok=True)
        trace = os.path.join(folder, "trace")
        gateway = Demo(binary(), folder)
        script = Script(gateway)
        try:
            # strace counts the calls of each thread. Those of backups and of the request log would reach a number
            # first, and the process survives their failures.
            paths = (gateway.db, gateway.db + "-wal") if calls == "pwrite64" else ()
            gateway.start(wrapper=tracer(trace, calls, what, paths), ready_within_s=READY_S)
        except (RuntimeError, ConnectionError):
            pass  # the server was not ready yet, or reports a failure
        ready = gateway.facts is not None
        if ready:
            script.run(tries)
        stopped_at = end(gateway, outcome, trace)
        code = gateway.process.poll()
        reached = injected_and_ended(trace)[0] is not None
        faults = judge(outcome, ready, stopped_at, code, trace, script) if reached else []
        if not reached and (code != 0 or len(script.acked) != PAYMENTS):
            faults.append(f"no error was injected, but the process exited with {code}")
        if os.path.exists(gateway.db):
            faults += audit(gateway.db, script.facts())
        faults += restart_and_replay(gateway, script)
        return reached, faults, script


def sweep(seeded, case, stays, pick, jobs):
    """Fails call 1, 2, ... until a call is no longer reached. `pick` selects the calls to test."""
    name, calls, error, once, for_good, outcome = case
    form = for_good if stays else once
    tries = 3 if stays else TRIES

    def attempt(number):
        what = f"error={error}:when=" + form.format(number, number + ACCEPTS_IN_A_ROW)

        def run():
            reached, faults, script = run_one(seeded, calls, what, outcome, tries if name != "accept" else TRIES)
            return faults, (reached, script)

        return until_in_time(run, f"{calls} {what}")

    tried = repeats = 0
    number, more = 1, True
    with ThreadPoolExecutor(jobs) as pool:
        while more:
            numbers = []
            while len(numbers) < jobs:
                numbers.append(number)
                number += pick()
            for reached, script in pool.map(attempt, numbers):
                more = more and reached
                tried += reached
                repeats += script.repeats
    print(f"  {name}, {'permanently' if stays else 'once'}: {tried} calls failed up to call {number - 1},"
          f" {repeats} payments were stored without a response", flush=True)
    return tried


def control(seeded):
    """A disk that swallows the error: the server cannot detect it, so the judge must. And a file that is older than
    the acknowledged payments."""
    with tempfile.TemporaryDirectory() as folder:
        shutil.copytree(seeded, folder, dirs_exist_ok=True)
        trace = os.path.join(folder, "trace")
        gateway = Demo(binary(), folder)
        gateway.start(wrapper=tracer(trace, "fsync,fdatasync", "retval=0:when=3+"), ready_within_s=READY_S)
        script = Script(gateway)
        script.run(1)
        stopped_at = end(gateway, ENDS, trace)
        unnoticed = judge(ENDS, True, stopped_at, gateway.process.poll(), trace, script)
        for suffix in ("", "-wal", "-shm"):
            if os.path.exists(gateway.db + suffix):
                os.remove(gateway.db + suffix)
        shutil.copytree(seeded, folder, dirs_exist_ok=True)
        lost = audit(gateway.db, script.facts())
    if not unnoticed or sum(fault.startswith("acknowledged and lost") for fault in lost) != PAYMENTS:
        fail(f"the faulty run passes: {unnoticed} {lost}")
    print(f"control: a swallowed error is detected ({unnoticed[0]}), and so are {len(lost)} lost payments")


def main():
    skip_without_strace()
    full = os.environ.get("COFFER_SWEEP", "sample") == "full"
    jobs = int(os.environ.get("COFFER_SWEEP_JOBS", "2"))
    only = os.environ.get("COFFER_SWEEP_CASES", "").split()
    seed = int(os.environ.get("COFFER_SEED", str(time.time_ns() % 1_000_000)))
    print(f"storage_sweep: COFFER_SEED={seed}", flush=True)
    dice = random.Random(seed)
    counts = {}
    with tempfile.TemporaryDirectory() as seeded:
        Demo(binary(), seeded).start().stop()
        for case in CASES:
            if only and case[0] not in only:
                continue
            for stays in (False, True):
                reach = {"sync": 20, "write": 6, "no-space": 6, "open": 40}.get(case[0], 4)
                pick = (lambda: 1) if full else (lambda reach=reach: dice.randint(1, 2 * reach))
                counts[case[0]] = counts.get(case[0], 0) + sweep(seeded, case, stays, pick, jobs)
        control(seeded)
    which = "every call" if full else "a sample of the calls"
    print(f"count: {which} of {PAYMENTS} payments, once and permanently: "
          + ", ".join(f"{name} {count}" for name, count in counts.items()))


main()
