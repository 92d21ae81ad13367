#!/usr/bin/env -S PYTHONPATH=tests python3 -B
# ctest: waits
"""Alerts of the release build: signed for the stock Standard Webhooks library, while another target hangs, across a
kill and a restart with a changed file in between, and as e-mail that Python's library parses."""

import base64
import contextlib
import email.policy
import json
import os
import sqlite3
import subprocess
import tempfile

import documents
from harness.machine import binary, held_port
from harness.receiver import Receiver, changed, stock_verifies
from harness.report import check, wait_for
from harness.server import Demo, command, run_command
from harness.tenant import Tenant

SECRET = "whsec_" + base64.b64encode(os.urandom(32)).decode()
OTHER = "whsec_" + base64.b64encode(bytes(32)).decode()
PATIENCE_S = 120


class Target(Receiver):
    """A receiver of alerts. All requests hang while `hangs` is set."""

    def __init__(self):
        self.hangs = True
        super().__init__(lambda _: "hang" if self.hangs else "ok")

    def about(self, condition):
        return [one for one in self.snapshot() if one.event()["data"].get("condition") == condition]

    def told(self, condition, count=1):
        wait_for(f"{count} alerts about {condition}", lambda: len(self.about(condition)) >= count, PATIENCE_S)
        return self.about(condition)


def sendmail(folder):
    """A sendmail program that stores each message and its arguments."""
    path = os.path.join(folder, "sendmail")
    with open(path, "w", encoding="ascii") as file:
        file.write(f'#!/bin/sh\nname=$(mktemp {folder}/mail.XXXXXX)\ncat > "$name"\necho "$@" > "$name.arguments"\n')
    os.chmod(path, 0o755)
    return path


def mails(folder):
    out = []
    for name in sorted(os.listdir(folder)):
        if name.startswith("mail.") and name.endswith(".arguments"):
            with open(os.path.join(folder, name.removesuffix(".arguments")), "rb") as file:
                out.append(email.message_from_binary_file(file, policy=email.policy.default))
    return out


def a_target_that_hangs(tenant, target, demo):
    """An integrator's endpoint fails, and the target of the resulting alert does not respond."""
    good, bad = Receiver(), Receiver(lambda _: "error")
    tenant.ask("POST", "/v1/webhooks", {"url": good.url(), "eventTypes": ["payment.initiated"]})
    tenant.ask("POST", "/v1/webhooks", {"url": bad.url(), "eventTypes": ["payment.succeeded"]})
    tenant.pay("alerts-0")
    first = target.told("deliveries_failed")[0]
    for number in range(1, 6):
        tenant.pay(f"alerts-{number}")
    good.wait_for(6, PATIENCE_S)
    check("payments and deliveries continue while a target hangs", demo.process.poll() is None)
    row = alert_of(demo, "deliveries_failed")
    webhook = next(each for each in row["messages"] if each["channel"] == "webhook")
    check("the list shows that the message is waiting", row["state"] == "open" and webhook["state"] == "waiting"
          and webhook["attempts"] >= 1, row)
    return first


def alert_of(demo, condition):
    return next(row for row in demo.command("alert", "list") if row["condition"] == condition)


def change_file(demo):
    """Changes the file directly, without a running server."""
    with contextlib.closing(sqlite3.connect(demo.db, isolation_level=None)) as db:
        rows = db.execute("UPDATE payments SET version = version + 1 WHERE payment = 1").rowcount
    check("the file is changed", rows >= 1)


def start_again(demo):
    """With the changed file, /healthz fails as soon as the verification detects the change."""
    try:
        demo.start(env=demo.settings)
    except RuntimeError as not_ready:
        if "/healthz responds with 503" not in str(not_ready):
            raise


def after_a_kill(target, first):
    repeated = target.told("deliveries_failed", 2)[1]
    check("the hanging message is sent again after a kill, with the same bytes",
          (repeated.id, repeated.body) == (first.id, first.body))
    told = target.told("ledger_damaged")[0]
    check("a changed file causes an alert", told.event()["type"] == "alert.began", told.body)
    return told


