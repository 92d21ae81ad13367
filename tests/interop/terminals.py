#!/usr/bin/env -S PYTHONPATH=tests python3 -B
# ctest: cost=50
"""The command line with pipes, full disks and pseudo-terminals: commands through the server with sanitizers, and those
on a file with the shipped build, which starts faster."""

import contextlib
import fcntl
import json
import os
import pty
import re
import select
import signal
import struct
import subprocess
import tempfile
import termios
import time

from harness.calls import UNKNOWN_ID
from harness.machine import binary
from harness.report import check
from harness.server import Demo, rows_of

BINARY = binary("dev")
WAIT_S = 120
ESCAPES = re.compile(r"\x1b\[[0-9;]*[mK]")
CLEAR = "\r\x1b[K"
SCRATCH = tempfile.TemporaryDirectory()
HOME = {**{key: value for key, value in os.environ.items()
           if not key.startswith(("COFFER_", "XDG_")) and key not in ("NO_COLOR", "COLUMNS")},
        "HOME": SCRATCH.name, "XDG_DATA_HOME": os.path.join(SCRATCH.name, "data"),
        "XDG_CONFIG_HOME": os.path.join(SCRATCH.name, "config"), "TERM": "xterm-256color"}


def path(*names):
    return os.path.join(SCRATCH.name, *names)


def run(*words, **more):
    """The complete output of a command into pipes."""
    return subprocess.run([BINARY, *words], env={**HOME, **more}, stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=WAIT_S,
                          check=False)


def printed(*words):
    done = run(*words)
    check(" ".join(words), done.returncode == 0, done.stderr)
    return done.stdout


def with_output(descriptor, *words):
    """(exit code, standard error) of a command whose standard output is `descriptor`."""
    done = subprocess.run([BINARY, *words], env=HOME, stdin=subprocess.DEVNULL, stdout=descriptor,
                          stderr=subprocess.PIPE, text=True, timeout=WAIT_S, check=False)
    return done.returncode, done.stderr


@contextlib.contextmanager
def closed_pipe():
    reader, writer = os.pipe()
    os.close(reader)
    try:
        yield writer
    finally:
        os.close(writer)


