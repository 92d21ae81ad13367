#!/usr/bin/env -S PYTHONPATH=tests python3 -B
# ctest: waits
"""The backup before an upgrade, wherever the service has the path of its ledger from: each way in each spelling, as
systemd 252 and 257 show it, for a service that runs and for one that does not. Where the path cannot be known, the
upgrade stops."""

import os
import re
import shutil
import signal
import subprocess
import tempfile

from harness.machine import ROOT, binary, skip
from harness.report import check, wait_for

PACKAGED = "/usr/bin/coffer serve --init"
STUBS = {
    # Prints a property from a file of its name.
    "systemctl": 'for last; do :; done\ncase $* in *"--property "*) ;; *) exit 1 ;; esac\n'
                 'words=" $* "; name=${words#* --property }; cat "%(shown)s/${name%%%% *}" 2>/dev/null',
    "runuser": 'while [ "$1" != -- ]; do shift; done; shift; exec "$@"',
    "install": 'for last; do :; done; exec mkdir -p "$last"',
}


class World:
    def __init__(self, folder):
        self.folder, self.shown, self.process = folder, os.path.join(folder, "shown"), None
        self.ledgers = []
        stubs = os.path.join(folder, "bin")
        os.makedirs(stubs)
        os.makedirs(self.shown)
        for name, text in STUBS.items():
            self.write(os.path.join(stubs, name), "#!/bin/sh\n" + text % {"shown": self.shown}, 0o755)
        shutil.copy(binary(), os.path.join(stubs, "coffer"))
        self.coffer = os.path.join(stubs, "coffer")
        with open(os.path.join(ROOT, "packaging/debian/coffer.preinst"), encoding="utf-8") as file:
            text = file.read()
        text, count = re.subn(r"(?m)^PATH=", f"PATH={stubs}:", text)
        assert count == 1
        self.script = self.write(os.path.join(folder, "preinst"),
                                 text.replace("#VERSION#", "9.9.9").replace("#SCHEMA#", "1000000")
                                 .replace("#DEBHELPER#", ""), 0o755)

    def write(self, path, text, mode=0o600):
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        os.chmod(path, mode)
        return path

    def ledger(self, name):
        path = os.path.join(self.folder, name, "l.db")
        if not os.path.exists(path):
            os.makedirs(os.path.dirname(path), exist_ok=True)
            subprocess.run([self.coffer, "init", "--db", path], check=True, capture_output=True)
        return path

    def show(self, **properties):
        shutil.rmtree(self.shown)
        for name, value in {"MainPID": "0", "ExecStart": started_as(PACKAGED), **properties}.items():
            self.write(os.path.join(self.shown, name), value + "\n")

    def upgrade(self, shell="dash", **more):
        clean = {name: value for name, value in os.environ.items() if not name.startswith("COFFER_")}
        return subprocess.run([shell, self.script, "upgrade", "0.1.0"], env={**clean, **more}, cwd="/",
                              capture_output=True, text=True, check=False)

    def backs_up(self, what, path, **properties):
        self.show(**properties)
        done = self.upgrade()
        backups = os.path.join(os.path.dirname(path), "backups")
        made = os.listdir(backups) if os.path.isdir(backups) else []
        check(f"an upgrade makes a backup with {what}", done.returncode == 0
              and [name for name in made if re.fullmatch(r"before-9\.9\.9-\w+\.db", name)],
              done.stdout + done.stderr)
        shutil.rmtree(backups)

    def stops(self, what, **properties):
        self.show(**properties)
        done = self.upgrade()
        check(f"an upgrade stops with {what}", done.returncode == 1 and "there is no backup" in done.stderr
              and "COFFER_UPGRADE_WITHOUT_BACKUP=yes" in done.stderr, done.stdout + done.stderr)
        done = self.upgrade(COFFER_UPGRADE_WITHOUT_BACKUP="yes")
        check("and goes on without a backup if that is said", done.returncode == 0, done.stderr)


def started_as(words):
    return f"{{ path=/usr/bin/coffer ; argv[]={words} ; ignore_errors=no ; start_time=[n/a] ; pid=0 ; code=(null) }}"


def quoted(text):
    """As systemctl shows a value (shell_maybe_quote)."""
    if not re.search(r"[\s\"\\`$*?\[\]'()<>|&;!]", text):
        return text
    return '"' + re.sub(r'(["\\`$])', r"\\\1", text) + '"'


