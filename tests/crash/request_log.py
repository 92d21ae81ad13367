#!/usr/bin/env -S PYTHONPATH=tests python3 -B
"""The request log of a running server: a request is found by its ID, its payment and its status, with redacted
bodies; the settings decide what is recorded; a log file that is broken, or cannot be written, affects no payment."""

import json
import os
import stat
import subprocess
import tempfile
import time

from harness import machine
from harness.auditor import audit
from harness.calls import fetch
from harness.clients import OWN, payment, wait_until_settled
from harness.report import check
from harness.server import Demo

PAYMENTS = 20
SECRET_NOTE = "Rent of Amina Otieno"


def pay(gateway):
    """Makes payments and a rejected one. Returns the IDs of the first payment, of its request, and of the rejected
    request."""
    login = gateway.login()
    first = None
    for number in range(PAYMENTS):
        route, body = payment(gateway, f"logged-{number}", 0)
        login.headers["X-Request-Id"] = f"request-{number}"
        status, said = login.call("POST", "/v1/payments/" + route, {**body, "description": SECRET_NOTE})
        check(f"payment {number} is accepted", status == 202, said)
        first = first or said["transactionRecordId"]
    login.headers["X-Request-Id"] = "rejected"
    login.call("POST", "/v1/payments/" + OWN, {"amount": "x"})
    return first


def until(what, look, within_s=20):
    end = time.monotonic() + within_s
    while not (found := look()):
        if time.monotonic() > end:
            check(what, False)
        time.sleep(0.1)
    check(what, True)
    return found


def dropped(gateway):
    _, _, text = fetch(f"http://{gateway.host}:{gateway.port}/metrics")
    lines = [line for line in text.splitlines() if line.startswith('coffer_request_log_entries_total{result="dropped"}')]
    return float(lines[0].split()[-1]) if lines else 0


def log_of(gateway):
    return gateway.db.removesuffix(".db") + ".requests.db"


def recorded(binary, folder):
    gateway = Demo(binary, folder, db="kept/ledger.db").start()
    first = pay(gateway)
    rows = until("the requests are listed", lambda: (
        found := gateway.command("logs", "list", "--limit", "100", "--text", "p2p")) and len(found) > PAYMENTS and found)
    check("newest first", [row["at"] for row in rows] == sorted((row["at"] for row in rows), reverse=True))
    check("the log has mode 0600", stat.S_IMODE(os.stat(log_of(gateway)).st_mode) == 0o600)
    about = gateway.command("logs", "list", "--payment", first)
    check("a payment leads to its request", [row["requestId"] for row in about] == ["request-0"], about)
    shown = gateway.command("logs", "show", "request-0")
    check("a request leads to its payment", shown["transactionRecordId"] == first, shown)
    check("identifiers stay, personal data is removed", "logged-0" in shown["requestBody"]
          and SECRET_NOTE not in json.dumps(shown) and "[redacted]" in shown["requestBody"], shown)
    failed = gateway.command("logs", "list", "--status", "4xx")
    check("failures are found by status", [row["requestId"] for row in failed] == ["rejected"], failed)
    check("failures have their problem", failed[0]["problem"] == "malformed-request", failed)
    tail = subprocess.Popen([binary, "logs", "tail", "--db", gateway.db, "--json"], stdout=subprocess.PIPE, text=True)
    time.sleep(1)
    gateway.login().call("GET", "/v1/wallets")
    lines = [json.loads(tail.stdout.readline()) for _ in range(2)]
    tail.kill()
    tail.communicate()
    check("tail prints new requests", [line["path"] for line in lines] == ["/v1/auth/token", "/v1/wallets"], lines)
    wait_until_settled(gateway)
    check("the server stops", gateway.stop() == 0)
    check("the log is read without a server", gateway.command("logs", "show", "request-0")["status"] == 202)
    check("the audit finds no faults", audit(gateway.db, settled=True) == [])


def by_setting(binary, folder):
    gateway = Demo(binary, folder, db="metadata/ledger.db").start(env={"COFFER_REQUEST_LOG": "metadata"})
    pay(gateway)
    until("metadata is recorded", lambda: len(gateway.command("logs", "list", "--limit", "100")) > PAYMENTS)
    shown = gateway.command("logs", "show", "request-0")
    check("without bodies", shown["requestBody"] is None and shown["responseBody"] is None
          and shown["transactionRecordId"], shown)
    gateway.stop()
    gateway = Demo(binary, folder, db="off/ledger.db").start(env={"COFFER_REQUEST_LOG": "off"})
    pay(gateway)
    gateway.stop()
    check("without the request log, there is no file", not os.path.exists(log_of(gateway)))


def broken(binary, folder):
    """A file that is not a database is renamed. If the log cannot be written, entries are lost, but no payment."""
    place = os.path.join(folder, "garbage")
    os.mkdir(place, 0o700)
    with open(os.path.join(place, "ledger.requests.db"), "wb") as file:
        file.write(os.urandom(100_000))
    gateway = Demo(binary, folder, db="garbage/ledger.db").start()
    pay(gateway)
    until("a new log begins", lambda: len(gateway.command("logs", "list", "--limit", "100")) > PAYMENTS)
    check("the broken file is kept", os.path.exists(log_of(gateway) + ".damaged"))
    wait_until_settled(gateway)
    check("the server stops", gateway.stop() == 0)
    check("the audit finds no faults", audit(gateway.db, settled=True) == [])
    os.makedirs(os.path.join(folder, "blocked", "ledger.requests.db"), 0o700)
    gateway = Demo(binary, folder, db="blocked/ledger.db").start()
    pay(gateway)
    until("entries that cannot be written are counted", lambda: dropped(gateway) > 0)
    wait_until_settled(gateway)
    check("the server stops", gateway.stop() == 0)
    check("the audit finds no faults", audit(gateway.db, settled=True) == [])


def main():
    binary = machine.binary()
    with tempfile.TemporaryDirectory() as folder:
        os.chmod(folder, 0o700)
        recorded(binary, folder)
        by_setting(binary, folder)
        broken(binary, folder)


if __name__ == "__main__":
    main()
