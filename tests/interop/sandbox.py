#!/usr/bin/env -S PYTHONPATH=tests python3 -B
# ctest: timeout=600
"""A demo with a controlled clock, as processes: the clock passes the expiry of a quote, the retry of a webhook and a
statement day. A restart keeps the clock; a return to a snapshot keeps the address and the credentials. The test never
waits for real time."""

import itertools
import os
import tempfile
import threading
import time

import documents
from harness.calls import fetch
from harness.machine import binary, held_port
from harness.receiver import Receiver, Reply
from harness.report import check, wait_for
from harness.server import Demo, command, run_command
from harness.tenant import Tenant

WITHIN_S = 60.0  # limit for every wait, on a machine under load
RETRY = {"COFFER_WEBHOOK_SANDBOX_RETRY_S": "7200"}


class Driven:
    """A demo and one integrator, who logs in again if necessary, because tokens expire with the clock."""

    def __init__(self, demo):
        self.demo = demo

    def sandbox(self, *words):
        return command(self.demo.binary, self.demo.db, "sandbox", *words)

    def call(self, method, path, body=None):
        return Tenant.of_demo(self.demo).login().call(method, path, body)

    def pay(self, name):
        status, text = self.call("POST", *Tenant.of_demo(self.demo).payment(name))
        check(f"the payment {name} is accepted", status == 202, text)

    def knows(self, name):
        status, answer = self.call("GET", f"/v1/transactions?transactionId={name}")
        return status == 200 and f"'{name}'" in str(answer)

    def now(self):
        return self.sandbox("clock")["now"]

    def statement(self, first, last):
        return self.demo.command("wallet", "statement", self.demo.wallet("Treasury"), "--from", first, "--to", last)


def production_rejects(program, folder):
    database = os.path.join(folder, "production.db")
    command(program, database, "init")
    for words in (["advance", "1h"], ["clock"], ["snapshot", "a"], ["snapshots"], ["rewind", "a"], ["reset"]):
        done = run_command(program, database, "sandbox", *words)
        check(f"sandbox {words[0]} is rejected on a production file",
              done.returncode == 1 and "is not a demo file" in done.stderr, done.stderr)


def quote_expires(driven):
    facts = driven.demo.facts
    payee = next(one for one in facts["beneficiaries"] if any(m["method"] == "BANK" for m in one["destinations"]))
    connector = next(one for one in facts["connectors"] if one["name"] == "Kenya bank payout")
    quoted = driven.call("POST", "/v1/quotes", {"amount": "10", "connectorId": connector["id"],
                                               "beneficiaryId": payee["id"]})
    check("a quote is created", quoted[0] in (200, 201), quoted)
    driven.sandbox("advance", "1d")
    status, text = driven.call("POST", "/v1/payments/offramp", {
        "transactionId": "late", "quoteId": member(quoted, "quoteId"), "sourceWalletId": driven.demo.wallet("Treasury"),
        "beneficiaryId": payee["id"], "purposeOfPayment": "SALARY", "sourceOfFunds": "BUSINESS_INCOME",
        "relationship": "EMPLOYEE"})
    check("an expired quote is rejected", status in (409, 410, 422) and "expired" in str(text), (status, text))


def member(answer, name):
    found = answer[1]
    return found.get(name) or found["data"][name]


def retry_is_due(driven):
    calls = []

    def respond(request):
        calls.append(request)
        return Reply("500 Internal Server Error" if len(calls) == 1 else "200 OK", "", b"")

    receiver = Receiver(respond)
    made = driven.call("POST", "/v1/webhooks", {"url": receiver.url(), "eventTypes": ["payment.succeeded"]})
    check("a webhook is registered", made[0] in (200, 201), made)
    webhook = member(made, "id")
    driven.pay("hooked")
    wait_for("the first attempt", lambda: len(calls) >= 1, WITHIN_S)
    before = driven.now()

    def failed():
        return [one for one in driven.demo.command("webhook", "deliveries", webhook) if one["attempts"] >= 1]

    wait_for("the attempt is recorded", failed, WITHIN_S)
    check("the retry waits for two hours", len(calls) == 1)
    driven.sandbox("advance", "3h")
    wait_for("the retry arrives after its time has passed", lambda: len(calls) >= 2, WITHIN_S)
    check("the clock has moved", driven.now() > before)