def variables(world):
    for name in ("plain", "my ledger", "it's", 'a"b', "a$b", "a;b", "a*b"):
        path = world.ledger(name)
        for other in ([], ["HTTP_PROXY=http://x y", "COFFER_LOG_LEVEL=info"]):
            words = " ".join(quoted(word) for word in [*other, "COFFER_DB=" + path])
            world.backs_up(f"Environment={words}", path, Environment=words)


def files(world):
    plain, blank = world.ledger("plain"), world.ledger("my ledger")
    for text, path in ((f"COFFER_DB={plain}", plain), (f"# COFFER_DB=/no\n; x\n\nCOFFER_DB={plain}  \n", plain),
                       (f'COFFER_DB="{blank}"', blank), (f"COFFER_DB='{blank}'", blank),
                       (f"COFFER_DB={blank}\nOTHER=x", blank), ("COFFER_DB=" + blank.replace(" ", "\\ "), blank),
                       (f"OTHER='a\nb'\nCOFFER_DB = {plain}\n", plain),
                       (f"COFFER_DB={os.path.dirname(plain)}\\\n/l.db\n", plain),
                       ('COFFER_DB="' + world.ledger("a$b").replace("$", "\\$") + '"', world.ledger("a$b"))):
        file = world.write(os.path.join(world.folder, "my files", "env"), text)
        world.backs_up(f"EnvironmentFile= of {text!r}", path, Environment="COFFER_DB=/none",
                       EnvironmentFiles=f"/absent (ignore_errors=yes)\n{file} (ignore_errors=no)")


def command_lines(world):
    for name in ("plain", "my ledger"):
        path = world.ledger(name)
        file = world.write(os.path.join(world.folder, name, "coffer.toml"), 'db = "l.db"\n')
        for flag, value in (("--db", path), ("--config", file)):
            for separator in (" ", "="):
                words = [flag, value] if separator == " " else [f"{flag}={value}"]
                for line in {f"{PACKAGED} {' '.join(words)} --log-level info",
                             f"{PACKAGED} {' '.join(map(quoted, words))}"}:
                    world.backs_up(f"ExecStart={line}", path, ExecStart=started_as(line),
                                   Environment="COFFER_DB=/none" if flag == "--db" else "COFFER_CONFIG=/none")


def running(world):
    """The process is right, whatever the unit says by now."""
    path = world.ledger("my ledger")
    listen = ["--listen-http", "127.0.0.1:0", "--admin-off"]
    for what, variable, words in (("a variable", {"COFFER_DB": path}, []), ("--db", {}, ["--db", path]),
                                  ("a relative --db", {"COFFER_DB": "/none"}, ["--db=l.db"])):
        clean = {name: value for name, value in os.environ.items() if not name.startswith("COFFER_")}
        process = subprocess.Popen([world.coffer, "serve", *listen, *words], env={**clean, "A": "b\nc", **variable},
                                   cwd=os.path.dirname(path), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            wait_for("the server runs", lambda: os.path.exists(path + ".sock") or process.poll() is not None, 60)
            world.backs_up(f"a running service with {what}", path, MainPID=str(process.pid),
                           Environment="COFFER_DB=/none/l.db")
        finally:
            process.send_signal(signal.SIGTERM)
            check("the server stops", process.wait(60) == 0)


def unknown(world):
    world.stops("a variable that names no ledger", Environment="COFFER_DB=/none/l.db")
    world.stops("ExecStart with a variable of systemd", ExecStart=started_as(PACKAGED + " --db ${LEDGER}"))
    world.stops("a file that cannot be read", EnvironmentFiles="/none/env (ignore_errors=no)")
    if os.path.exists("/var/lib/coffer/coffer.db"):
        return
    world.show()
    done = world.upgrade()
    check("an upgrade of a service that never ran goes on", done.returncode == 0
          and "there is no ledger at /var/lib/coffer/coffer.db" in done.stdout, done.stdout + done.stderr)


def main():
    if not shutil.which("dash"):
        skip("dash is not installed")
    with tempfile.TemporaryDirectory() as folder:
        world = World(folder)
        for part in (variables, files, command_lines, running, unknown):
            part(world)


main()
