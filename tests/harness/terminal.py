"""A person's terminals: a home folder of their own, `coffer` on the path, and ports of their own."""

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
    """The ports of the documents (8080, 8081, 443, 3000) may be taken here: runs where all are free."""
    in_namespaces("mount", "net", "ipc", "uts", as_root=False)


class Running:
    """A command in a terminal of its own, until it is stopped; collects what it prints."""

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
                pass  # a terminal without a writer ends like this

    def says(self, pattern):
        """Waits for it; the match."""
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
        sys.exit(f"{self.process.args}: does not say {pattern}:\n{self.printed}")

    def stop(self, how=signal.SIGINT):
        """As Ctrl-C does, to all that the terminal runs; the exit code."""
        if self.process.poll() is None:
            os.killpg(self.process.pid, how)
        try:
            return self.process.wait(30)
        except subprocess.TimeoutExpired:
            os.killpg(self.process.pid, signal.SIGKILL)
            return self.process.wait()


class Home:
    """With the release binary as `coffer`. `folder` is where commands are typed."""

    def __init__(self, binary):
        self.scratch = tempfile.TemporaryDirectory()
        self.folder = os.path.join(self.scratch.name, "work")
        programs = os.path.join(self.scratch.name, "bin")
        for made in (self.folder, programs):
            os.mkdir(made)
        os.symlink(os.path.abspath(binary), os.path.join(programs, "coffer"))
        # What the documents build is built already.
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
        """What the commands print; they must end as expected."""
        done = subprocess.run(["bash", "-euo", "pipefail", "-c", text], cwd=folder or self.folder,
                              env=self.environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, text=True, timeout=WAIT_S, check=False)
        if done.returncode != code:
            sys.exit(f"ends with {done.returncode}: {text}\n{done.stdout}\n{done.stderr}")
        return done.stdout + done.stderr

    def start(self, text, folder=None):
        """Commands of which the last does not end."""
        self.running.append(Running(["bash", "-euo", "pipefail", "-c", text], cwd=folder or self.folder,
                                    env=self.environment))
        return self.running[-1]

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for one in self.running:
            one.stop(signal.SIGKILL)
        self.scratch.cleanup()
