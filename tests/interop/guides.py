#!/usr/bin/env -S PYTHONPATH=tests python3 -B
"""Runs the guides as written, each against a new demo of the release build: the `sh` blocks in order in one shell,
comparing the output of a block with the `output` block that follows. Each guide runs once in every shell of SHELLS.
Commands of `console` blocks run in separate
terminals, the demo first. The commands can use the folders next to the guide, and PORT, on which no program
listens."""
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time

import documents
from harness.machine import binary, held_port, skip

START_SECONDS = 60
BLOCK_SECONDS = 60
ANYTHING = "…"
SHELLS = (["bash", "--noprofile", "--norc"], ["dash"], ["zsh", "-f"])
# zsh in a terminal does not accept comments.
COMMENT = re.compile(r"^\s*#|\s#\s", re.M)
HERE_DOCUMENT = re.compile(r"<< ?'(\w+)'.*?^\1$", re.M | re.S)


class Block:
    def __init__(self, line, text, fence):
        self.line = line
        self.text = text
        self.fence = fence
        self.expected = None


def blocks_of(path):
    """The sh and console blocks of a guide, each with its expected lines, or None."""
    found, fence = [], None
    for number, line in enumerate(open(path, encoding="utf-8").read().splitlines(), 1):
        if fence is None:
            opening = re.fullmatch(r"```(\w+)", line)
            if opening:
                fence, start, lines = opening[1], number + 1, []
        elif line == "```":
            if fence in ("sh", "console"):
                found.append(Block(start, "\n".join(lines) + "\n", fence))
            elif fence == "output":
                if not found or found[-1].expected is not None:
                    raise SystemExit(f"{path}:{start}: an output block without a command block")
                found[-1].expected = lines
            fence = None
        else:
            lines.append(line)
    return found


def matches(line, pattern):
    return re.fullmatch(".*".join(map(re.escape, pattern.split(ANYTHING))), line) is not None


def same(printed, expected):
    return len(printed) == len(expected) and all(map(matches, printed, expected))


class Shell:
    """One shell, like a reader's terminal. The exit code of a block is that of its last failed command; `set -e` would
    end the shell. Background processes end with the shell."""

    MARK = "-- end of block "

    def __init__(self, command, folder):
        environment = {**os.environ, "no_proxy": "*", "NO_PROXY": "*", "HOME": folder,
                       "PORT": str(held_port())}
        self.process = subprocess.Popen([*command, "-u"], cwd=folder, text=True,
                                        env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        start_new_session=True)

    def run(self, text):
        """Returns the printed lines and the exit code."""
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


class Terminal:
    """Another terminal with a command that runs until it is stopped. Keeps its output."""

    def __init__(self, command, folder):
        self.log = os.path.join(folder, "terminal.log")
        home = {key: value for key, value in os.environ.items() if not key.startswith("XDG_")}
        with open(self.log, "wb") as log:
            self.process = subprocess.Popen(
                ["bash", "-c", "exec " + command], cwd=folder, stdin=subprocess.DEVNULL, stdout=log,
                stderr=log, env={**home, "HOME": folder,
                                 "PATH": os.path.join(folder, "bin") + ":" + os.environ["PATH"]})

    def wait(self, what, path, pattern):
        """Waits until the file has a matching line."""
        end = time.monotonic() + START_SECONDS
        while time.monotonic() < end and self.process.poll() is None:
            if os.path.exists(path) and re.search(pattern, open(path, encoding="utf-8").read(), re.M):
                return self
            time.sleep(0.02)
        self.close()
        raise SystemExit(f"{what}: " + open(self.log, encoding="utf-8").read())

    def close(self):
        self.process.terminate()
        try:
            self.process.wait(30)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()


def start_demo(path, blocks, folder):
    """Starts the demo with the guide's command, on a free port."""
    shown = [block.text.removeprefix("$ ") for block in blocks if block.fence == "console"]
    shown += re.findall(r"`(coffer demo [^`]*)`", open(path, encoding="utf-8").read())
    at_port = [one for one in shown if one.startswith("coffer demo ") and " --port 8080 " in one]
    if not at_port:
        raise SystemExit(f"{path} starts no demo on port 8080: {shown}")
    command = at_port[0].replace(" --port 8080 ", " --port 0 ")
    terminal = Terminal(command, folder)
    return terminal.wait("the demo does not start", os.path.join(folder, "demo.json"), r"^\{.*\}$")


def open_terminal(block, folder):
    """Starts `coffer listen` in another terminal, and waits for its secret."""
    terminal = Terminal(block.text.removeprefix("$ "), folder)
    return terminal.wait("line %d" % block.line, terminal.log, "whsec_")


def has_comment(text):
    return COMMENT.search(HERE_DOCUMENT.sub("", text)) is not None


def run_guide(binary, path, command):
    """The number of blocks that did not behave as the guide says."""
    failures = 0
    blocks = blocks_of(path)
    if not blocks:
        raise SystemExit(f"{path} has no sh block")
    for block in blocks:
        if block.fence == "sh" and has_comment(block.text):
            raise SystemExit(f"{path}:{block.line}: a comment, which zsh in a terminal does not accept")
    with tempfile.TemporaryDirectory() as folder:
        for entry in os.scandir(os.path.dirname(os.path.abspath(path))):
            if entry.is_dir():
                shutil.copytree(entry.path, os.path.join(folder, entry.name))
        os.mkdir(os.path.join(folder, "bin"))
        os.symlink(os.path.abspath(binary), os.path.join(folder, "bin", "coffer"))
        terminals = [start_demo(path, blocks, folder)]
        shell = Shell(command, folder)
        try:
            for block in blocks:
                if block.fence == "console":
                    if block.text.startswith("$ coffer listen"):
                        terminals.append(open_terminal(block, folder))
                    continue
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
            for terminal in reversed(terminals):
                terminal.close()
    print(f"{os.path.basename(path)} in {command[0]}: {len(blocks)} blocks, {failures} failed")
    return failures


def main():
    # Control: different output does not match.
    assert matches("a1c", "a…c") and not matches("ab", "a") and not matches("a.c", "a…d")
    assert not same(["a"], []) and not same([], ["…"])
    # And a comment is found.
    assert has_comment("a\n  # b\n") and has_comment("a  # b") and not has_comment("cat << 'E'\n# a\nE\n$#")
    guides = sorted({block.document for block in documents.Mine("interop/guides").left})
    missing = [command[0] for command in SHELLS if shutil.which(command[0]) is None]
    if missing:
        skip("not installed: " + ", ".join(missing))
    faults = sum(run_guide(binary(), os.path.join(documents.ROOT, guide), command)
                 for guide in guides for command in SHELLS)
    sys.exit(1 if faults else 0)


main()
