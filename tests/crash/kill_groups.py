#!/usr/bin/env -S PYTHONPATH=tests python3 -B
"""kill_loop with only multi-transfers: all legs of a group are stored, or none."""

import os

import kill_loop

os.environ["COFFER_KILL_MIX"] = "groups"
os.environ.setdefault("COFFER_KILL_ROUNDS", "6")
kill_loop.main()
