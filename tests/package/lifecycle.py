#!/usr/bin/env -S PYTHONPATH=tests python3 -B
# ctest: cost=150
"""The life cycle of an installation in a clean Debian root with its own systemd, by the documents: install, configure,
pay, TLS, upgrade to a version with another schema while clients pay, pay, a rejected downgrade, return by restore,
remove, reinstall, purge with both answers. No file is left behind and no payment lost. All commands come from the
documents.

    tests/package/lifecycle.py [OLD.deb NEW.deb]

Without names, builds the packages from the release binary, and from one with one more schema upgrade.
"""

import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import time

import roots
from harness.calls import Connection
from harness.machine import ROOT, SKIPPED, binary, skip
from harness.report import COUNTED, check
from harness.server import Elsewhere
from harness.tenant import Tenant
from bare_tls import bare_tls
from host import Host
from interop import documents
from shop import Newcomers

DATA = "var/lib/coffer"
NEXT_VERSION = "99.0.0"
INSTALL, OPERATING = "docs/install.md", "docs/operating.md"
# Files of apt, dpkg, debconf, systemd and the user database, and their logs.
NOT_OURS = re.compile(
    r"^(var/lib/(apt|dpkg)/|var/backups/|var/cache/(apt|debconf)/|var/log/|var/cache/ldconfig|var/lib/systemd/|var/tmp/"
    r"|etc/(passwd|group|shadow|gshadow|subuid|subgid)-?$|etc/\.(pwd\.lock|updated)|etc/(mtab|machine-id)"
    r"|var/lib/private|var/\.updated|var/cache/private|etc/systemd/system/multi-user\.target\.wants$)")


def schema_of(path):
    with open(path, "rb") as file:
        file.seek(60)
        return int.from_bytes(file.read(4), "big")


def refused(host):
    try:
        Connection(host, 8080).call("GET", "/livez")
    except ConnectionError as error:
        return "refused" in str(error)
    return False


