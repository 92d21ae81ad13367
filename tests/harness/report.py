"""Results of a test: single checks, lists of faults, and time limits, which a slow gateway must exceed but a machine
that was busy for a moment must not."""

import sys
import time

from harness.machine import test_name
from harness.server import kill_what_is_left

TRIES = 3
SLOW = "slow: "
COUNTED = {"checks": 0}


class Slow(Exception):
    """A run that cannot continue because it exceeded a time limit; before that, it found no fault."""


def check(what, holds, shown=""):
    """Prints one line. The first failed check ends the test and prints `shown`."""
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
    """Waits until `holds()` is true, and returns the seconds. Fails the test after `within_s`."""
    began = time.monotonic()
    while not holds():
        if time.monotonic() - began > within_s:
            fail(f"not within {within_s} s: {what}")
        time.sleep(pause_s)
    return time.monotonic() - began


def until_in_time(run, what=""):
    """Calls `run()`, which returns faults and a summary, until it has no faults, and returns the summary. A fault
    that begins with SLOW, or the exception `Slow`, fails the test if three runs in a row have one; any other fault
    fails it immediately."""
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
        print(f"  run {number} was too slow; trying again", flush=True)
    return None
