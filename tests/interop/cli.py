#!/usr/bin/env -S PYTHONPATH=tests python3 -B
# ctest: timeout=900 cost=40
"""The command line as a process, once with the sanitizer build and once with the release build: exit codes, private
files, the demo started, stopped and killed by scripts, commands during a running server, and TLS. tests/unit/cli tests
what commands do with their arguments; terminals.py tests terminals and pipes."""

import json
import os
import re
import shutil
import signal
import stat
import subprocess
import tempfile

import documents
from harness.calls import UNKNOWN_ID, fetch
from harness.machine import ROOT, binary, binary_path
from harness.report import check, wait_for
from harness.server import Demo
from harness.tenant import Tenant
from harness.tls import certificate, trusting
from stopped_files import held_by_a_command, missing, without_room

WAIT_S = 60.0
DEMO_MEMBERS = ("baseUrl adminUrl adminUser adminPassword associationId applicationId clientId clientSecret apiKey"
                " connectSecret publicKey secretSeed signInSecret wallets beneficiaries connectors").split()
SECRETS = ("clientSecret", "apiKey", "secretSeed")
# Options of doctor that make its checks independent of this machine.
FREE = ("--listen-http", "127.0.0.1:0", "--admin-listen", "127.0.0.1:0", "--resolve", "localhost")
MISTYPED = {"COFFER_FOUREYES": "all"}


def mode_of(path):
    return stat.S_IMODE(os.stat(path).st_mode)


class Cli:
    """One binary with a separate folder and home."""

    def __init__(self, program, folder):
        self.program, self.folder = program, folder
        self.home = {"HOME": self.path("home"), "XDG_DATA_HOME": "", "XDG_CONFIG_HOME": ""}

    def path(self, *names):
        return os.path.join(self.folder, *names)

    def exits(self, code, what, *words, env=None, wrapper=()):
        """Runs a command, which must exit with this code, and returns the finished process."""
        done = subprocess.run([*wrapper, self.program, *words], stdin=subprocess.DEVNULL, capture_output=True,
                              env={**os.environ, **self.home, **(env or {})}, timeout=WAIT_S, check=False)
        done.stdout, done.stderr = done.stdout.decode(errors="replace"), done.stderr.decode(errors="replace")
        check(f"{what} (exit {code})", done.returncode == code, (done.returncode, done.stdout, done.stderr))
        return done

    def says(self, code, what, pattern, *words, **more):
        """The command must exit with this code and print one error that contains the text."""
        done = self.exits(code, what, *words, **more)
        check(f"says {pattern!r}", re.search(pattern, done.stderr), done.stderr)
        return done

    def demo(self, *names, options=()):
        os.makedirs(self.path(*names[:-1]), exist_ok=True)
        return Demo(self.program, self.path(*names[:-1]), names[-1], options=options)


# --- Usage, and files that are not being served ---------------------------------------------------------------------------


def usage(cli):
    none = cli.path("no.db")
    done = cli.says(2, "no arguments", "Usage")
    check("an error is not on standard output", not done.stdout)
    check("--help is on standard output", "Usage" in cli.exits(0, "--help", "--help").stdout)
    check("--version is one line", cli.exits(0, "--version", "--version").stdout.count("\n") == 1)
    version = json.loads(cli.exits(0, "version --json", "version", "--json").stdout)
    check("names SQLite", version["sqlite"].startswith("3."), version)
    check("openapi prints JSON", json.loads(cli.exits(0, "openapi", "openapi").stdout)["openapi"])
    cli.says(2, "an unknown command", "--help", "frobnicate")
    cli.exits(2, "bytes that are not UTF-8", "association", "create", b"\xff\xfe", "--db", none)
    done = cli.exits(2, "an escape sequence", "association", "create", "\x1b[2J", "--db", none)
    check("the error contains no escape sequence", "\x1b" not in done.stderr, done.stderr)
    cli.exits(2, "an invalid port", "demo", "--port", "70000", "--db", none)
    cli.exits(2, "two options for the address", "demo", "--port", "0", "--listen-http", "127.0.0.1:0", "--db", none)
    cli.exits(78, "an invalid environment variable", "serve", "--db", none, env={"COFFER_WORKERS": "many"})
    check("none of these commands creates a file", not os.listdir(cli.folder), os.listdir(cli.folder))


