#!/usr/bin/env -S PYTHONPATH=tests python3 -B
"""Runs the commands of docs/operating.md, and every command in a sentence of a document, as written, on a gateway with
payments."""

import json
import os
import re
import sqlite3
import time

import documents
from harness.calls import fetch
from harness.machine import binary
from harness.report import check, wait_for
from harness.server import rows_of
from harness.terminal import Home, alone
from served import Served

OPERATING = "docs/operating.md"
# Placeholders of the documents.
STAND_FOR = {"NAME": "vera", "TYPE": "payment.succeeded", "URL": "http://127.0.0.1:3000/hooks", "S": "secret"}
# Commands that run until stopped. A sentence that names one is not a step; blocks that use one are run.
SERVERS = ("coffer demo", "coffer serve", "coffer serve --init", "coffer listen", "coffer provider-sim",
           "coffer logs tail")

# Commands for a payment at a provider, which the gateway of this test does not have. API tests run them.
AT_PROVIDER = ("coffer payment retry ID",)
# Commands for two machines. tests/crash/two_machines.py runs them.
REPLICA = "coffer replica "


def funding(gateway, mine):
    """A production wallet, created over the API, is credited once by the documented command."""
    home = gateway.home
    association = json.loads(home.run("coffer association list --json"))[0]["id"]
    keys = json.loads(home.run("coffer application register --name live --environment production"
                               f" --association {association} --json"))
    connection = gateway.shop.server.connect().log_in(keys)
    status, wallet = connection.call("POST", "/v1/wallets", {
        "walletName": "Treasury", "assetCode": "USDC", "ownAccount": True})
    check("a production wallet is created", status == 201, wallet)
    steps = documents.replaced(mine.take(OPERATING, "coffer wallet list"), {"ID": wallet["id"]})
    for _ in range(2):
        said = home.run(steps)
        check("the statement shows the funding", "Deposit" in said and "BANK" not in said, said)
    with open(os.path.join(home.folder, "statement.xml"), encoding="utf-8") as file:
        text = file.read()
    check("the exported statement is camt.053 with the funding", "camt.053.001.08" in text and "Deposit" in text, text)
    balance = json.loads(home.run(f"coffer wallet show {wallet['id']} --json"))["balances"][0]["balance"]
    check("a repeated command credits nothing", balance == "100.00", balance)
    limits = documents.replaced(mine.take(OPERATING, "coffer limit set"), {"ID": association})
    check("the limit is listed, and removed", "5000.00" in home.run(limits) and
          "5000.00" not in home.run("coffer limit list"))
    check("the reason is in the audit log", "Bank credit" in home.run("coffer audit list --json"))


def backups_and_drill(gateway, mine):
    home = gateway.home
    place = {"/srv/backups": home.path("srv", "backups")}
    os.makedirs(home.path("srv", "backups"))
    time.sleep(1 - time.time() % 1)  # backups are named by the second, and the schedule just made one
    home.run(documents.replaced(mine.take(OPERATING, "coffer backup /srv"), place))
    copy = home.path("srv", "backups", "ledger.db")
    check("a backup is one private file with its signature and checksum", os.stat(copy).st_mode & 0o777 == 0o600
          and sorted(os.listdir(home.path("srv", "backups"))) == ["ledger.db", "ledger.db.checkpoint", "ledger.db.sha256"])
    said = home.run(mine.take(OPERATING, "sha256sum -c") + " ledger.db.sha256",
                    folder=home.path("srv", "backups"))
    check("sha256sum verifies the checksum", "OK" in said, said)
    named = [name for name in os.listdir(home.path("backups"))
             if re.fullmatch(r"coffer-\d{8}T\d{6}Z\.db", name)]
    check("a backup without a name goes to backup_dir, like scheduled ones", len(named) == 2, named)
    listed = json.loads(home.run("coffer backups list --json"))
    check("the list has both, newest first, with size and checksum", [row["file"] for row in listed]
          == sorted(named, reverse=True) and all(row["bytes"] > 0 and row["checksum"] for row in listed), listed)
    check("only the latest backup has a verification result", [row["verified"] for row in listed][1:] == [None]
          and listed[0]["verified"] in ("yes", "no"), listed)

    with open(home.path("data", "coffer", "master.key"), "rb") as kept:
        with open(os.path.join(home.folder, "master.key"), "wb") as apart:
            apart.write(kept.read())
    os.chmod(os.path.join(home.folder, "master.key"), 0o600)
    said = home.run(documents.replaced(mine.take(OPERATING, "coffer restore", "sh"),
                                       place | {"/tmp/drill": home.path("drill")}))
    check("the restore drill shows the tenant, and leaves nothing", "Acme Ltd" in said
          and not os.path.exists(home.path("drill")), said)
    home.run(documents.replaced(mine.take(OPERATING, "coffer verify", "sh"), place))
    with open(copy, "r+b") as file:
        file.seek(5000)
        file.write(b"broken")
    home.run(f"coffer verify {copy}", code=3)
    check("verify passes the served file and the backup, and fails a changed one", True)


