#!/usr/bin/env -S PYTHONPATH=tests python3 -B
# ctest: timeout=600
"""A demo with a controlled clock, as processes: the clock passes the expiry of a quote, the retry of a webhook and a
statement day. A restart keeps the clock. The test never waits for real time."""

import os
import tempfile

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
    for words in (["advance", "1h"], ["clock"]):
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
    first = driven.now()[:10]
    count = len(driven.statement(first, "9999-01-01")) + 1
    driven.pay("first-day")
    wait_for("the payment is on the statement", lambda: len(driven.statement(first, "9999-01-01")) == count, WITHIN_S)
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


def documented(driven):
    """The commands of docs/sandbox.md, in their order."""
    block = documents.Mine("interop/sandbox").take("docs/sandbox.md", "$ coffer sandbox")
    for line in block.splitlines():
        program, *words = line.removeprefix("$ ").partition("#")[0].split()
        check(f"documented: {' '.join(words)}", program == "coffer" and words[0] == "sandbox")
        driven.sandbox(*words[1:])


def empty_file(program, folder):
    """A demo on an empty file, as mktemp creates it, is a new demo."""
    demo = Demo(program, folder, db="empty.db")
    with open(demo.db, "wb"):
        pass
    demo.start()
    check("it has the machine's clock", demo.command("sandbox", "clock")["advancedMs"] == 0)
    check("the demo exits with status 0", demo.stop(60) == 0)


def starts_afresh(driven):
    """The command of docs/sandbox.md, beside a demo with payments and an advanced clock."""
    driven.pay("earlier")
    words = documents.Mine("interop/sandbox").take("docs/sandbox.md", "$ coffer demo").removeprefix("$ ").split()
    check("documented: coffer demo with another file", words[:3] == ["coffer", "demo", "--db"], words)
    demo = Demo(driven.demo.binary, os.path.dirname(driven.demo.db), db=words[3]).start(env=RETRY)
    fresh = Driven(demo)
    check("the new demo has no earlier payments", not fresh.knows("earlier"))
    check("and the machine's clock", fresh.sandbox("clock")["advancedMs"] == 0)
    check("the new demo exits with status 0", demo.stop(60) == 0)


def begins_anew(driven):
    """After its database is deleted, the demo creates a new one."""
    driven.pay("deleted")
    check("the demo exits with status 0", driven.demo.stop(60) == 0)
    for ending in ("", ".lock"):
        os.remove(driven.demo.db + ending)
    driven.demo.start(env=RETRY)
    check("the new demo has no earlier payments", not driven.knows("deleted"))


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
        documented(driven)
        starts_afresh(driven)
        begins_anew(driven)
        check("the demo exits with status 0", demo.stop(60) == 0)


main()
