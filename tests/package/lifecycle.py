#!/usr/bin/env python3
"""One installation's whole life in a clean Debian root with its own systemd, by the documents: install,
configure, pay, upgrade to a version with another schema while clients pay, pay, a downgrade that is
refused, back by restore, remove, install again, purge with both answers. Nothing left behind, no payment
lost.

    lifecycle.py OLD.deb NEW.deb
"""

import pathlib
import re
import shutil
import sys
import tempfile
import time

import roots
from shop import Crowd, Shop, as_json

DATA = "var/lib/coffer"
# What belongs to dpkg, debconf, systemd and the table of users, or is a log of theirs.
NOT_OURS = re.compile(
    r"^(var/lib/dpkg/|var/cache/debconf/|var/log/|var/cache/ldconfig|var/lib/systemd/|var/tmp/"
    r"|etc/(passwd|group|shadow|gshadow|subuid|subgid)-?$|etc/\.(pwd\.lock|updated)|etc/(mtab|machine-id)"
    r"|var/lib/private|var/\.updated|var/cache/private|etc/systemd/system/multi-user\.target\.wants$)")
checks = 0


def check(what, holds, shown=""):
    global checks
    checks += 1
    print(("ok       " if holds else "FAILED   ") + what, flush=True)
    if not holds:
        sys.exit(f"{what}: {shown}")


def schema_of(path):
    with open(path, "rb") as file:
        file.seek(60)
        return int.from_bytes(file.read(4), "big")