def on_terminal(*words, columns=100, output=True, errors=True, **more):
    """A command's output on a terminal, and its exit code. `output` and `errors` select the streams of the terminal;
    the other goes to /dev/null."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    process = subprocess.Popen([BINARY, *words], env={**HOME, **more}, stdin=subprocess.DEVNULL,
                               stdout=theirs if output else subprocess.DEVNULL,
                               stderr=theirs if errors else subprocess.DEVNULL,
                               start_new_session=True)
    os.close(theirs)
    seen = b""
    try:
        while select.select([ours], [], [], WAIT_S)[0]:
            piece = os.read(ours, 65536)
            if not piece:
                break
            seen += piece
    except OSError:
        pass  # the last process has closed the terminal
    os.close(ours)
    return seen.decode().replace("\r\n", "\n"), process.wait(WAIT_S)


# Closed pipes and full disks --------------------------------------------------------------------------

OWN = (["openapi"], ["--help"], ["help"], ["help", "wallet", "list"], ["--version"], ["version", "--json"],
       ["settings", "toml"], ["completion", "bash"])
ON_FILE = (["association", "list"], ["wallet", "list", "--json"], ["overview"], ["connector", "list"],
           ["verify"], ["export", "-"])


def commands_that_print(database):
    return [*OWN, *([*words, "--db", database] for words in ON_FILE)]


def pipes_and_disks(database, where):
    for words in commands_that_print(database):
        with closed_pipe() as writer:
            ended = with_output(writer, *words)
        check(f"{where}: {' '.join(words[:3])} into a closed pipe ends by SIGPIPE without a message",
              ended == (-signal.SIGPIPE, ""), ended)
        with open("/dev/full", "wb") as full:
            code, said = with_output(full, *words)
        check(f"{where}: {' '.join(words[:3])} on a full disk fails with a message",
              code == 1 and said.count("\n") == 1 and "No space left on device" in said, (code, said))


def failures_stay(database, where):
    """A command that fails prints nothing on standard output, so a closed pipe does not change its exit."""
    with closed_pipe() as writer:
        ended = with_output(writer, "wallet", "show", UNKNOWN_ID, "--db", database)
        check(f"{where}: a closed pipe does not change the result of a failed command",
              ended[0] == 1 and "wallet was not found" in ended[1], ended)
        ended = with_output(writer, "wallet", "list", "--jsno", "--db", database)
        check(f"{where}: a closed pipe does not change the result of wrong usage",
              ended[0] == 2 and "--json" in ended[1], ended)
        ended = with_output(writer, "notification", "list", "--db", database)
        check(f"{where}: a closed pipe does not change the result of an empty list", ended == (0, "Nothing found.\n"), ended)


def in_a_shell():
    said = subprocess.run(["bash", "-c", f"'{BINARY}' openapi | head -c 9; echo ${{PIPESTATUS[0]}}"],
                          env=HOME, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                          timeout=WAIT_S, check=False)
    check("openapi | head prints no error", said.stderr == "" and said.stdout.startswith('{\n  "open'), said)
    check("the shell gets exit code 141", said.stdout.endswith("141\n"), said.stdout)


def follower_without_reader(database):
    """Without events, nothing is written, but the command still ends when its reader is gone."""
    reader, writer = os.pipe()
    process = subprocess.Popen([BINARY, "events", "follow", "--db", database], env=HOME,
                               stdin=subprocess.DEVNULL, stdout=writer, stderr=subprocess.PIPE, text=True)
    os.close(writer)
    time.sleep(1)
    check("events follow waits", process.poll() is None)
    os.close(reader)
    _, said = process.communicate(timeout=WAIT_S)
    check("events follow ends when its reader is gone", (process.returncode, said) == (-signal.SIGPIPE, ""),
          (process.returncode, said))


# Tables -----------------------------------------------------------------------------------------------

LISTS = (["association", "list"], ["application", "list"], ["wallet", "list"], ["beneficiary", "list"],
         ["connector", "list"], ["rate", "list"], ["payment", "list"], ["operator", "list"], ["audit", "list"])
WIDE_CHARACTERS = re.compile("[\u2e80-\ua4cf\uac00-\ud7a3\uff00-\uff60]")


def width(line):
    return len(line) + len(WIDE_CHARACTERS.findall(line))


def is_heading(line):
    return line == line.upper() and "  " in line


def tables(database, where):
    printed("association", "create", "北京 Settlement and Clearing Partners of the Eastern Provinces Ltd",
            "--db", database)
    for words_ in LISTS:
        name = f"{where}: {' '.join(words_)}"
        records = rows_of(printed(*words_, "--json", "--db", database))
        whole = printed(*words_, "--db", database)
        check(f"{name}: complete values in a pipe", "…" not in whole and "\x1b" not in whole
              and all(record["id"] in whole for record in records if "id" in record), whole)
        for columns in (60, 80, 100, 120, 200):
            seen, code = on_terminal(*words_, "--db", database, columns=columns, errors=False)
            lines = ESCAPES.sub("", seen).splitlines()
            check(f"{name} on {columns} columns", code == 0 and (not records or lines), seen)
            if lines and is_heading(lines[0]):
                widest = max(width(line) for line in lines)
                check("fits", widest <= columns, seen)
                check("the table has one line per record", len(lines) == len(records) + 1, seen)
            else:
                check("a narrow terminal gets a list with complete values", "…" not in seen
                      and seen.count("\n\n") == max(len(records) - 1, 0), seen)
    seen, _ = on_terminal("association", "list", "--db", database, columns=100)
    check("shortened values are marked, and the output names --json",
          "…" in seen and "--json prints all values" in seen, seen)
    ids = [record["id"] for record in json.loads(printed("association", "list", "--json", "--db", database))]
    check("ids are shortened last", all(one in seen for one in ids), seen)
    seen, _ = on_terminal("association", "list", "--db", database, columns=50)
    check("shortened ids keep their end", ids[0] not in seen and ids[0][-12:] in seen, seen)


def colours(database, where):
    green = "\x1b[32mactive\x1b[0m"
    command = ("association", "list", "--db", database)
    check(f"{where}: a status has its colour", green in on_terminal(*command)[0])
    for what, more in (("NO_COLOR", {"NO_COLOR": "1"}), ("TERM=dumb", {"TERM": "dumb"})):
        seen, _ = on_terminal(*command, **more)
        check(f"{where}: no colour with {what}", "active" in seen and "\x1b" not in seen, seen)
    seen, code = on_terminal(*command, "--no-color")
    check(f"{where}: no colour with --no-color", code == 0 and "active" in seen and "\x1b" not in seen, seen)
    seen, _ = on_terminal(*command, "--json")
    check(f"{where}: no colour in JSON", "active" in seen and "\x1b" not in seen, seen)
    seen, _ = on_terminal("frobnicate", "--no-color")
    check("an error has no colour", seen.startswith("coffer: unknown"), seen)
    seen, _ = on_terminal("frobnicate")
    check("and with", seen.startswith("\x1b[31mcoffer:\x1b[0m"), seen)


def numbers(database, where):
    text = printed("overview", "--db", database)
    check(f"{where}: a size is readable", re.search(r"^database +\d+(\.\d)? [KM]iB$", text, re.M), text)
    exact = json.loads(printed("overview", "--json", "--db", database))
    check(f"{where}: a size in JSON is exact", exact["databaseBytes"] % 2048 == 0, exact)
    text = printed("association", "list", "--db", database)
    check(f"{where}: a time in a pipe is complete",
          re.search(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d{3} UTC$", text, re.M), text)
    seen, _ = on_terminal("association", "list", "--db", database, columns=200)
    check(f"{where}: a time on a terminal is relative", re.search(r"\d+ (s|min|h) ago$", seen, re.M), seen)
    exact = json.loads(printed("association", "list", "--json", "--db", database))
    check(f"{where}: a time in JSON is exact",
          re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z", exact[0]["createdAt"]), exact)


# Progress ---------------------------------------------------------------------------------------------

BAR = re.compile(r"\[#*\.*\] +\d+ %  ")


def shows_progress(what, expected, *words_):
    """Progress uses one line, which is cleared before any other output."""
    seen, code = on_terminal(*words_, columns=60)
    check(f"{what} shows progress", code == 0 and BAR.search(seen) and expected in seen, seen)
    last = seen.rindex(CLEAR)
    check("the progress line is cleared", not BAR.search(seen[last + len(CLEAR):]), seen)
    drawn = [line.split("\n")[0] for line in seen.split(CLEAR)]
    check("progress always fits on one line", all(len(line) < 60 for line in drawn if BAR.match(line)), drawn)


def progress(database, where):
    copy, again = path(f"{where}.backup"), path(f"{where}.again")
    shows_progress(f"{where}: verify", "checking ", "verify", "--db", database)
    shows_progress(f"{where}: backup", "copying", "backup", copy + ".1", "--verify", "--db", database)
    shows_progress(f"{where}: export", "wallet", "export", path(f"{where}.ndjson"), "--db", database)
    printed("backup", copy, "--db", database)
    shows_progress(f"{where}: restore", "copying", "restore", copy, "--db", again)
    shows_progress(f"{where}: verify FILE", "checksum", "verify", copy, "--db", database)
    done = run("verify", "--db", database)
    check(f"{where}: no progress in a pipe", done.returncode == 0 and done.stderr == "", done.stderr)
    seen, _ = on_terminal("export", "-", "--db", database)
    check(f"{where}: no progress between the lines of an export", not BAR.search(seen) and '"type"' in seen)


def seeding():
    ours, theirs = pty.openpty()
    demo = subprocess.Popen([BINARY, "demo", "--port", "0", "--json", "--db", path("seeded", "demo.db")],
                            env=HOME, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=theirs)
    os.close(theirs)
    demo.stdout.readline()
    demo.send_signal(signal.SIGTERM)
    seen = b""
    with contextlib.suppress(OSError):
        while piece := os.read(ours, 65536):
            seen += piece
    demo.stdout.close()
    check("the creation of a demo shows progress", demo.wait(WAIT_S) == 0
          and BAR.search(seen.decode()) and "creating wallets" in seen.decode(), seen)


def main():
    global BINARY
    in_a_shell()
    seeding()
    os.mkdir(path("demo"))
    demo = Demo(BINARY, path("demo")).start(env=HOME)
    database, before = demo.db, demo.said()
    for where in ("served", "on a file"):
        pipes_and_disks(database, where)
        failures_stay(database, where)
        if where == "served":
            follower_without_reader(database)
            check("the server logged no error", "ERROR" not in demo.said()[len(before):]
                  and demo.process.poll() is None, demo.said())
        tables(database, where)
        colours(database, where)
        numbers(database, where)
        progress(database, where.replace(" ", "-"))
        if where == "served":
            check("the server exits with 0", demo.stop(WAIT_S) == 0, demo.said())
            BINARY = binary()


main()