def archive(gateway, mine):
    home = gateway.home
    oldest = lambda: json.loads(home.run("coffer archive status --json"))["oldestMoment"]
    wait_for("the archive has a snapshot", oldest, 60.0)
    said = home.run(mine.take(OPERATING, "coffer archive status", "sh"))
    check("the archive is shown, and a restore from it is proven", "oldest moment" in said and "proven at" in said, said)
    home.run(documents.replaced(mine.take(OPERATING, "coffer restore --from", "sh"),
                                {"file:///mnt/archive/coffer": "file://" + home.path("archive"),
                                 "2026-01-31T09:00:00Z": oldest(),
                                 "/tmp/drill": home.path("drill"), "/tmp/then": home.path("then")}))
    check("a restore from the archive leaves nothing", not os.path.exists(home.path("drill")))


def export(gateway, mine):
    home = gateway.home
    home.run(mine.take(OPERATING, "coffer export books"))
    with open(os.path.join(home.folder, "books.beancount"), encoding="utf-8") as file:
        check("the books have the issued money", "Assets:Issuance:USDC" in file.read())
    said = home.run(mine.take(OPERATING, "coffer export everything"))
    with open(os.path.join(home.folder, "everything.ndjson"), encoding="utf-8") as file:
        types = [json.loads(line)["type"] for line in file]
    check("an export has everything", types.count("payment") == 1
          and {"association", "wallet", "entry", "entrySet", "event"} <= set(types), types)
    check("the export has no failed payment", '"payment"' not in said, said)


def fixtures_and_bulk(gateway, mine):
    """Applies the declarations of the document, and pays out to the beneficiary that they create."""
    home = gateway.home
    with open(os.path.join(home.folder, "fixtures.json"), "w", encoding="utf-8") as file:
        # Use the existing association: with a second one, other commands need --association.
        file.write(documents.replaced(mine.take(OPERATING, '{\n  "association"', "json"), {
            "Fixture Ltd": "Acme Ltd", "Treasury": "Fixtures"}))
    said = home.run(mine.take(OPERATING, "coffer apply", "sh"))
    made = json.loads(next(line for line in said.splitlines() if line.startswith("{")))
    ids = {row["kind"]: row["id"] for row in made["objects"]}
    secrets = {row["field"]: row["value"] for row in made["credentials"]}
    check("apply creates the objects, with the secrets of the application",
          {row["status"] for row in made["objects"]} == {"done"} and secrets["clientSecret"].startswith("sk_"), made)
    again = json.loads(home.run("coffer apply fixtures.json --json"))
    check("a repeated apply changes nothing", {row["action"] for row in again["objects"]} == {"unchanged"}, again)
    rows = documents.replaced(mine.take(OPERATING, "transactionId,sourceWalletId", "csv"), {
        "WALLET": ids["wallet"], "BENEFICIARY": ids["beneficiary"], "CONNECTOR": ids["connector"]})
    with open(os.path.join(home.folder, "payroll.csv"), "w", encoding="utf-8") as file:
        file.write(rows)
    steps = documents.replaced(mine.take(OPERATING, "coffer payment bulk", "sh"), {"ID": ids["application"]})
    said = home.run(steps)
    check("a preview, then the payment", "valid" in said and "accepted" in said, said)
    again = json.loads(home.run(f"coffer payment bulk - --application {ids['application']} --json < payroll.csv"))
    check("a repeated run pays nothing, from standard input too",
          [row["status"] for row in again] == ["exists"], again)
    with open(os.path.join(home.folder, "statement.csv"), "w", encoding="latin-1") as file:
        file.write("bookingDate,amount,currency,account,bankReference,reference,text,partyName,partyAccount\n"
                   "2026-01-02,-12.50,NGN,NG1,B1,,Geb\xfchr,Bank,\n")
    said = home.run(documents.replaced(mine.take(OPERATING, "coffer reconcile import", "sh"), {"ID": ids["connector"]}))
    check("a statement is imported, in ISO 8859-1 too", "Geb\xfchr" in said and "-12.50" in said, said)
    home.run(f"coffer payment bulk nothing.csv --application {ids['application']}", code=2)
    # Bytes of another encoding are rejected before they reach the server, never replaced.
    home.run("printf 'transactionId,description\\nlatin,Caf\\351\\n' > latin.csv")
    home.run(f"coffer payment bulk latin.csv --application {ids['application']}", code=2)


