#!/bin/sh
# The same payment from many at once is one payment, the same money from many at once is spent once, and of
# a group with one bad leg nothing is applied, whichever leg it is. COFFER_RACES=full: 1,000 ids by 8 at
# once, 20 times 100 sends of a whole balance, groups of 100 legs.
# Shares the machine.
set -eu
exec python3 -B "${COFFER_SOURCE_DIR:-.}/tests/crash/races.py"
