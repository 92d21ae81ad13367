"""What tests ask, said line by line. The first that does not hold ends the test."""

import sys

count = 0


def check(what, holds, shown=""):
    """`shown` is what somebody wants to see who has to find out why not."""
    global count
    count += 1
    print(("ok       " if holds else "FAILED   ") + what, flush=True)
    if not holds:
        sys.exit(f"{what}: {shown}")