def stopped_file(cli):
    db = cli.path("data", "own.db")
    cli.says(1, "a command on a missing file", "coffer init", "association", "list", "--db", db)
    check("a command does not create a missing file", not os.path.exists(cli.path("data")))
    cli.exits(0, "init", "init", "--db", db)
    modes = [mode_of(path) for path in (cli.path("data"), db, cli.path("data", "master.key"))]
    check("folder, file and master key are private", modes == [0o700, 0o600, 0o600], modes)
    cli.exits(73, "init again", "init", "--db", db)
    with open(cli.path("latin.json"), "wb") as file:
        file.write(b'{\n "association": "M\xfcller"}')
    cli.says(2, "a file that is not UTF-8", "not UTF-8 in line 2", "apply", cli.path("latin.json"), "--db", db)
    os.symlink("own.db", cli.path("data", "link.db"))
    cli.exits(73, "init on a link", "init", "--db", cli.path("data", "link.db"))
    made = cli.exits(0, "a name with umlauts and &", "association", "create", "Müller & Söhne", "--json", "--db", db)
    check("the name is stored unchanged", json.loads(made.stdout)["name"] == "Müller & Söhne", made.stdout)
    cli.exits(2, "an invalid ID", "association", "suspend", "abc", "--db", db)
    cli.exits(0, "verify", "verify", "--db", db)
    without_room(cli, db)
    missing(cli)
    held_by_a_command(cli, db)
    without_key(cli, db)
    doctor(cli, db)
    older_file(cli)


def without_key(cli, db):
    """verify without a master key checks the structure; with the key next to a copy, everything."""
    copy, key = cli.path("copy", "own.db"), cli.path("copy", "master.key")
    os.mkdir(cli.path("copy"), 0o700)
    shutil.copy(db, copy)
    for how in (("--db", copy), (copy,)):
        done = cli.says(0, "verify without a master key", "^$", "verify", "--json", *how)
        found = json.loads(done.stdout)
        check("it checks the structure and says that there is no key", found["ok"] and "structure" in found["checked"]
              and found["masterKey"].startswith("none: ") and "not found" in found["masterKey"], found)
    cli.exits(78, "another command without the master key", "association", "list", "--db", copy)
    check("it creates no key", not os.path.exists(key))
    shutil.copy(cli.path("data", "master.key"), key)
    for how in (("--db", copy), (copy,)):
        found = json.loads(cli.exits(0, "verify with the key next to the file", "verify", "--json", *how).stdout)
        check("it checks everything with this key", found["checked"] == "all invariants hold"
              and found["masterKey"] == key, found)
    with open(key, "w", encoding="ascii") as file:
        file.write("1" * 64 + "\n")
    found = json.loads(cli.exits(0, "verify with another key", "verify", "--json", copy).stdout)
    check("it says that the key is another one", "structure" in found["checked"]
          and found["masterKey"] == f"none: {key} is not the key of this file", found)
    with open(copy, "w", encoding="ascii") as file:
        file.write("no database")
    found = json.loads(cli.exits(3, "verify with another file", "verify", "--json", copy).stdout)
    check("it does not say that anything was checked", not found["ok"] and "checked" not in found
          and "is not a database" in found["masterKey"], found)