def statement_days(driven):
    driven.pay("first-day")
    first = driven.now()[:10]
    wait_for("the payment is on the statement", lambda: driven.statement(first, "9999-01-01"), WITHIN_S)
    count = len(driven.statement(first, "9999-01-01"))
    driven.sandbox("advance", "1d")
    second = driven.now()[:10]
    check("a day has passed", second > first, (first, second))
    driven.pay("second-day")
    wait_for("the next payment is on the next day", lambda: driven.statement(second, "9999-01-01"), WITHIN_S)
    check("the statement of the first day does not change", len(driven.statement(first, second)) == count)


def restart(driven):
    before, advanced = driven.now(), driven.sandbox("clock")["advancedMs"]
    health = fetch(driven.demo.facts["baseUrl"] + "/healthz")
    check("an advanced clock is not a health failure", health.status == 200 and "clock" not in health.text, health.text)
    driven.demo.kill()
    driven.demo.start(env=RETRY)
    check("after a kill, the clock does not go back", driven.now() >= before)
    check("after a kill, the clock is as far ahead as before", driven.sandbox("clock")["advancedMs"] == advanced)
    check("the ledger is valid", run_command(driven.demo.binary, driven.demo.db, "verify").returncode == 0)


def again_up(driven, holds):
    """After a return to a snapshot, the demo has the same address and credentials."""
    def answers():
        try:
            return holds()
        except (OSError, RuntimeError, SystemExit):
            return False
    wait_for("the demo is back", answers, WITHIN_S)


def returns(driven):
    driven.pay("kept")
    advanced = driven.sandbox("clock")["advancedMs"]
    driven.sandbox("snapshot", "one")
    driven.pay("lost")
    driven.sandbox("advance", "1d")
    said = driven.sandbox("rewind", "one")
    check("the demo restarts automatically", said["restarts"], said)
    check("the demo is ready when the command ends", driven.knows("kept") and not driven.knows("lost"))
    check("the demo has the clock of the snapshot", driven.sandbox("clock")["advancedMs"] == advanced)
    for i in range(5):
        driven.sandbox("rewind", "one")
        driven.pay(f"after-{i}")
        check("a payment after the return is not lost", driven.knows(f"after-{i}"))
    paid_meanwhile(driven)
    driven.sandbox("reset")
    again_up(driven, lambda: not driven.knows("kept"))
    check("after a reset, the demo has the machine's clock", driven.sandbox("clock")["advancedMs"] == 0)
    check("a reset keeps the snapshots", [one["name"] for one in driven.sandbox("snapshots")] == ["start", "one"])
    check("the ledger is valid", run_command(driven.demo.binary, driven.demo.db, "verify").returncode == 0)


def paid_meanwhile(driven):
    """Payments during a return: those accepted after the command ends are kept."""
    tenant = Tenant.of_demo(driven.demo)
    tenant.login()
    accepted, ended = [], threading.Event()

    def keep_paying():
        for i in itertools.count():
            late = ended.is_set()
            try:
                status, _ = tenant.call("POST", *tenant.payment(f"meanwhile-{i}", "0.01"))
            except OSError:
                continue
            if late and status == 202:
                accepted.append(f"meanwhile-{i}")
                if len(accepted) == 20:
                    return

    payer = threading.Thread(target=keep_paying)
    payer.start()
    driven.sandbox("rewind", "one")
    ended.set()
    payer.join(WITHIN_S)
    check("payments are accepted again", len(accepted) == 20, accepted)
    check("none of them is lost", all(driven.knows(name) for name in accepted), accepted)


