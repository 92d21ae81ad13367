"""Limits in time beside other work: a machine that was busy for a moment must not fail a test, a gateway
that is slow must."""

import sys

from gateway import kill_what_is_left

TRIES = 3
SLOW = "slow: "


class Slow(Exception):
    """A limit in time that was missed where the run cannot go on; until then nothing was wrong."""


def until_in_time(name, run):
    """Runs `run()`, which gives faults and what to print of a run without any, until it was in time. A fault
    that begins with SLOW, or `Slow`, counts when each of three runs has one; every other ends the test at
    once."""
    for number in range(1, TRIES + 1):
        try:
            faults, text = run()
        except Slow as slow:
            faults, text = [SLOW + str(slow)], None
            kill_what_is_left()
        for fault in faults[:20]:
            print("  " + str(fault), flush=True)
        if not faults:
            return text
        if number == TRIES or not all(str(fault).startswith(SLOW) for fault in faults):
            sys.exit(f"{name}: {len(faults)} faults")
        print(f"  in time? Run {number} was not; once more", flush=True)
    return None
