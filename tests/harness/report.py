"""What a test found: checks line by line, lists of faults, and limits in time beside other work, where a machine
that was busy for a moment must not fail a test and a slow gateway must."""

import sys
import time

from harness.machine import test_name
from harness.server import kill_what_is_left

TRIES = 3
SLOW = "slow: "
COUNTED = {"checks": 0}


class Slow(Exception):
    """A limit in time that was missed where the run cannot go on; until then nothing was wrong."""


def check(what, holds, shown=""):
    """One line; the first check that does not hold ends the test. `shown` helps to find out why."""
    COUNTED["checks"] += 1
    print(("ok       " if holds else "FAILED   ") + what, flush=True)
    if not holds:
        sys.exit(f"{what}: {shown}")


def fail(what):
    sys.exit(f"{test_name()}: {what}")


def judge_faults(faults, what="", most=20):
    """Prints the faults and ends the test if there are any."""
    for fault in faults[:most]:
        print("  " + str(fault), flush=True)
    if faults:
        fail(f"{what}{': ' if what else ''}{len(faults)} faults")


def wait_for(what, holds, within_s, pause_s=0.02):
    """Until `holds()` is true; seconds. Fails the test where that takes longer than `within_s`."""
    began = time.monotonic()
    while not holds():
        if time.monotonic() - began > within_s:
            fail(f"not within {within_s} s: {what}")
        time.sleep(pause_s)
    return time.monotonic() - began


def until_in_time(run, what=""):
    """Runs `run()`, which gives faults and what to print of a run without any, until it was in time. A fault
    that begins with SLOW, or `Slow`, counts when each of three runs has one; every other ends the test at
    once."""
    for number in range(1, TRIES + 1):
        try:
            faults, text = run()
        except Slow as slow:
            faults, text = [SLOW + str(slow)], None
            kill_what_is_left()
        if not faults:
            return text
        if number == TRIES or not all(str(fault).startswith(SLOW) for fault in faults):
            judge_faults(faults, what)
        for fault in faults[:20]:
            print("  " + str(fault), flush=True)
        print(f"  in time? Run {number} was not; once more", flush=True)
    return None
