#!/usr/bin/env -S PYTHONPATH=tests python3 -B
# ctest: parallel
"""A fixed run of payments, again and again: each time another write, synchronisation, truncation, open or
accept of the server fails, once or from then on. After a failed write or synchronisation the process is
gone within a second and no client was told "failed"; without space every client is told to retry and the
process goes on; and always a replay after the restart finds exactly one record of every payment.
COFFER_SWEEP=full takes every call, one after the other, until none is left; otherwise a sample of them,
which COFFER_SEED chooses. COFFER_SWEEP_CASES names the cases, COFFER_SWEEP_JOBS (2) how many at a time."""

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
READY_S = 60.0  # under strace, on a machine that is busy with as many runs as it has processors

# What must come of a failed call once the server is ready. Before, it may also refuse to start.
ENDS = "the process exits immediately without a response"
GOES_ON = "the same process goes on; who is told anything is told to try again"
EITHER = "it ends or goes on"
# (name, system calls, error, which of them fail when it is once, and when it stays, what must come of it)
CASES = [("sync", "fsync,fdatasync", "EIO", "{}", "{}+", ENDS),
         ("write", "pwrite64", "EIO", "{}", "{}+", ENDS),
         ("no-space", "pwrite64", "ENOSPC", "{}", "{}+", GOES_ON),
         ("truncate", "ftruncate", "EIO", "{}", "{}+", EITHER),
         ("open", "openat", "EMFILE", "{}", "{}+", EITHER),
         # Permanently: no client could connect again.
         ("accept", "accept4", "EMFILE", "{}", "{}..{}", GOES_ON)]
ACCEPTS_IN_A_ROW = 20


class Script:
    """The same payments one after the other, each on a connection of its own; what was told to whom."""

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
        """Reading goes on, whatever can be written."""
        for _ in range(TRIES):
            if not self.alive():
                return
            try:
                status, answer = self.gateway.login().call("GET", "/v1/transactions?limit=1")
            except ConnectionError as error:
                status, answer = 0, str(error)
                time.sleep(0.05)  # it may be on its way out
                continue
            break
        if status != 200:
            self.answers.append((status, None, answer))


def judge(outcome, ready, stopped_at, code, trace, script):
    """What was wrong about how the process took it, as sentences. `stopped_at`: when it was told to end,
    None if it was not stopped."""
    injected, ended = injected_and_ended(trace)
    if not ready:
        # It sent no response, so it only has to exit.
        return [] if stopped_at is None and code != 0 else ["it never became ready and did not exit"]
    faults = []
    for status, retry_after, answer in script.answers:
        if status != 202 and (outcome == ENDS or status not in TRY_AGAIN or not retry_after):
            faults.append(f"a client was told {status} {answer}")
    # What fails while it is on its way out anyway changes nothing.
    went_on_s = (stopped_at or ended or time.time()) - injected
    if outcome == ENDS and went_on_s > ENDS_WITHIN_S:
        faults.append(f"{SLOW}it went on for {went_on_s:.2f} s")
    if outcome == ENDS and stopped_at is None and code != EXIT_UNCERTAIN:
        faults.append(f"it ended with {code}")
    if outcome == GOES_ON and stopped_at is None:
        faults.append(f"it ended with {code}")
    return faults


def end(gateway, outcome, trace):
    """Lets it end when it must, and stops it otherwise; when it was stopped."""
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
    """Without faults: everything is accepted, first time or again, and settles."""
    answers = len(script.answers)
    gateway.start(ready_within_s=READY_S)
    script.run(1)
    wait_until_settled(gateway)
    gateway.stop()
    faults = [f"after the restart: {answer}" for answer in script.answers[answers:] if answer[0] != 202]
    faults += audit(gateway.db, script.facts(), settled=True)
    if set(script.acked) != set(script.sent) or len(script.sent) != PAYMENTS:
        faults.append(f"{len(script.acked)} of {PAYMENTS} payments are accepted in the end")
    return faults


def run_one(seeded, calls, what, outcome, tries):
    """(whether the call was reached, what was wrong, the script)"""
    with tempfile.TemporaryDirectory() as folder:
        shutil.copytree(seeded, folder, dirs_exist_ok=True)
        trace = os.path.join(folder, "trace")
        gateway = Demo(binary(), folder)
        script = Script(gateway)
        try:
            gateway.start(wrapper=tracer(trace, calls, what), ready_within_s=READY_S)
        except (RuntimeError, ConnectionError):
            pass  # it did not get that far, or does not feel well
        ready = gateway.facts is not None
        if ready:
            script.run(tries)
        stopped_at = end(gateway, outcome, trace)
        code = gateway.process.poll()
        reached = injected_and_ended(trace)[0] is not None
        faults = judge(outcome, ready, stopped_at, code, trace, script) if reached else []
        if not reached and (code != 0 or len(script.acked) != PAYMENTS):
            faults.append(f"nothing was injected, and yet it ended with {code}")
        if os.path.exists(gateway.db):
            faults += audit(gateway.db, script.facts())
        faults += restart_and_replay(gateway, script)
        return reached, faults, script


def sweep(seeded, case, stays, pick, jobs):
    """Fails call 1, 2, ... until one is not reached any more; `pick` says which of the many are tried."""
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
    print(f"  {name}, {'from then on' if stays else 'once'}: {tried} calls failed up to call {number - 1},"
          f" {repeats} payments were stored without an answer", flush=True)
    return tried


def control(seeded):
    """A disk that swallows the error: the server cannot notice, so the judge must. And a file that went
    back behind what was acknowledged."""
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
        fail(f"the broken run passes: {unnoticed} {lost}")
    print(f"control: a swallowed error is seen ({unnoticed[0]}), {len(lost)} lost payments are seen")


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
                reach = {"sync": 20, "write": 110, "no-space": 150, "open": 40}.get(case[0], 4)
                pick = (lambda: 1) if full else (lambda reach=reach: dice.randint(1, 2 * reach))
                counts[case[0]] = counts.get(case[0], 0) + sweep(seeded, case, stays, pick, jobs)
        control(seeded)
    which = "every call" if full else "a sample of the calls"
    print(f"count: {which} of {PAYMENTS} payments, once and from then on: "
          + ", ".join(f"{name} {count}" for name, count in counts.items()))


main()