def is_said(log, text):
    """Waits for a log line, because the server is ready slightly before it logs it."""
    for _ in range(600):
        with open(log, encoding="utf-8") as file:
            if text in file.read():
                return True
        time.sleep(0.05)
    return False


def metrics_and_log(gateway, mine):
    home = gateway.home
    gateway.stop()
    token = home.path("metrics.token")
    with open(token, "w", encoding="ascii", opener=lambda path, flags: os.open(path, flags, 0o600)) as file:
        file.write("t" * 40)
    os.mkdir(home.path("log"))
    gateway.serve(documents.replaced(mine.take(OPERATING, "export COFFER_METRICS_TOKEN_FILE"),
                                     {"/etc/coffer/metrics.token": token})
                  + documents.replaced(mine.take(OPERATING, "coffer serve --log-file"),
                                       {"/var/log/coffer": home.path("log")}))
    page, proxied = "http://127.0.0.1:8081/metrics", {"X-Forwarded-For": "192.0.2.1"}
    statuses = [fetch(page).status, fetch(page, headers=proxied).status,
                fetch(page, headers={**proxied, "Authorization": "Bearer " + "t" * 40}).status]
    check("metrics over a proxy require the token", statuses == [200, 401, 200], statuses)
    log = home.path("log", "coffer.log")
    check("log lines go to the file, which only its owner can read", is_said(log, '"listening"')
          and os.stat(log).st_mode & 0o777 == 0o600)
    gateway.stop()
    gateway.serve()


def admin_listener():
    """The admin page on a separate address has a lane for each of its calls."""
    calls = {"sign-in/options": ("GET", 200), "sign-in/provider/begin": ("POST", 404), "sign-in": ("POST", 401),
             "commands": ("GET", 401), "downloads/none": ("GET", 401)}
    form = {"name": "a", "password": "b", "code": ""}
    seen = {call: fetch(f"http://127.0.0.1:8081/admin/api/{call}", method, form if method == "POST" else None,
                        {"Origin": "http://127.0.0.1:8081"}).status for call, (method, _) in calls.items()}
    check("every call to the admin page has a lane",
          seen == {call: status for call, (_, status) in calls.items()}, seen)


def expanded(text):
    """The commands in a text; `events list|show` names two."""
    several = re.search(r"\S+\|\S+", text)
    if not several:
        return [text]
    return [text.replace(several[0], word) for word in several[0].split("|")]


def connector(home):
    """Adds a connector with a provider, and returns its id."""
    return json.loads(home.run(
        "coffer connector add Payouts --driver http --base-url http://127.0.0.1:8090 --country NG"
        " --currency NGN --asset USDC --min 1 --max 1000 --json"))["id"]


def application(gateway):
    """The id of the tenant's application, whose association has no active webhook any more."""
    for webhook in rows_of(gateway.home.run("coffer webhook list --json")):
        gateway.home.run(f"coffer webhook disable {webhook['id']}")
    return gateway.shop.keys["id"]


def event(gateway):
    """The id of a new event, which has a delivery if a webhook is registered."""
    gateway.pay("resent")
    return rows_of(gateway.home.run("coffer events list --json"))[0]["id"]


def sentences(gateway, mine):
    """Runs every command in a sentence, except in the change log, which contains no instructions."""
    home = gateway.home
    os.mkdir(os.path.join(home.folder, "docs"))
    blocks, count = mine.take_all(documents.INLINE), 0
    # What ID names, for the other commands a connector.
    ids = {"webhook": lambda: application(gateway), "events": lambda: event(gateway),
           "payment": lambda: rows_of(home.run("coffer payment list --json"))[0]["id"]}
    connector_id = connector(home)
    for text in dict.fromkeys(text for block in blocks for text in expanded(block.text)):
        words = text.split()
        stand_for = STAND_FOR | ({"ID": ids.get(words[1], lambda: connector_id)()} if "ID" in words else {})
        words = [stand_for.get(word, word) for word in words]
        where = {block.document for block in blocks if text in expanded(block.text)}
        command = " ".join(words)
        if (where == {"CHANGELOG.md"} or text in (*SERVERS, *AT_PROVIDER) or "FILE" in words
                or text.startswith(REPLICA)):
            said = home.run(re.sub(r" (FILE|ID|--).*", "", text) + " --help")
            check(f"{text} is a command", "Usage: coffer" in said, said)
        elif "provider-sim" in words:
            provider = home.start(command)
            provider.says("http://127.0.0.1:8090")
            check(text + " listens", provider.stop() == 0, provider.printed)
        elif "listen" in words:
            check(text + " has its secret", "whsec_" in home.run(command + " --print-secret"))
        else:
            home.run(command)
            check(text, True)
        count += 1
    with open(os.path.join(home.folder, "docs", "configuration.md"), encoding="utf-8") as file:
        check("the settings reference equals the output of the documented command",
              file.read() == documents.read("docs/configuration.md"))
    check(f"{count} commands in sentences", count > 30)


