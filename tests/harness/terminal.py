"""A user's terminals: a new home folder, `coffer` on the path, and free ports."""

import os
import pty
import re
import signal
import subprocess
import sys
import tempfile
import threading
import time

from harness.machine import ROOT, in_namespaces

WAIT_S = 60


def alone():
    """Runs the test in namespaces where the ports of the documents (8080, 8081, 443, 3000) are free."""
    in_namespaces("mount", "net", "ipc", "uts", as_root=False)


class Running:
    """A command in its own terminal, running until it is stopped. Collects its output."""

    def __init__(self, command, **options):
        ours, theirs = pty.openpty()
        self.process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=theirs, stderr=theirs,
                                        start_new_session=True, **options)
        os.close(theirs)
        self.printed = ""
        self.reader = threading.Thread(target=self.read, args=(ours,), daemon=True)
        self.reader.start()

    def read(self, terminal):
        with open(terminal, encoding="utf-8", newline="\r\n") as lines:
            try:
                for line in lines:
                    self.printed += line.replace("\r\n", "\n")
            except OSError:
                pass  # the last writer closed the terminal

    def says(self, pattern):
        """Waits until the output matches, and returns the match."""
        end = time.monotonic() + WAIT_S
        while time.monotonic() < end:
            ended = self.process.poll() is not None
            if ended:
                self.reader.join()
            found = re.search(pattern, self.printed, re.M)
            if found:
                return found
            if ended:
                break
            time.sleep(0.02)
        sys.exit(f"{self.process.args}: no output matches {pattern}:\n{self.printed}")

    def stop(self, how=signal.SIGINT):
        """Signals all processes of the terminal, like Ctrl-C, and returns the exit code."""
        if self.process.poll() is None:
            os.killpg(self.process.pid, how)
        try:
            return self.process.wait(30)
        except subprocess.TimeoutExpired:
            os.killpg(self.process.pid, signal.SIGKILL)
            return self.process.wait()


class Home:
    """A home folder with the tested binary as `coffer` on the path. Commands run in `folder`."""

    def __init__(self, binary):
        self.scratch = tempfile.TemporaryDirectory()
        self.folder = os.path.join(self.scratch.name, "work")
        programs = os.path.join(self.scratch.name, "bin")
        for made in (self.folder, programs):
            os.mkdir(made)
        os.symlink(os.path.abspath(binary), os.path.join(programs, "coffer"))
        # The documents run cmake, but the build already exists.
        with open(os.path.join(programs, "cmake"), "w", encoding="ascii") as file:
            file.write("#!/bin/sh\nexit 0\n")
        os.chmod(file.name, 0o755)
        self.environment = {
            **{key: value for key, value in os.environ.items() if not key.startswith(("COFFER_", "XDG_"))},
            "PATH": programs + ":" + os.environ["PATH"], "no_proxy": "*", "NO_PROXY": "*",
            "COFFER_SOURCE_DIR": ROOT,
            "XDG_DATA_HOME": self.path("data"), "XDG_CONFIG_HOME": self.path("config"),
            "XDG_CACHE_HOME": os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")}
        self.running = []

    def path(self, *names):
        return os.path.join(self.scratch.name, *names)

    def run(self, text, code=0, folder=None):
        """Runs commands and returns their output. The exit code must be `code`."""
        done = subprocess.run(["bash", "-euo", "pipefail", "-c", text], cwd=folder or self.folder,
                              env=self.environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, text=True, timeout=WAIT_S, check=False)
        if done.returncode != code:
            sys.exit(f"exits with {done.returncode}, expected {code}: {text}\n{done.stdout}\n{done.stderr}")
        return done.stdout + done.stderr

    def start(self, text, folder=None):
        """Starts commands, the last of which keeps running."""
        self.running.append(Running(["bash", "-euo", "pipefail", "-c", text], cwd=folder or self.folder,
                                    env=self.environment))
        return self.running[-1]

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for one in self.running:
            one.stop(signal.SIGKILL)
        self.scratch.cleanup()