class Life(Host):
    def __init__(self, root, old, new):
        super().__init__(root, [pathlib.Path(deb).name.split("_")[1] for deb in (old, new)])
        root.bring(old)
        root.bring(new)
        # The README builds the package on the same machine; here it was built outside.
        self.path("root/build/package").mkdir(parents=True)
        root.bring(old, "/root/build/package")
        self.path("root/dev").write_text('#!/bin/sh\ntest "$1" = package\n')
        self.path("root/dev").chmod(0o755)
        self.data = self.path(DATA)
        self.settings = self.path("etc/coffer/coffer.toml")
        self.before = root.files()

    def coffer(self, *arguments):
        return self.root.run("coffer", *arguments)

    def json(self, *arguments):
        done = self.coffer(*arguments, "--json")
        assert done.returncode == 0, (done.args, done.returncode, done.stderr)
        return json.loads(done.stdout)

    def install(self):
        done = self.type(self.says(INSTALL, "apt install ./coffer_0.1.0_amd64.deb"))
        check("installs without a question, and prints the next command",
              "sudo coffer admin link" in done.stdout, done.stdout)
        check("the next command prints a link to the admin page", "#claim=" in done.stdout + done.stderr, done.stdout)
        check("the user exists, and the folders have their modes",
              "_coffer" in self.path("etc/passwd").read_text()
              and self.data.stat().st_mode & 0o777 == 0o700 and self.data.stat().st_uid != 0)
        status = self.root.run("dpkg", "--status", "coffer").stdout
        check("the settings file is a conffile", "/etc/coffer/coffer.toml" in status)
        verified = self.root.run("dpkg", "--verify", "coffer").stdout
        check("every installed file is unchanged", not verified, verified)
        shared = ("man/man1/coffer.1.gz", "man/man1/coffer-serve.1.gz", "bash-completion/completions/coffer",
                  "zsh/vendor-completions/_coffer", "fish/vendor_completions.d/coffer.fish")
        check("manual pages and completions are installed",
              all(self.path("usr/share/" + path).is_file() for path in shared))

    def first_tenant(self):
        """Creates a tenant with credentials, by the documents."""
        create, register = self.says(INSTALL, "coffer association create").splitlines()
        made = re.search(r"[0-9a-f]{8}-[0-9a-f-]{27}", self.type(create).stdout)
        check("a tenant is created", made)
        said = self.type(documents.replaced(register, {"ID": made[0]})).stdout
        check("an application has secrets", "sk_" in said and "ak_" in said, said)
        said = self.type(self.says(documents.README_DEBIAN, "coffer admin link")).stdout
        check("the steps of the package's README show the tenant", "Acme Ltd" in said, said)
        said = self.type(self.says(INSTALL, "journalctl")).stdout
        check("the journal has the log as JSON", '"message":"listening"' in said, said)
        said = self.type(self.says("SECURITY.md", "systemd-analyze security coffer")).stdout
        exposure = re.search(r"exposure level for coffer\.service: ([\d.]+)", said)
        check("the service's exposure is at most 1.4", exposure and float(exposure[1]) <= 1.4, said[-200:])

    def run_and_pay(self):
        check("the service runs after the installation, and reported that it is ready",
              self.shows("ActiveState") == "active"
              and self.shows("Type") == "notify", self.journal())
        check("the status text has the address", self.serves("http://127.0.0.1:8080"), self.shows("StatusText"))
        check("systemd keeps the service's socket", self.shows("NFileDescriptorStore") == "1")
        process = pathlib.Path(f"/proc/{self.inside_pid()}")
        status = dict(line.split(":\t", 1) for line in (process / "status").read_text().splitlines())
        check("the service has no capabilities, no new privileges and a filter", status["CapBnd"] == "0" * 16
              and status["NoNewPrivs"] == "1" and status["Seccomp"] == "2", status)
        self.json("asset", "add", "USDC", "--name", "US dollar")
        self.shop = Tenant.create(Elsewhere("127.0.0.1", 8080, self.json), "shop")
        self.shop.pay("before-upgrade")
        self.until("pays", lambda: self.shop.status_of("before-upgrade") == "succeeded")

    def rotate_the_key(self):
        old = (self.data / "master.key").read_bytes()
        self.type(self.says(OPERATING, "systemctl stop coffer\ncd"))
        check("the service runs with a new master key", (self.data / "master.key").read_bytes() != old
              and self.shop.status_of("before-upgrade", self.shop.login()) == "succeeded")
        self.until("the old master key is kept", lambda: (self.data / "master.key.old").read_bytes() == old)
        owners = {path.stat().st_uid for path in self.data.rglob("*")}
        check("the service's user owns every file", owners == {self.data.stat().st_uid}, owners)

    def hold_the_key_apart(self):
        stop, start = (self.says(INSTALL, "systemctl " + word, documents.INLINE)
                       for word in ("stop", "start"))
        self.type(stop)
        check("stopping the service closes its socket", refused("127.0.0.1"))
        said = self.type(self.says(INSTALL, "runuser -u _coffer -- coffer verify")).stdout
        check("with the server stopped, its user can verify the file", said)
        commands = self.says(INSTALL, "install -d -m 0700 /etc/credstore")
        check("the package's README has the same command for the key",
              commands == self.says(documents.README_DEBIAN, "install -d -m 0700 /etc/credstore"))
        self.type(commands)
        self.type(start)
        check("the service runs with the master key from a credential",
              self.shop.status_of("before-upgrade", self.shop.login()) == "succeeded")
        check("the service creates no other master key", not (self.data / "master.key").exists())

    def survive(self):
        """A hanging process, a killed process, and settings that a restart does not fix."""
        folder = self.drop_in("coffer.service", "[Service]\nWatchdogSec=5s\nTimeoutAbortSec=1s\n")
        self.systemctl("restart", "coffer")
        time.sleep(6)
        check("watchdog signals keep the service running", self.shows("NRestarts") == "0", self.journal())
        self.root.run("systemctl", "kill", "--signal=STOP", "coffer")
        self.until("a hanging process is killed and restarted",
                   lambda: int(self.shows("NRestarts")) >= 1 and self.shows("ActiveState") == "active", 60)
        shutil.rmtree(folder)
        self.systemctl("daemon-reload")
        self.systemctl("restart", "coffer")
        self.root.run("systemctl", "kill", "--signal=KILL", "coffer")
        self.until("a killed process is restarted",
                   lambda: self.shows("NRestarts") == "1" and self.shows("ActiveState") == "active", 30)
        good = self.settings.read_text()
        self.settings.write_text(good + 'listen_htp = "127.0.0.1:9090"\n')
        self.type(self.says(INSTALL, "systemctl restart coffer"), works=False)
        self.until("with invalid settings, the service is not restarted",
                   lambda: self.shows("ActiveState") == "failed" and self.shows("ExecMainStatus") == "78")
        check("the journal says what to do", "did you mean listen_http?" in self.journal(), self.journal())
        self.settings.write_text(good)
        self.systemctl("reset-failed", "coffer.service")
        self.systemctl("start", "coffer")
        check("mended, it serves", self.shop.status_of("before-upgrade", self.shop.login()) == "succeeded")

    def listen_elsewhere(self):
        good = self.settings.read_text()
        self.settings.write_text(good + self.says(INSTALL, "listen_http"))
        self.systemctl("restart", "coffer")
        status, _ = Connection("127.0.0.2", 8080).call("GET", "/livez")
        check("the server listens on the address of the settings, which contains the one before", status == 200)
        self.low_port(good)
        self.settings.write_text(good)
        self.systemctl("restart", "coffer")
        check("and again on the default one", self.serves("http://127.0.0.1:8080"), self.shows("StatusText"))
        check("the socket of the other address is closed", refused("127.0.0.2"))

    def low_port(self, good):
        """The drop-in from the package's README."""
        shown = re.search(r"drop-in \(systemctl edit coffer\): (.*?)\. ", " ".join(
            documents.read(documents.README_DEBIAN).split()))
        folder = self.drop_in("coffer.service", "[Service]\n" + "\n".join(shown[1].split(", ")) + "\n")
        self.settings.write_text(good + 'listen_http = "127.0.0.1:443"\n')
        self.systemctl("restart", "coffer")
        check("the documented drop-in allows a low port", self.serves("http://127.0.0.1:443"),
              self.shows("StatusText"))
        shutil.rmtree(folder)
        self.systemctl("daemon-reload")

    def restart_under_load(self):
        self.systemctl("reset-failed", "coffer")  # forgets the many starts of this test
        crowd = Newcomers(self.shop, 20)
        for _ in range(3):
            time.sleep(1)
            self.systemctl("restart", "coffer")
        time.sleep(1)
        crowd.stop()
        check(f"with {self.systemd()}, three restarts beside 20 clients lose none of {len(crowd.paid)} requests",
              not crowd.trouble and crowd.cut == 0 and len(crowd.paid) > 40, (crowd.cut, crowd.trouble[:3]))

    def systemd(self):
        return " ".join(self.root.run("systemctl", "--version").stdout.split()[:2])

    def stop_under_load(self):
        """Control of the next step: clients detect a stop without a restart."""
        crowd = Newcomers(self.shop)
        time.sleep(1)
        self.systemctl("stop", "coffer")
        time.sleep(0.5)
        self.systemctl("start", "coffer")
        crowd.stop()
        check(f"clients detect {len(crowd.trouble)} refused connections when the socket is closed",
              crowd.trouble and all("refused" in one for one in crowd.trouble), crowd.trouble[:3])

    def upgrade_under_load(self):
        crowd = Newcomers(self.shop)
        time.sleep(1)
        done = self.type(self.says(INSTALL, "apt install ./coffer_0.2.0_amd64.deb"))
        time.sleep(1)
        crowd.stop()
        check("an upgrade prints the path of its backup", "backup before the upgrade" in done.stdout + done.stderr,
              done.stderr)
        check(f"no connection was refused in {len(crowd.paid)} payments ({crowd.cut} retried)",
              not crowd.trouble and len(crowd.paid) > 20, crowd.trouble[:3])
        self.backups = sorted((self.data / "backups").glob(f"before-{self.new_version}-*.db"))
        check("there is one backup", len(self.backups) == 1, self.backups)
        connection = self.shop.login()
        self.until("no payment is lost", lambda: all(self.shop.status_of(name, connection) == "succeeded"
                                                     for name in crowd.paid), 60)
        self.shop.pay("after-upgrade", connection=connection)
        self.until("payments succeed after the upgrade",
                   lambda: self.shop.status_of("after-upgrade", connection) == "succeeded")
        self.balance = self.shop.balance(self.shop.wallets[1])
        check("the file verifies", self.coffer("verify").returncode == 0)

    def find_the_ledger(self):
        """However the settings spell the path of the ledger, an upgrade makes its backup."""
        moved = "/var/lib/coffer/moved/coffer.db"
        self.type(f"install -d -o _coffer -g _coffer -m 700 {moved.rpartition('/')[0]}\n"
                  f"runuser -u _coffer -- coffer init --db {moved}\n"
                  f"dpkg-deb --control coffer_{self.new_version}_*.deb control")
        good = self.settings.read_text()
        rest = re.sub(r"(?m)^db = .*\n", "", good)
        backups = self.path(moved).parent / "backups"
        for spelled in (f'db = "{moved}"', f"db = '{moved}'", f'"db" = "{moved}" # here', f"'db'='{moved}'",
                        f'db = """\n{moved}"""', f"  db\t=\t'''{moved}'''", f'db = "\\u002f{moved[1:]}"',
                        f'db = "../..{moved}"'):
            self.settings.write_text(spelled + "\n" + rest)
            done = self.root.run("sh", "/root/control/preinst", "upgrade", self.old_version)
            check(f"an upgrade makes a backup with {spelled!r}", done.returncode == 0
                  and len(list(backups.glob("before-*.db"))) == 1, done.stdout + done.stderr)
            shutil.rmtree(backups)
        self.settings.write_text("db = \n" + rest)
        done = self.root.run("sh", "/root/control/preinst", "upgrade", self.old_version)
        check("settings that cannot be read stop the upgrade, which says why",
              done.returncode != 0 and "there is no backup" in done.stderr, done.stdout + done.stderr)
        self.settings.write_text(good)

    def reject_a_downgrade(self, apt_install):
        done = self.type(apt_install, works=False)
        check("an older package cannot be installed over a newer file",
              done.returncode != 0 and "coffer restore" in done.stdout + done.stderr, done.stderr)
        status = self.root.run("dpkg", "--status", "coffer").stdout
        check("the rejected downgrade changes nothing", f"Version: {self.new_version}\n" in status
              and "Status: install ok installed" in status, status)
        check("the server keeps running", self.shop.balance(self.shop.wallets[1]) == self.balance)

    def go_back(self):
        backup = re.search(r"before-.*-(\w+)\.db", self.backups[0].name)[1]
        commands = self.says(INSTALL, "systemctl stop coffer\nmkdir", TIME=backup)
        self.reject_a_downgrade(next(line for line in commands.splitlines() if "--allow-downgrades" in line))
        self.type(commands)
        newer = self.data / "newer"
        schemas = schema_of(self.backups[0]), schema_of(newer / "coffer.db")
        check(f"the backup is from before the schema upgrade ({schemas[0]} -> {schemas[1]}), and the newer file"
              " is kept", schemas[0] < schemas[1])
        connection = self.shop.login()
        check("the old version has the payments from before the upgrade",
              self.shop.status_of("before-upgrade", connection) == "succeeded")
        check("the old version lacks later payments", self.shop.status_of("after-upgrade", connection) is None)
        self.shop.pay("after-upgrade", connection=connection)
        check("a client can retry a later payment", self.shop.status_of("after-upgrade", connection) is not None)

    def remove_and_purge(self):
        remove, purge = self.says(INSTALL, "apt remove coffer").splitlines()
        self.type(remove)
        check("after removal, the service does not run", self.shows("ActiveState") != "active")
        check("removal keeps the ledger and the settings", (self.data / "coffer.db").is_file()
              and self.settings.is_file())
        said = self.type(self.says("README.md", "./dev package"))
        check("after a reinstallation by the README, the ledger exists, and there is a link to the admin page",
              self.shop.status_of("before-upgrade", self.shop.login()) == "succeeded"
              and "#claim=" in said.stdout + said.stderr)
        self.type(purge)
        check("purging without an answer keeps the ledger and its key", (self.data / "coffer.db").is_file()
              and self.path("etc/credstore/coffer.master_key").is_file())
        self.type(f"apt install ./coffer_{self.new_version}_*.deb")
        self.type(self.says(INSTALL, "echo coffer"))
        self.type(purge)
        self.path("etc/credstore").rmdir()
        left = sorted(path for path in self.root.files() - self.before if not NOT_OURS.match(path))
        check("after a purge with yes, no file is left", not left, left)