def for_real(gateway, mine):
    """Restores a lost file from a backup."""
    home = gateway.home
    backup = home.path("last.db")
    home.run(f"coffer backup {backup} --verify")
    gateway.stop()
    data, away = home.path("data", "coffer"), home.path("away")
    os.mkdir(away)
    for name in os.listdir(data):
        os.rename(os.path.join(data, name), os.path.join(away, name))
    home.run(documents.replaced(mine.take(OPERATING, "coffer restore BACKUP"), {"BACKUP": backup}))
    os.link(os.path.join(away, "master.key"), os.path.join(data, "master.key"))
    gateway.serve(mine.take(OPERATING, "coffer serve", documents.INLINE))
    gateway.shop.wait_settled("first")
    gateway.pay("second")
    check("the restored gateway has its payments and accepts more", True)


def provider_signature(home, mine):
    """docs/provider-protocol.md: the shell line computes the signatures of the examples."""
    page = documents.read("docs/provider-protocol.md")
    line = mine.take("docs/provider-protocol.md", "printf %s")
    examples = re.findall(r"secret: +(.*)\ntimestamp: +(.*)\nmethod: +(.*)\npath: +(.*)\nbody: +(.*)\n"
                          r"signature: v1=(.*)\n", page)
    for *values, signature in examples:
        home.environment.update(zip(("secret", "timestamp", "method", "path", "body"),
                                    ("" if value == "(empty)" else value for value in values)))
        said = home.run(line)
        check("the shell line gives the example's signature", said.split()[-1] == signature, said)
    check("there are examples", len(examples) == 3)


def receivers(home, mine):
    """docs/webhooks.md: the table of a receiver, and the command that clears its inbox."""
    webhooks = "docs/webhooks.md"
    statements = re.fullmatch(r"(CREATE .*?;)\s*(INSERT .*?;).*", mine.take(webhooks, "CREATE TABLE"), re.S)
    table, insert = statements.groups()
    database = sqlite3.connect(":memory:")
    database.execute(table)
    counts = [database.execute(insert, ("id", 1, "{}")).rowcount for _ in range(2)]
    check("the receiver's table stores an event once", counts == [1, 0], counts)
    done = os.path.join(home.folder, "inbox", "done")
    os.makedirs(done)
    for name, days in (("old", 92), ("new", 80)):
        with open(os.path.join(done, name), "w", encoding="ascii"):
            pass
        then = time.time() - days * 86400
        os.utime(os.path.join(done, name), (then, then))
    home.run(mine.take(webhooks, "find inbox/done"))
    check("only old entries of the inbox are deleted", os.listdir(done) == ["new"])


def main():
    alone()
    mine = documents.Mine("interop/operating")
    with Home(binary()) as home:
        os.mkdir(home.path("backups"), 0o700)
        os.mkdir(home.path("archive"), 0o700)
        # This sendmail accepts every message, so that a test of alerts succeeds.
        gateway = Served(home, f'backup_dir = "{home.path("backups")}"\nnotify_sendmail = "/bin/true"\n'
                               # A scheduled proof would be in the way of that of the guide.
                               f'archive = "file://{home.path("archive")}"\narchive_prove_every_h = 0\n'
                               'notify_from = "gateway@bank.example"\nalert_email = "ops@bank.example"\n'
                               'webhook_allow_targets = "127.0.0.1"\n')
        funding(gateway, mine)
        backups_and_drill(gateway, mine)
        archive(gateway, mine)
        export(gateway, mine)
        fixtures_and_bulk(gateway, mine)
        admin_listener()
        metrics_and_log(gateway, mine)
        provider_signature(home, mine)
        receivers(home, mine)
        for_real(gateway, mine)
        sentences(gateway, mine)
        gateway.stop()
    mine.end()


main()
