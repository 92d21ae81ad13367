#!/usr/bin/env python3
"""guides.py <coffer> <guide.md ...>: runs the `sh` blocks of each guide, in order and in one shell,
against a fresh demo, and compares what a block prints with the `output` block that follows it. Folders
beside the guide are there for its commands, and PORT is one that nobody listens on."""
import json
import os
import re
import select
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading

START_SECONDS = 60
BLOCK_SECONDS = 60
ANYTHING = "…"


class Block:
    def __init__(self, line, text):
        self.line = line
        self.text = text
        self.expected = None


def blocks_of(path):
    """The sh blocks of a guide, each with the lines that it shall print, or None."""
    found, fence = [], None
    for number, line in enumerate(open(path, encoding="utf-8").read().splitlines(), 1):
        if fence is None:
            opening = re.fullmatch(r"```(\w+)", line)
            if opening:
                fence, start, lines = opening[1], number + 1, []
        elif line == "```":
            if fence == "sh":
                found.append(Block(start, "\n".join(lines) + "\n"))
            elif fence == "output":
                if not found or found[-1].expected is not None:
                    raise SystemExit(f"{path}:{start}: output of no block")
                found[-1].expected = lines
            fence = None
        else:
            lines.append(line)
    return found


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return str(probe.getsockname()[1])


def matches(line, pattern):
    return re.fullmatch(".*".join(map(re.escape, pattern.split(ANYTHING))), line) is not None


def same(printed, expected):
    return len(printed) == len(expected) and all(map(matches, printed, expected))


class Shell:
    """One bash, as a reader has one terminal. A block that fails has the code of its last command that
    did; `set -e` would end the shell. What it leaves running in the background ends with it."""

    MARK = "-- end of block "

    def __init__(self, folder):
        environment = {**os.environ, "no_proxy": "*", "NO_PROXY": "*", "HOME": folder,
                       "PORT": free_port()}
        self.process = subprocess.Popen(["bash", "--noprofile", "--norc", "-u"], cwd=folder, text=True,
                                        env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        start_new_session=True)

    def run(self, text):
        """Lines printed, and the exit code."""
        stdin, stdout = self.process.stdin, self.process.stdout
        timer = threading.Timer(BLOCK_SECONDS, self.kill)
        timer.start()
        try:
            stdin.write(f"{text}\nprintf '\\n%s%s\\n' '{self.MARK}' \"$?\"\n")
            stdin.flush()
            printed = []
            for line in stdout:
                if line.startswith(self.MARK):
                    if printed and printed[-1] == "":
                        printed.pop()
                    return printed, int(line[len(self.MARK):])
                printed.append(line.rstrip("\r\n"))
        finally:
            timer.cancel()
        return printed, None

    def kill(self):
        os.killpg(self.process.pid, signal.SIGKILL)

    def close(self):
        self.process.stdin.close()
        self.kill()
        self.process.wait()


class Demo:
    def __init__(self, binary, folder):
        self.process = subprocess.Popen(
            [binary, "demo", "--json", "--port", "0", "--db", os.path.join(folder, "data", "demo.db")],
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        ready, _, _ = select.select([self.process.stdout], [], [], START_SECONDS)
        line = self.process.stdout.readline() if ready else b""
        if not line:
            self.close()
            raise SystemExit("the demo does not start")
        json.loads(line)
        with open(os.path.join(folder, "demo.json"), "wb") as file:
            file.write(line)

    def close(self):
        self.process.terminate()
        try:
            self.process.wait(30)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()


def run_guide(binary, path):
    """The number of blocks that did not do what the guide says."""
    failures = 0
    blocks = blocks_of(path)
    if not blocks:
        raise SystemExit(f"{path} has no sh block")
    with tempfile.TemporaryDirectory() as folder:
        for entry in os.scandir(os.path.dirname(os.path.abspath(path))):
            if entry.is_dir():
                shutil.copytree(entry.path, os.path.join(folder, entry.name))
        demo = Demo(binary, folder)
        shell = Shell(folder)
        try:
            for block in blocks:
                printed, code = shell.run(block.text)
                expected = block.expected or []
                if code == 0 and same(printed, expected):
                    continue
                failures += 1
                print(f"FAILED   {path}:{block.line}: exit code {code}")
                print("\n".join(f"         expected | {line}" for line in expected))
                print("\n".join(f"         printed  | {line[:300]}" for line in printed))
                if code is None:
                    break
        finally:
            shell.close()
            demo.close()
    print(f"{os.path.basename(path)}: {len(blocks)} blocks, {failures} failed")
    return failures


def main():
    # What must not match does not.
    assert matches("a1c", "a…c") and not matches("ab", "a") and not matches("a.c", "a…d")
    assert not same(["a"], []) and not same([], ["…"])
    binary, guides = sys.argv[1], sys.argv[2:]
    sys.exit(1 if sum(run_guide(binary, guide) for guide in guides) else 0)


main()
