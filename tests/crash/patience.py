"""Limits in time beside other work: a machine that was busy for a moment must not fail a test, a gateway
that is slow must."""

import sys

TRIES = 3
SLOW = "slow: "


def until_in_time(name, run):
    """Runs `run()`, which gives faults and what to print of a run without any, until it was in time. A fault
    that begins with SLOW counts when each of three runs has one; every other ends the test at once."""
    for number in range(1, TRIES + 1):
        faults, text = run()
        for fault in faults[:20]:
            print("  " + str(fault), flush=True)
        if not faults:
            return text
        if number == TRIES or not all(str(fault).startswith(SLOW) for fault in faults):
            sys.exit(f"{name}: {len(faults)} faults")
        print(f"  in time? Run {number} was not; once more", flush=True)
    return None