def older_file(cli):
    """serve on a copy that is older than the checkpoint: a restart does not help, so the exit code tells systemd not to
    restart."""
    db, old, points = cli.path("c", "now.db"), cli.path("c", "old.db"), cli.path("checkpoints")
    cli.exits(0, "init", "init", "--db", db)
    shutil.copy(db, old)
    cli.exits(0, "an audit entry", "association", "create", "Acme", "--db", db)
    with open(points, "w", encoding="ascii") as file:
        file.write(json.loads(cli.exits(0, "checkpoint", "checkpoint", "--json", "--db", db).stdout)["checkpoint"] + "\n")
    serve = ("serve", "--checkpoint", points, "--listen-http", "127.0.0.1:0", "--admin-off", "--db", old)
    done = cli.says(3, "serve on an older file", "is not the file of", *serve, env=MISTYPED)
    check("the log names a mistyped variable and the setting", "COFFER_FOUREYES" in done.stderr
          and "Did you mean COFFER_FOUR_EYES?" in done.stderr, done.stderr)
    cli.exits(3, "verify agrees", "verify", "--checkpoint", points, "--db", old)
    with open(os.path.join(ROOT, "packaging", "debian", "coffer.service"), encoding="ascii") as file:
        unit = re.search("^RestartPreventExitStatus=(.*)$", file.read(), re.M)
    check("systemd does not restart for these exit codes", unit and unit[1].split() == ["2", "3", "77", "78"], unit)
    done = cli.exits(0, "key rotate", "key", "rotate", "--new-key-file", cli.path("next.key"), "--db", db)
    check("the output names serve with the same file",
          done.stderr.rstrip().endswith(f"coffer serve --db {db}"), done.stderr)


def doctor(cli, db):
    """doctor works whatever is wrong."""
    done = cli.says(0, "doctor on a good file", "0 failed checks", "doctor", "--db", db, *FREE)
    check("doctor prints a table", re.search("^CHECK  *RESULT  *FOUND", done.stdout, re.M), done.stdout)
    done = cli.exits(0, "doctor --json", "doctor", "--json", "--db", db, *FREE)
    rows = json.loads(done.stdout)
    check("doctor prints nothing else, and a remedy for each finding that is not ok", len(rows) > 8 and not done.stderr
          and all(row["check"] and row["found"] and (row["result"] == "ok") == (row["remedy"] is None) for row in rows), rows)
    done = cli.exits(0, "doctor with a mistyped variable", "doctor", "--db", db, *FREE, env=MISTYPED)
    check("doctor names the variable and the setting", "Did you mean COFFER_FOUR_EYES?" in done.stdout, done.stdout)
    done = cli.exits(3, "doctor with a broken configuration", "doctor", "--db", db, *FREE,
                     env={"COFFER_WORKERS": "many"})
    check("doctor names the invalid setting and continues", "COFFER_WORKERS" in done.stdout
          and re.search("^database  *ok", done.stdout, re.M), done.stdout)


def bad_files(cli):
    with open(cli.path("text.db"), "w", encoding="ascii") as file:
        file.write("this is no database, whatever its name says: " + "0" * 1000)
    cli.exits(74, "a file that is not a database", "association", "list", "--db", cli.path("text.db"))
    cli.exits(0, "init", "init", "--db", cli.path("torn.db"))
    with open(cli.path("torn.db"), "r+b") as file:
        file.seek(4096)
        file.write(os.urandom(3 * 4096))
    cli.exits(74, "a torn file", "verify", "--db", cli.path("torn.db"))
    cli.exits(0, "init", "init", "--db", cli.path("k", "keyless.db"))
    with open(cli.path("k", "master.key"), "w", encoding="ascii") as file:
        file.write("0" * 64 + "\n")
    cli.exits(78, "another master key", "association", "list", "--db", cli.path("k", "keyless.db"))
    own = cli.path("data", "own.db")
    with open(cli.path("empty.json"), "w", encoding="ascii"):
        pass
    cli.says(2, "fixtures that are empty", "the file is empty", "apply", cli.path("empty.json"), "--db", own)
    cli.says(77, "a folder as the master key", "data is not used: it is not a regular file", "association", "list", "--db", own,
             "--master-key-file", cli.path("data"))
    done = cli.says(2, "an address of another machine", "Set another HOST:PORT", "serve", "--listen-http",
                    "192.0.2.1:80", "--admin-off", "--db", own)
    check("it does not ask to free it", "Free" not in done.stderr, done.stderr)
    cli.says(1, "a file with other data for a demo", "not a demo file", "demo", "--port", "0", "--db",
             cli.path("data", "own.db"))