def signatures(target, told):
    every = target.snapshot()
    check(f"{len(every)} alerts verify with the stock library", all(stock_verifies([(one, SECRET) for one in every])))
    forged = changed(told, body=told.body.replace(b"ledger_damaged", b"ledger_damagee"))
    check("a forged alert does not verify, nor does another secret", forged.body != told.body
          and stock_verifies([(forged, SECRET), (told, OTHER)]) == [False, False])
    mine = documents.Mine("interop/alerts")
    shown = json.loads(mine.take("docs/operating.md", '{\n  "id"', "json"))
    check("the body has the documented members", list(shown) == list(told.event())
          and list(shown["data"]) == list(told.event()["data"]), told.body)
    mine.end()


def by_mail(folder):
    told = {message["Subject"]: message for message in mails(folder)}
    message = told.get("[coffer] Webhook deliveries have failed.")
    check("the same alert arrives as e-mail", message is not None and message["To"] == "ops@bank.example"
          and message["From"] == "gateway@bank.example" and not message.defects, told)
    check("the e-mail names the next step",
          "Next step: coffer webhook list" in message.get_content(), message.get_content())


def no_doubles(demo, target):
    """Every message is sent; a restart sends none again."""
    def all_sent():
        return all(each["state"] == "sent" for row in demo.command("alert", "list") for each in row["messages"])
    wait_for("every message is sent", all_sent, PATIENCE_S)
    before = [one.id for one in target.snapshot()]
    check("the server exits with 0", demo.stop() == 0)
    start_again(demo)
    demo.command("alert", "test")
    wait_for("the test arrives", lambda: len(target.snapshot()) > len(before), PATIENCE_S)
    again = [one for one in target.snapshot()[len(before):] if one.id in before]
    check("a restart sends nothing again", not again, [one.body for one in again])


def tests_of_targets(demo, target):
    done = run_command(demo.binary, demo.db, "alert", "test")
    rows = json.loads(done.stdout)
    check("a test is accepted by each target", done.returncode == 0 and [row["sent"] for row in rows] == [True, True],
          done.stdout)
    target.stop()
    done = run_command(demo.binary, demo.db, "alert", "test")
    rows = json.loads(done.stdout)
    check("an unreachable target is named, with exit code 1", done.returncode == 1
          and [row["sent"] for row in rows] == [False, True] and rows[0]["result"], done.stdout)


def no_secrets(demo):
    listed = subprocess.run([demo.binary, "alert", "list", "--db", demo.db], capture_output=True, text=True, check=True)
    said = demo.said() + listed.stdout + json.dumps(command(demo.binary, demo.db, "alert", "list"))
    check("neither the log nor the list contains the secret or the path",
          "ledger_damaged" in said and SECRET not in said
          and "/hooks" not in said.replace("/v1/webhooks", ""))


def main():
    with tempfile.TemporaryDirectory() as folder:
        target = Target()
        demo = Demo(binary(), folder, port=held_port())  # an alert names its server's address
        demo.settings = {
            "COFFER_ALERT_WEBHOOK_URL": target.url(), "COFFER_ALERT_WEBHOOK_SECRET": SECRET,
            "COFFER_ALERT_EMAIL": "ops@bank.example", "COFFER_NOTIFY_SENDMAIL": sendmail(folder),
            "COFFER_NOTIFY_FROM": "gateway@bank.example", "COFFER_WEBHOOK_ATTEMPTS": "1"}
        demo.start(env=demo.settings)
        first = a_target_that_hangs(Tenant.of_demo(demo), target, demo)
        demo.kill()
        change_file(demo)
        target.hangs = False
        start_again(demo)
        told = after_a_kill(target, first)
        signatures(target, told)
        no_doubles(demo, target)
        by_mail(folder)
        tests_of_targets(demo, target)
        no_secrets(demo)
        check("the server exits with 0 again", demo.stop() == 0)


main()
