#!/usr/bin/env -S PYTHONPATH=tests python3 -B
# ctest: waits
"""The unit permits what the program really calls: every system call of a server under load, of its commands and of its
end, against the filter of the unit as systemd expands it. The C library may call another one than its function is
called, such as clock_adjtime for adjtimex()."""

import os
import re
import shutil
import subprocess
import tempfile

from harness.machine import ROOT, binary, skip
from harness.report import check
from harness.server import Demo, run_command
from harness.tenant import Tenant

UNIT = os.path.join(ROOT, "packaging/debian/coffer.service")
# Rejected by the unit, without an effect that matters.
WITHOUT_EFFECT = {"sched_setscheduler": "only a preference: woken threads wait for a free processor",
                  "fchown": "SQLite calls it only as root"}
CLOCK = {"adjtimex", "clock_adjtime"}


def members(name):
    """A set of system calls, by the systemd of this machine."""
    shown = subprocess.run(["systemd-analyze", "syscall-filter", name], capture_output=True, text=True, check=True)
    out = set()
    for line in shown.stdout.splitlines()[1:]:
        word = line.strip()
        if word.startswith("@"):
            out |= members(word)
        elif word and not word.startswith("#"):
            out.add(word)
    return out


def permitted(unit):
    """systemd.exec(5): the first line decides the kind, later ones add and remove; @default is always permitted."""
    out = members("@default")
    for value in re.findall(r"(?m)^SystemCallFilter=(.*)$", unit):
        words = value.lstrip("~").split()
        named = set().union(*(members(word) if word.startswith("@") else {word} for word in words))
        out = out - named if value.startswith("~") else out | named
    return out


def calls_in(trace):
    with open(trace, encoding="utf-8", errors="replace") as file:
        return set(re.findall(r"(?m)^\d+\s+(?:<\.\.\. )?([a-z]\w*)(?:\(| resumed)", file.read()))


def called(folder):
    trace = os.path.join(folder, "trace")
    demo = Demo(binary(), folder)
    demo.start(wrapper=("strace", "-f", "-qq", "-o", trace), ready_within_s=120.0)
    tenant = Tenant.of_demo(demo)
    for number in range(3):
        tenant.pay(f"calls-{number}")
    for words in (("overview",), ("backup", os.path.join(folder, "backup.db")), ("verify",), ("alert", "list")):
        done = run_command(demo.binary, demo.db, *words)
        check(f"coffer {words[0]} works", done.returncode == 0, done.stderr)
    check("the server stops", demo.stop(60.0) == 0)
    out = calls_in(trace)
    subprocess.run(["strace", "-f", "-qq", "-o", trace, demo.binary, "doctor", "--db", demo.db], check=False,
                   capture_output=True)
    return out | calls_in(trace)


def main():
    if not shutil.which("strace") or not shutil.which("systemd-analyze"):
        skip("strace or systemd-analyze is not installed")
    if subprocess.run(["strace", "-o", "/dev/null", "true"], capture_output=True, check=False).returncode:
        skip("not permitted to trace")
    with open(UNIT, encoding="utf-8") as file:
        unit = file.read()
    with tempfile.TemporaryDirectory() as folder:
        calls = called(folder)
    check(f"{len(calls)} different system calls were seen, with one about the clock",
          len(calls) > 40 and calls & CLOCK, calls)
    rejected = calls - permitted(unit)
    check("the unit permits each of them", not rejected - WITHOUT_EFFECT.keys(), rejected)
    check("both spellings of the call about the clock are permitted", CLOCK <= permitted(unit))
    # Control: without its line for the clock, the unit rejects that call.
    blind = re.sub(r"(?m)^SystemCallFilter=adjtimex.*\n", "", unit)
    check("without its line for the clock, it would not", calls & CLOCK & (calls - permitted(blind)))


main()