def folder_of_another(cli):
    """Needs root, to become another user, and a binary that the other user can run."""
    stranger = ("setpriv", "--reuid=65534", "--regid=65534", "--clear-groups")
    if os.geteuid() != 0 or subprocess.run([*stranger, cli.program, "--version"], capture_output=True,
                                           check=False).returncode != 0:
        print("         skipped: a folder of another user")
        return
    os.mkdir(cli.path("closed"), 0o755)
    os.chmod(cli.folder, 0o755)
    file = cli.path("closed", "new.db")
    cli.exits(0, "init", "init", "--db", cli.path("closed", "private.db"))
    os.mkdir(cli.path("open"), 0o777)
    os.chmod(cli.path("open"), 0o777)
    shutil.copy(cli.path("closed", "private.db"), cli.path("open", "private.db"))
    os.chmod(cli.path("open", "private.db"), 0o600)
    private, other = cli.path("open", "private.db"), cli.path("open", "other.db")
    for words in (("verify", private), ("restore", private, "--db", other), ("association", "list", "--db", private)):
        cli.says(77, f"{words[0]} on a file that cannot be read", "cannot open .*private.db: Permission denied", *words,
                 wrapper=stranger)
    cli.exits(77, "init in a folder of another user", "init", "--db", file, wrapper=stranger)
    cli.says(77, "a demo in a folder of another user", "closed", "demo", "--port", "0", "--db", file, wrapper=stranger)


def simulated_provider(cli):
    """The simulator is a separate program in coffer's folder. crash/provider_chaos.py and others test its behaviour."""
    run = ("provider-sim", "--listen", "127.0.0.1:0")
    cli.says(2, "a simulated provider without a secret", "COFFER_PROVIDER_SECRET", *run,
             env={"COFFER_PROVIDER_SECRET": ""})
    cli.says(2, "a simulated provider with an invalid option", "delay-ms", *run, "--secret", "s", "--delay-ms", "soon")
    cli.says(2, "a simulated provider with an unknown fault",
             "is not known", *run, "--secret", "s", "--faults", "sleepy=1")
    os.mkdir(cli.path("alone"))
    alone = Cli(shutil.copy(cli.program, cli.path("alone", "coffer")), cli.path("alone"))
    alone.says(1, "a simulated provider without its program", "Install it next to coffer", *run, "--secret", "s")


# --- The demo -----------------------------------------------------------------------------------------------------


def opens(demo):
    """Whether the demo's secrets match its file."""
    return demo.login().call("GET", "/v1/wallets")


def demo_of_a_person(cli):
    demo = cli.demo("demo", "demo.db").start()
    check("the JSON has exactly the documented members", list(demo.facts) == DEMO_MEMBERS, list(demo.facts))
    check("two own USDC wallets come first", [one["assetCode"] for one in demo.facts["wallets"][:2]] == ["USDC"] * 2)
    check("the secrets are private", mode_of(demo.db + ".demo.json") == 0o600)
    status, wallets = opens(demo)
    check("the secrets work, and the first wallet has a million", status == 200 and any(
        balance["balance"] == "1000000.00" for row in wallets["data"] for balance in row["balances"]), wallets)
    cli.exits(75, "a second demo on the file", "demo", "--port", "0", "--db", demo.db)
    os.symlink("demo.db", cli.path("demo", "link.db"))
    cli.exits(75, "a second demo on a link to the file", "demo", "--port", "0", "--db", cli.path("demo", "link.db"))
    address = f"127.0.0.1:{demo.port}"
    cli.says(75, "a port in use", address, "demo", "--port", str(demo.port), "--db", cli.path("other", "demo.db"))
    beside_a_server(cli, demo, address)
    rotated_behind_its_back = demo.facts
    os.kill(demo.server_pid(), signal.SIGTERM)
    rest = demo.process.stdout.read()
    check("after SIGTERM, the demo exits with 0", demo.wait(WAIT_S) == 0)
    check("standard output has only the JSON", not rest, rest)
    check("the demo removes its socket", not os.path.exists(demo.db + ".sock"))
    cli.exits(69, "healthcheck of a stopped server", "healthcheck", "--url", f"http://{address}/livez")
    cli.exits(0, "the file verifies", "verify", "--db", demo.db)
    started_again(cli, demo, rotated_behind_its_back)


