"""The machine that a package is installed on: a booted root, and a shell that runs the commands of the documents."""

import pathlib
import re
import sys
import time

from harness.report import check
from interop import documents


class Host:
    """`versions`: the versions that replace 0.1.0 and 0.2.0 of the documents."""

    EDITOR = "/root/editor"

    def __init__(self, root, versions):
        self.root = root
        self.old_version, self.new_version = versions
        self.mine = documents.Mine("package/lifecycle")

    def path(self, path):
        """The path of a file in the root, as seen from this machine."""
        return self.root.path / path.lstrip("/")

    def says(self, document, start, language=None, **placeholders):
        """A block of the documents, with this machine's versions."""
        text = self.mine.take(document, start, language)
        text = text.replace("0.1.0", self.old_version).replace("0.2.0", self.new_version)
        return documents.replaced(text, placeholders)

    def type(self, text, works=True, edited=""):
        """Runs lines in root's shell, in /root, until one fails. Answers every question with yes; `edited` is the text
        for the editor of `systemctl edit`."""
        lines = [self.edited(line, edited) for line in text.splitlines()]
        script = 'cd /root\nsudo() { "$@"; }\n' + "\n".join(lines)
        done = self.root.run("bash", "-euo", "pipefail", "-c", script, stdin="y\n" * 9,
                             env={"SYSTEMD_EDITOR": self.EDITOR})
        if works and done.returncode != 0:
            sys.exit(f"{text}: {done.returncode}\n{done.stdout}\n{done.stderr}\n{self.journal()}")
        return done

    def edited(self, line, content):
        """The command for `systemctl edit`, which needs a terminal and an editor."""
        if not line.startswith("systemctl edit "):
            return line
        self.path(self.EDITOR + ".text").write_text(content)
        # systemd takes the text below this comment. Newer versions pass the number of its line before the file.
        self.path(self.EDITOR).write_text("#!/bin/sh\nfor file; do :; done\n"
                                          f"sed -i '/^### Anything between/r {self.EDITOR}.text' \"$file\"\n")
        self.path(self.EDITOR).chmod(0o755)
        return f"script --quiet --return --command '{line}' /dev/null"

    def systemctl(self, *arguments):
        done = self.root.run("systemctl", *arguments)
        if done.returncode != 0:
            sys.exit(f"systemctl {arguments}: {done.stderr}\n{self.journal()}")
        return done

    def shows(self, name, unit="coffer.service"):
        return self.root.run("systemctl", "show", "--value", "--property", name, unit).stdout.strip()

    def serves(self, where):
        """Whether the service reports this address in its status text."""
        return self.shows("StatusText") == "Serving " + where

    def journal(self):
        return self.root.run("journalctl", "--unit", "coffer", "--output", "cat", "--lines", "15").stdout

    def until(self, what, holds, within_s=20):
        end = time.monotonic() + within_s
        while not holds() and time.monotonic() < end:
            time.sleep(0.1)
        check(what, holds(), self.shows("ActiveState") + "\n" + self.journal())

    def drop_in(self, unit, text):
        folder = self.path(f"etc/systemd/system/{unit}.d")
        folder.mkdir(exist_ok=True)
        (folder / "test.conf").write_text(text)
        self.systemctl("daemon-reload")
        return folder

    def inside_pid(self):
        """The process ID of the service on this machine."""
        inside = self.shows("MainPID")
        for folder in pathlib.Path("/proc").glob("[0-9]*"):
            try:
                status = (folder / "status").read_text()
            except OSError:
                continue
            if re.search(rf"^NSpid:\t\d+\t{inside}$", status, re.M) and "Name:\tcoffer\n" in status:
                return folder.name
        sys.exit(f"the service has no process: {inside}")