def returns_after_a_kill(driven):
    """The write-ahead log of a killed server belongs to the replaced file."""
    driven.pay("in-the-log")
    driven.demo.kill()
    said = command(driven.demo.binary, driven.demo.db, "sandbox", "rewind", "one")
    check("without a server, the next start returns", not said["restarts"], said)
    rejected = run_command(driven.demo.binary, driven.demo.db, "association", "create", "between")
    check("until then, commands are rejected", rejected.returncode == 75 and "would be lost" in rejected.stderr,
          rejected.stderr)
    server = driven.demo.spawn(["serve", "--db", driven.demo.db, "--listen-http", "127.0.0.1:0"])
    check("and a server", server.wait(60) == 75)
    process = driven.demo.spawn(driven.demo.words(), env={"COFFER_LISTEN_HTTP": "nonsense"})
    check("the next start fails", process.wait(60) != 0)
    driven.demo.start(env=RETRY)
    check("the state is that of the snapshot", driven.knows("kept") and not driven.knows("in-the-log"))
    check("the ledger is valid", run_command(driven.demo.binary, driven.demo.db, "verify").returncode == 0)


def stops_while_busy(driven):
    """A signal during a long command ends both in order."""
    for i, delay in enumerate((0.005, 0.01, 0.02, 0.04)):
        for words in (["snapshot", f"busy-{i}"], ["rewind", "start"]):
            beside = threading.Thread(
                target=lambda words=words: run_command(driven.demo.binary, driven.demo.db, "sandbox", *words))
            beside.start()
            time.sleep(delay)
            code = driven.demo.stop(60)
            beside.join()
            check(f"stopped after {delay} s of {words[0]}", code == 0, code)
            driven.demo.start(env=RETRY)


def documented(driven):
    """The commands of docs/sandbox.md, in their order."""
    block = documents.Mine("interop/sandbox").take("docs/sandbox.md", "$ coffer sandbox")
    for line in block.splitlines():
        program, *words = line.removeprefix("$ ").partition("#")[0].split()
        check(f"documented: {' '.join(words)}", program == "coffer" and words[0] == "sandbox")
        again_up(driven, lambda: driven.now() != "")
        driven.sandbox(*words[1:])
    again_up(driven, lambda: not driven.knows("kept") and driven.sandbox("clock")["advancedMs"] == 0)


def empty_file(program, folder):
    """A demo on an empty file, as mktemp creates it, is a new demo."""
    demo = Demo(program, folder, db="empty.db")
    with open(demo.db, "wb"):
        pass
    demo.start()
    check("it has its first snapshot", [one["name"] for one in demo.command("sandbox", "snapshots")] == ["start"])
    check("the demo exits with status 0", demo.stop(60) == 0)


def begins_anew(driven):
    """After its database is deleted, the demo creates a new one."""
    driven.pay("deleted")
    command(driven.demo.binary, driven.demo.db, "sandbox", "snapshot", "two")
    check("the demo exits with status 0", driven.demo.stop(60) == 0)
    for ending in ("", ".lock"):
        os.remove(driven.demo.db + ending)
    driven.demo.start(env=RETRY)
    check("the new demo has no earlier payments", not driven.knows("deleted"))
    driven.pay("anew")
    driven.sandbox("reset")
    again_up(driven, lambda: not driven.knows("anew"))
    check("the new demo has its own first snapshot", not driven.knows("deleted"))


def main():
    program = binary()
    with tempfile.TemporaryDirectory() as folder:
        production_rejects(program, folder)
        empty_file(program, folder)
        demo = Demo(program, folder, port=held_port()).start(env=RETRY)
        driven = Driven(demo)
        quote_expires(driven)
        retry_is_due(driven)
        statement_days(driven)
        restart(driven)
        returns(driven)
        returns_after_a_kill(driven)
        stops_while_busy(driven)
        documented(driven)
        begins_anew(driven)
        check("the demo exits with status 0", demo.stop(60) == 0)


main()