def beside_a_server(cli, demo, address):
    """Commands on a served file run in the server and take effect immediately."""
    db, tenant = demo.db, Tenant.of_demo(demo)
    check("association list in the running server", any(row["name"] == "Demo Ltd" for row in demo.command(
        "association", "list")))
    check("verify in the running server", demo.command("verify")["ok"] is True)
    check("the socket is private", mode_of(db + ".sock") == 0o600)
    cli.says(1, "the server reports a missing wallet", "wallet was not found", "wallet", "verify", UNKNOWN_ID,
             "--db", db)
    cli.says(2, "an option of the simulator that is no number",
             'coffer-provider-sim: --delay-ms "x" must be a whole number from 0 to 600000; see coffer-provider-sim --help',
             "provider-sim", "--secret", "x", "--delay-ms", "x")
    cli.says(2, "an event type with a typo", 'did you mean "payment.succeeded"', "trigger", "payment.suceeded",
             "--db", db)
    application, headers = demo.facts["applicationId"], tenant.login().headers
    for command, wanted in (("suspend", 401), ("resume", 200), ("rotate", 401)):
        cli.exits(0, f"application {command}", "application", command, application, "--db", db)
        if command == "resume":
            headers = tenant.login().headers
        connection = demo.connect()
        connection.headers = headers
        check(f"the command takes effect immediately: calls get {wanted}",
              connection.call("GET", "/v1/wallets")[0] == wanted)
    status, _ = demo.connect().call("POST", "/v1/auth/token", {
        "clientId": demo.facts["clientId"], "clientSecret": demo.facts["clientSecret"]})
    check("rotation invalidates the old secret", status == 401)
    cli.exits(0, "healthcheck", "healthcheck", "--url", f"http://{address}/livez")
    cli.exits(0, "healthcheck with the server's settings", "healthcheck", "--listen-http", address)
    cli.exits(3, "healthcheck of an unknown path", "healthcheck", "--url", f"http://{address}/nowhere")
    done = cli.exits(0, "doctor with other settings than the server's", "doctor", "--db", db, "--listen-http",
                     "127.0.0.1:1", "--admin-off", "--resolve", "localhost")
    check("doctor finds the server healthy at its address", f"{address} is healthy" in done.stdout, done.stdout)


def started_again(cli, demo, before):
    demo.start()
    check("after a rotation by a command, the demo has new secrets, which work",
          demo.facts["clientSecret"] != before["clientSecret"] and opens(demo)[0] == 200
          and demo.facts["applicationId"] == before["applicationId"])
    before = demo.facts
    demo.kill()
    check("a killed server leaves its socket", stat.S_ISSOCK(os.stat(demo.db + ".sock").st_mode))
    done = cli.exits(0, "a command on the file of a killed server opens it directly",
                     "wallet", "list", "--status", "Verified", "--db",
                     demo.db)
    check("the command finds the wallets", "Treasury" in done.stdout, done.stdout)
    demo.start()
    check("after a restart, the demo has the same secrets and wallets",
          all(demo.facts[name] == before[name] for name in SECRETS)
          and [one["id"] for one in demo.facts["wallets"]] == [one["id"] for one in before["wallets"]])
    demo.process.send_signal(signal.SIGINT)
    check("after SIGINT, the demo exits with 0", demo.wait(WAIT_S) == 0)
    os.remove(demo.db + ".demo.json")
    demo.start()
    check("without its secrets file the demo issues new ones", opens(demo)[0] == 200)
    demo.stop()


def variables_in(path):
    """The variables that a shell reads from a file."""
    said = subprocess.run(["env", "-i", "dash", "-ec", 'set -a; . "$1"; env', "dash", path], capture_output=True, text=True,
                          check=True)
    return dict(line.split("=", 1) for line in said.stdout.splitlines() if not line.startswith("PWD="))