def make_packages(folder):
    """Builds the package by the README from the existing build, and one with one more schema upgrade. Builds both, and
    the root for the installation, in parallel."""
    for tool in ("debootstrap", "dh", "help2man", "lintian", "unshare", "ip", "systemd-analyze"):
        if not shutil.which(tool):
            skip(f"{tool} is not installed")
    programs = os.path.join(folder, "bin")
    os.mkdir(programs)
    with open(os.path.join(programs, "cmake"), "w", encoding="ascii") as file:
        file.write("#!/bin/sh\n")
    os.chmod(file.name, 0o755)
    kept = os.path.join(ROOT, "build", "package")
    jobs = [subprocess.Popen(command, cwd=ROOT, env={**os.environ, **more}) for command, more in (
        ([sys.executable, "-B", "tests/package/roots.py", "bookworm", "trixie"], {}),
        (["packaging/deb.sh"], {"COFFER_PACKAGE_OUT": folder, "COFFER_PACKAGE_BIN": binary("next"),
                                "COFFER_PACKAGE_VERSION": NEXT_VERSION, "COFFER_PACKAGE_ROUGH": "yes"}),
        (["./dev", "package"], {"PATH": programs + ":" + os.environ["PATH"], "COFFER_PACKAGE_BIN": binary()}))]
    codes = [job.wait() for job in jobs]
    if SKIPPED in codes:
        sys.exit(SKIPPED)
    check("the packages are built", codes == [0, 0, 0], codes)
    return [str(one) for place in (kept, folder) for one in pathlib.Path(place).glob("coffer_*.deb")]


def main(*packages):
    if os.geteuid() != 0:
        skip("not root")
    if not packages:
        with tempfile.TemporaryDirectory() as folder:
            sys.exit(subprocess.run([sys.executable, "-B", *sys.argv, *make_packages(folder)], check=False).returncode)
    live(*packages)


def live(old, new):
    """On the release before this one everything; on this one, what depends on the version of systemd."""
    roots.alone("bookworm", "trixie")
    for release in ("trixie", "bookworm"):
        with roots.memory() as folder:
            root = roots.Root(release, folder).boot()
            try:
                life = Life(root, old, new)
                life.install()
                life.first_tenant()
                life.run_and_pay()
                if release == "bookworm":
                    life.rotate_the_key()
                    life.hold_the_key_apart()
                life.survive()
                life.listen_elsewhere()
                bare_tls(life)
                life.restart_under_load()
                life.stop_under_load()
                life.upgrade_under_load()
                if release == "trixie":
                    life.find_the_ledger()
                else:
                    life.go_back()
                    life.remove_and_purge()
                    life.mine.end()
            finally:
                root.halt()
    print(f"{COUNTED['checks']} checks")


main(*sys.argv[1:])