class Life:
    def __init__(self, root, old, new):
        self.root = root
        self.old, self.new = root.bring(old), root.bring(new)
        self.old_version, self.new_version = (pathlib.Path(deb).name.split("_")[1] for deb in (old, new))
        self.data = root.path / DATA
        self.before = root.files()

    def dpkg(self, *arguments, works=True):
        done = self.root.run("dpkg", *arguments)
        if works and done.returncode != 0:
            sys.exit(f"dpkg {arguments}: {done.stdout}\n{done.stderr}")
        return done

    def systemctl(self, *arguments):
        done = self.root.run("systemctl", *arguments)
        if done.returncode != 0:
            sys.exit(f"systemctl {arguments}: {done.stderr}\n{self.journal()}")
        return done

    def shows(self, name, unit="coffer.service"):
        return self.root.run("systemctl", "show", "--value", "--property", name, unit).stdout.strip()

    def journal(self):
        return self.root.run("journalctl", "--unit", "coffer", "--output", "cat", "--lines", "15").stdout

    def until(self, what, holds, within_s=20):
        end = time.monotonic() + within_s
        while not holds() and time.monotonic() < end:
            time.sleep(0.1)
        check(what, holds(), self.shows("ActiveState") + "\n" + self.journal())

    def coffer(self, *arguments, as_user=False):
        who = ["runuser", "-u", "_coffer", "--"] if as_user else []
        return self.root.run(*who, "coffer", *arguments)

    def json(self, *arguments, **options):
        return as_json(self.coffer(*arguments, "--json", **options))

    def drop_in(self, unit, text):
        folder = self.root.path / f"etc/systemd/system/{unit}.d"
        folder.mkdir(exist_ok=True)
        (folder / "test.conf").write_text(text)
        self.systemctl("daemon-reload")
        return folder

    def install(self):
        done = self.dpkg("--install", self.old)
        check("installs without a question, and says the one next command",
              "coffer admin link" in done.stderr, done.stderr)
        check("the user, the folders and their modes are there",
              "_coffer" in (self.root.path / "etc/passwd").read_text()
              and self.data.stat().st_mode & 0o777 == 0o700 and self.data.stat().st_uid != 0)
        check("its settings are a conffile",
              "/etc/coffer/coffer.toml" in self.dpkg("--status", "coffer").stdout)
        verified = self.dpkg("--verify", "coffer").stdout
        check("every file is as it was packed", not verified, verified)
        man = self.root.path / "usr/share/man"
        check("manual pages and completions are there", all(path.is_file() for path in (
            man / "man1/coffer.1.gz", man / "man5/coffer.toml.5.gz",
            self.root.path / "usr/share/bash-completion/completions/coffer",
            self.root.path / "usr/share/zsh/vendor-completions/_coffer",
            self.root.path / "usr/share/fish/vendor_completions.d/coffer.fish")))

    def run_and_pay(self):
        check("runs at once, ready as it said itself", self.shows("ActiveState") == "active"
              and self.shows("Type") == "notify", self.journal())
        check("and tells what it does", self.shows("StatusText") == "Serving http://127.0.0.1:8080",
              self.shows("StatusText"))
        check("on the socket of systemd", self.shows("ActiveState", "coffer.socket") == "active")
        process = pathlib.Path(f"/proc/{self.inside_pid()}")
        status = dict(line.split(":\t", 1) for line in (process / "status").read_text().splitlines())
        check("without capabilities and new privileges, behind a filter", status["CapBnd"] == "0" * 16
              and status["NoNewPrivs"] == "1" and status["Seccomp"] == "2", status)
        self.shop = Shop(self.json)
        connection = self.shop.login()
        self.shop.pay(connection, "before-upgrade")
        self.until("pays", lambda: self.shop.status_of(connection, "before-upgrade") == "succeeded")
        link = self.coffer("admin", "link")
        check("root's commands find the service's file", "#claim=" in link.stdout + link.stderr, link.stderr)

    def inside_pid(self):
        """Of the service, as this machine numbers it."""
        inside = self.shows("MainPID")
        for folder in pathlib.Path("/proc").glob("[0-9]*"):
            try:
                status = (folder / "status").read_text()
            except OSError:
                continue
            if re.search(rf"^NSpid:\t\d+\t{inside}$", status, re.M) and "Name:\tcoffer\n" in status:
                return folder.name
        sys.exit(f"no process of the service: {inside}")

    def hold_the_key_apart(self):
        """docs/install.md, "The master key"."""
        self.systemctl("stop", "coffer")
        check("stopping the service stops its socket",
              self.shows("ActiveState", "coffer.socket") == "inactive")
        self.root.run("install", "-d", "-m", "0700", "/etc/credstore")
        self.root.run("install", "-m", "0600", "/var/lib/coffer/master.key", "/etc/credstore/coffer.master_key")
        (self.data / "master.key").unlink()
        self.systemctl("start", "coffer")
        connection = self.shop.login()
        check("serves with the master key from a credential",
              self.shop.status_of(connection, "before-upgrade") == "succeeded")
        check("and makes none of its own", not (self.data / "master.key").exists())

    def survive(self):
        """A process that hangs, one that is killed, and settings that no restart mends."""
        folder = self.drop_in("coffer.service", "[Service]\nWatchdogSec=2s\nTimeoutAbortSec=1s\n")
        self.systemctl("restart", "coffer")
        time.sleep(5)
        check("signs of life keep it running", self.shows("NRestarts") == "0", self.journal())
        self.root.run("systemctl", "kill", "--signal=STOP", "coffer")
        self.until("one that hangs is ended and started again",
                   lambda: self.shows("NRestarts") == "1" and self.shows("ActiveState") == "active", 30)
        shutil.rmtree(folder)
        self.systemctl("daemon-reload")
        self.systemctl("restart", "coffer")
        self.root.run("systemctl", "kill", "--signal=KILL", "coffer")
        self.until("one that is killed is started again",
                   lambda: self.shows("NRestarts") == "1" and self.shows("ActiveState") == "active", 30)
        settings = self.root.path / "etc/coffer/coffer.toml"
        good = settings.read_text()
        settings.write_text(good + 'listen_http = "127.0.0.1:9090"\n')
        self.root.run("systemctl", "restart", "coffer")
        self.until("settings against the socket are a fault that is not tried again",
                   lambda: self.shows("ActiveState") == "failed" and self.shows("ExecMainStatus") == "78")
        check("and the journal says what to do", "systemctl edit coffer.socket" in self.journal(),
              self.journal())
        settings.write_text(good)
        self.systemctl("reset-failed", "coffer.service")
        self.systemctl("start", "coffer")
        check("mended, it serves", self.shop.status_of(self.shop.login(), "before-upgrade") == "succeeded")

    def listen_elsewhere(self):
        """docs/install.md, "Other addresses"."""
        folder = self.drop_in("coffer.socket", "[Socket]\nListenStream=\nListenStream=127.0.0.1:8181\n")
        self.systemctl("stop", "coffer")
        self.systemctl("start", "coffer")
        check("the socket's address is the server's",
              self.shows("StatusText") == "Serving http://127.0.0.1:8181", self.shows("StatusText"))
        shutil.rmtree(folder)
        self.systemctl("daemon-reload")
        self.systemctl("mask", "--now", "coffer.socket")
        settings = self.root.path / "etc/coffer/coffer.toml"
        good = settings.read_text()
        settings.write_text(good + 'listen_http = "127.0.0.1:8282"\n')
        self.systemctl("restart", "coffer")
        check("without the socket it is that of the settings",
              self.shows("StatusText") == "Serving http://127.0.0.1:8282", self.shows("StatusText"))
        settings.write_text(good)
        self.systemctl("unmask", "coffer.socket")
        self.systemctl("stop", "coffer")
        self.systemctl("start", "coffer")
        check("and as before again", self.shows("ActiveState", "coffer.socket") == "active"
              and self.shows("StatusText") == "Serving http://127.0.0.1:8080")

    def stop_under_load(self):
        """The control of the next step: a stop that is none of a restart is noticed by the clients."""
        crowd = Crowd(self.shop)
        time.sleep(1)
        self.systemctl("stop", "coffer")
        time.sleep(0.5)
        self.systemctl("start", "coffer")
        crowd.stop()
        check(f"clients notice {len(crowd.trouble)} refused connections when the socket is closed",
              crowd.trouble and all("refused" in one for one in crowd.trouble), crowd.trouble[:3])

    def upgrade_under_load(self):
        crowd = Crowd(self.shop)
        time.sleep(1)
        done = self.dpkg("--install", self.new)
        time.sleep(1)
        crowd.stop()
        check("an upgrade says where its backup is", "backup before the upgrade" in done.stdout + done.stderr,
              done.stderr)
        check(f"no connection was refused in {len(crowd.paid)} payments ({crowd.cut} sent again)",
              not crowd.trouble and len(crowd.paid) > 20, crowd.trouble[:3])
        self.backups = sorted((self.data / "backups").glob(f"before-{self.new_version}-*.db"))
        check("there is one backup", len(self.backups) == 1, self.backups)
        connection = self.shop.login()
        lost = [name for name in crowd.paid if self.shop.status_of(connection, name) != "succeeded"]
        check("no payment is lost", not lost, lost[:3])
        self.shop.pay(connection, "after-upgrade")
        self.until("pays after it", lambda: self.shop.status_of(connection, "after-upgrade") == "succeeded")
        self.balance = self.shop.balance(connection)
        check("the file proves", self.coffer("verify").returncode == 0)

    def refuse_a_downgrade(self):
        done = self.dpkg("--install", self.old, works=False)
        check("an older package does not go over a newer file",
              done.returncode != 0 and "coffer restore" in done.stderr, done.stderr)
        status = self.dpkg("--status", "coffer").stdout
        check("and changes nothing", f"Version: {self.new_version}\n" in status
              and "Status: install ok installed" in status, status)
        check("the server goes on", self.shop.balance(self.shop.login()) == self.balance)

    def go_back(self):
        """docs/install.md, "Going back"."""
        self.systemctl("stop", "coffer")
        newer = self.data / "newer"
        newer.mkdir(0o700)
        for path in self.data.glob("coffer.db*"):
            path.rename(newer / path.name)
        schemas = schema_of(self.backups[0]), schema_of(newer / "coffer.db")
        check(f"the backup was made before the schema changed ({schemas[0]} -> {schemas[1]})",
              schemas[0] < schemas[1])
        self.dpkg("--install", self.old)
        self.systemctl("stop", "coffer")
        for path in self.data.glob("coffer.db*"):
            path.unlink()
        backup = "/" + str(self.backups[0].relative_to(self.root.path))
        done = self.coffer("restore", backup, as_user=True)
        check("restores as the service's user", done.returncode == 0, done.stderr)
        self.systemctl("start", "coffer")
        connection = self.shop.login()
        check("the old version serves what was there before the upgrade",
              self.shop.status_of(connection, "before-upgrade") == "succeeded")
        check("and not what came after", self.shop.status_of(connection, "after-upgrade") is None)
        self.shop.pay(connection, "after-upgrade")
        check("which a client may send again", self.shop.status_of(connection, "after-upgrade") is not None)
        check("the newer file is kept", schema_of(newer / "coffer.db") == schemas[1])

    def remove_and_purge(self):
        self.dpkg("--remove", "coffer")
        check("removed, it does not run", self.shows("ActiveState") != "active"
              and self.shows("ActiveState", "coffer.socket") != "active")
        check("removing keeps ledger and settings", (self.data / "coffer.db").is_file()
              and (self.root.path / "etc/coffer/coffer.toml").is_file())
        self.dpkg("--install", self.new)
        check("installed again it has the ledger",
              self.shop.status_of(self.shop.login(), "before-upgrade") == "succeeded")
        self.dpkg("--purge", "coffer")
        key = self.root.path / "etc/credstore/coffer.master_key"
        check("purging without an answer keeps the ledger and its key",
              (self.data / "coffer.db").is_file() and key.is_file())
        self.dpkg("--install", self.new)
        said = self.root.run("debconf-set-selections", stdin="coffer coffer/purge-data boolean true\n")
        check("the answer can be given before", said.returncode == 0, said.stderr)
        self.dpkg("--purge", "coffer")
        (self.root.path / "etc/credstore").rmdir()
        left = sorted(path for path in self.root.files() - self.before if not NOT_OURS.match(path))
        check("purged with yes, no file is left", not left, left)


def main(old, new):
    roots.alone()
    with tempfile.TemporaryDirectory() as folder:
        root = roots.Root("bookworm", folder).boot()
        try:
            life = Life(root, old, new)
            life.install()
            life.run_and_pay()
            life.hold_the_key_apart()
            life.survive()
            life.listen_elsewhere()
            life.stop_under_load()
            life.upgrade_under_load()
            life.refuse_a_downgrade()
            life.go_back()
            life.remove_and_purge()
        finally:
            root.halt()
    print(f"{checks} checks")


main(*sys.argv[1:])