def keys_for_programs(cli):
    """The file of --env, as docs/sandbox.md#keys-for-programs describes it."""
    mine = documents.Mine("interop/cli")
    bare, named = (mine.take("docs/sandbox.md", f"coffer demo --env{end}").split() for end in ("", "=FILE"))
    check("README and sandbox guide show the same option", mine.take("README.md", "./dev demo --env").split()[1:] == bare[1:])
    names = re.findall(r"`([A-Z_]+[A-Z])`", documents.read("docs/sandbox.md").split("## Keys for programs")[1].split("##")[0])
    path = cli.path("keys.env")
    demo = cli.demo("keys", "demo.db", options=(named[-1].replace("FILE", path),)).start()
    found = variables_in(path)
    check("the file has exactly the documented variables", sorted(found) == sorted(names), list(found))
    check("none of them is a setting", not any(name.startswith("COFFER_") for name in names))
    check("the file is private", mode_of(path) == 0o600)
    member = lambda name: re.sub(r"_(\w)", lambda match: match[1].upper(), name.lower())
    check("their values are those of the JSON", all(demo.facts[member(name)] == found[name] for name in names), found)
    demo.stop()
    demo.start()
    check("a restart replaces it", variables_in(path)["BASE_URL"] == demo.facts["baseUrl"])
    demo.stop()
    os.symlink(path, cli.path("link.env"))
    with open(cli.path("own.env"), "w", encoding="utf-8") as own:
        own.write("BASE_URL=mine\n")
    for name in ("link.env", "own.env"):
        cli.says(73, f"a demo does not replace {name}", "not written by coffer demo", "demo", "--port", "0", "--db",
                 cli.path("new", "demo.db"), "--env", cli.path(name))
    check("and creates nothing", not os.path.exists(cli.path("new")) and variables_in(cli.path("own.env")) == {
        "BASE_URL": "mine"} and os.path.islink(cli.path("link.env")))
    os.mkdir(cli.path("here"))
    beside = subprocess.Popen([cli.program, *bare[1:], "--port", "0", "--db", cli.path("keys", "demo.db")],
                              cwd=cli.path("here"), env={**os.environ, **cli.home}, stdout=subprocess.PIPE,
                              stderr=subprocess.DEVNULL)
    wait_for("without a name, it is .env in the current folder", lambda: os.path.exists(cli.path("here", ".env")), WAIT_S)
    check("with the same keys", {**variables_in(cli.path("here", ".env")), "BASE_URL": ""} == {**found, "BASE_URL": ""})
    beside.terminate()
    said = beside.communicate()[0].decode()
    check("the start text names it", re.search(r"(?m)^  env      \.env$", said), said)


def demo_with_history(cli):
    mine = documents.Mine("interop/cli")
    for row in (("README.md", "./dev demo --env"), *(("docs/sandbox.md", "coffer demo --env" + end) for end in ("", "=FILE"))):
        mine.take(*row)  # keys_for_programs() ran them
    shown, again = mine.take("README.md", "./dev demo --seed").split(), mine.take("docs/sandbox.md", "coffer demo").split()
    check("README and sandbox guide show the same command", shown[1:] == again[1:], (shown, again))
    mine.take("docs/install.md", "coffer doctor")  # doctor() ran it
    mine.end()
    number = shown[shown.index("--seed") + 1]
    demo = cli.demo("history", shown[-1], options=("--seed", number)).start(ready_within_s=WAIT_S)
    print(f"         a week of history took {demo.ready_s:.1f} s, including the start of the server")
    payments = demo.login().list_transactions()
    statuses = {row["status"] for row in payments}
    check("a week of succeeded and failed payments",
          len(payments) > 100 and {"succeeded", "failed"} <= statuses, statuses)
    check("verify in the running server", demo.command("verify")["ok"] is True)
    check("the failing endpoint is listed", len(demo.command("webhook", "list")) == 1)
    wait_for("the first scheduled backup is listed", lambda: demo.command("backups", "list"), WAIT_S)
    page = fetch(demo.facts["baseUrl"] + "/").text
    links = set(re.findall(r'href="(/[^"#]*)', page))
    check("the start page links the admin page, the reference and the problems",
          {"/admin/", "/docs", "/problems"} <= links, links)
    for link in sorted(links):
        check(f"{link} exists", fetch(demo.facts["baseUrl"] + link).status == 200)
    demo.stop()
    demo = cli.demo("history", shown[-1], options=("--seed", number)).start(ready_within_s=WAIT_S)
    check("after a restart, the history is unchanged", len(demo.login().list_transactions()) == len(payments))
    demo.stop()
    cli.exits(0, "the file verifies", "verify", "--db", demo.db)


def killed_creation(cli):
    """If a demo is killed while it is being created, the next start succeeds, with secrets that work."""
    for number, delay_s in enumerate((0.01, 0.03, 0.05, 0.08, 0.12, 0.16, 0.2, 0.3, 0.45)):
        demo = cli.demo(f"killed{number}", "demo.db")
        demo.start_and_kill(delay_s)
        demo.start(ready_within_s=WAIT_S)
        check(f"killed after {delay_s} s and restarted: the secrets work, and there are four wallets",
              opens(demo)[0] == 200 and len(demo.facts["wallets"]) == 4)
        demo.stop()
        cli.exits(0, "the file of the killed demo verifies", "verify", "--quick", "--db", demo.db)


# --- TLS ----------------------------------------------------------------------------------------------------------


def over_tls(cli):
    """The three calls of the start text, run unchanged, and a certificate that is replaced."""
    cert, key = certificate(cli.path("tls"), "127.0.0.1")
    log, text = cli.path("tls.log"), cli.path("tls.txt")
    with open(log, "wb") as errors, open(text, "wb") as said:
        server = subprocess.Popen([cli.program, "demo", "--port", "0", "--db", cli.path("text", "demo.db"),
                                   "--tls-cert", cert, "--tls-key", key], stdin=subprocess.DEVNULL, stdout=said, stderr=errors,
                                  env={**os.environ, **cli.home})

    def read(path):
        with open(path, encoding="utf-8") as file:
            return file.read()

    try:
        wait_for("the start text appears", lambda: re.search(r"\n3\. .*\n\n(  .*\n)+\n", read(text)), WAIT_S)
        calls = "".join(re.findall(r"(?m)^  .*\n", read(text)[read(text).index("\n1. "):]))

        def paste():
            return subprocess.run(["bash", "-euc", calls], env={**os.environ, "no_proxy": "*"}, capture_output=True,
                                  text=True, check=True, timeout=WAIT_S).stdout

        check("a payment is accepted", '"status":"accepted"' in paste())
        wait_for("the repeated calls show the payment as settled",
                 lambda: '"status":"succeeded"' in paste(), WAIT_S, 0.2)
        url = re.search(r"https://[0-9.:]*", calls)[0]
        cli.exits(0, "healthcheck over TLS", "healthcheck", "--url", url + "/livez", "--ca-bundle", cert)
        cli.exits(0, "healthcheck with the server's settings for TLS", "healthcheck", "--listen-http",
                  url.removeprefix("https://"), "--tls-cert", cert, "--tls-key", key)
        by_name = ("healthcheck", "--url", url.replace("127.0.0.1", "localhost") + "/livez")
        cli.says(69, "healthcheck without trust", "certificate is not accepted, self-signed.*set --ca-bundle", *by_name)
        cli.says(69, "healthcheck by another name", "mismatch.*Use a host name", *by_name, "--ca-bundle", cert)
        context = trusting(cert)
        with open(cert, "w", encoding="ascii") as file:
            file.write("broken")
        server.send_signal(signal.SIGHUP)
        wait_for("SIGHUP with a broken certificate is logged", lambda: "could not be reloaded" in read(log), 10)
        check("the server keeps running", fetch(url + "/livez", tls=context).status == 200)
    finally:
        server.terminate()
    check("the server exits with 0", server.wait(WAIT_S) == 0)


def run_all(program):
    print(f"         with {program}")
    with tempfile.TemporaryDirectory() as folder:
        cli = Cli(program, folder)
        for part in (usage, stopped_file, bad_files, folder_of_another, simulated_provider, demo_of_a_person,
                     keys_for_programs, demo_with_history, killed_creation, over_tls):
            part(cli)


def main():
    run_all(binary("dev"))
    if os.access(binary_path("release"), os.X_OK):
        run_all(binary())


main()
