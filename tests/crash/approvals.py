#!/usr/bin/env -S PYTHONPATH=tests python3 -B
"""Four eyes: kills the process before and after every commit while a second operator approves a wallet's funding.
After the restart, the request is either waiting and not credited, or decided and credited once. A waiting request is
approved again. In the end, every request was credited exactly once."""

import contextlib
import functools
import json
import sqlite3
import tempfile

from harness.admin import Operator
from harness.auditor import audit
from harness.auditor_keys import sign_again
from harness.machine import binary
from harness.report import fail, judge_faults
from harness.server import Demo, command

POINTS = ("commit.before", "commit.after")
SIGKILL = -9
PASSAGES_MAX = 40
PASSWORD = "a long password for bob"
CALLS_FAIL = (ConnectionError, OSError)


class Office:
    def __init__(self, folder):
        self.server = Demo(binary("faults"), folder)
        self.command = functools.partial(command, binary(), self.server.db)  # starts faster
        self.start()
        self.link = self.command("operator", "add", "bob", "--role", "administrator")["link"]
        Operator(self.origin(), "bob", PASSWORD).claim(self.link)
        self.wallet = self.server.facts["wallets"][0]["id"]
        self.server.stop()
        with contextlib.closing(sqlite3.connect(self.server.db, isolation_level=None)) as db:
            # No second factor in this test, and the password of the demo's operator, which is quick to check.
            db.execute("UPDATE operators SET otp_required = 0, password_hash = (SELECT password_hash FROM operators"
                       " WHERE name <> 'bob') WHERE name = 'bob'")
            sign_again(db, self.server.db)

    def start(self, fault=""):
        env = {"COFFER_FOUR_EYES": "all", **({"COFFER_FAULT": fault} if fault else {})}
        self.server.start(env=env)

    def origin(self):
        return f"http://{self.server.host}:{self.server.port}"

    def ada(self):
        facts = self.server.facts
        return Operator(self.origin(), facts["adminUser"], facts["adminPassword"]).sign_in()

    def bob(self):
        return Operator(self.origin(), "bob", self.server.facts["adminPassword"]).sign_in()

    def balance(self):
        rows = self.command("wallet", "show", self.wallet)["balances"]
        return next(row["balance"] for row in rows if row["assetCode"] == "USDC")

    def status(self, request):
        return self.command("approval", "show", request)["status"]

    def request(self):
        answer = self.ada().run("wallet fund", ID=self.wallet, asset="USDC", amount="1")
        if answer.status != 202:
            fail(f"the funding does not wait for approval: {answer.status} {answer.text}")
        return json.loads(answer.text)["data"]["id"]

    def died(self, request, fault):
        """Whether the server died while bob approved the request."""
        try:
            self.start(fault)
            self.bob().run("approval approve", ID=request)
        except (RuntimeError, *CALLS_FAIL):
            if self.server.wait() != SIGKILL:
                fail(f"{fault}: the process ended without SIGKILL: {self.server.said()[-500:]}")
            return True
        self.server.stop()
        return False


def cents(balance):
    whole, _, part = balance.partition(".")
    return int(whole) * 100 + int((part + "00")[:2])


def one(office, point, passage):
    """Kills the running process at the passage-th pass of `point`, and restarts it. Returns the request's status after
    the restart, `waiting` or `decided`; None if the process was not killed."""
    before = cents(office.balance())
    request = office.request()
    office.server.stop()
    died = office.died(request, f"{point}:{passage}")
    office.start()
    status, credited = office.status(request), cents(office.balance()) - before
    if (status == "waiting") != (credited == 0) or credited not in (0, 100):
        fail(f"{point}:{passage}: the request is {status}, and {credited} cents were credited")
    if not died and status != "done":
        fail(f"{point}:{passage}: without a kill, the request is {status}")
    bob = office.bob()
    again = bob.run("approval approve", ID=request)
    if again.status != (200 if status == "waiting" else 409):
        fail(f"{point}:{passage}: approving a {status} request again returns {again.status} {again.text}")
    if cents(office.balance()) - before != 100:
        fail(f"{point}:{passage}: credited {cents(office.balance()) - before} cents in the end")
    if not died:
        return None
    return "waiting" if status == "waiting" else "decided"


def main():
    found = {}
    with tempfile.TemporaryDirectory() as folder:
        office = Office(folder)
        office.start()
        for point in POINTS:
            for passage in range(1, PASSAGES_MAX):
                left = one(office, point, passage)
                if left is None:
                    break
                found[point, left] = found.get((point, left), 0) + 1
            else:
                fail(f"{point} still kills the process at pass {PASSAGES_MAX - 1}")
        office.server.stop()
        judge_faults(audit(office.server.db, settled=True))
    for point in POINTS:
        print(f"  {point}: {found.get((point, 'waiting'), 0)} kills left the request waiting,"
              f" {found.get((point, 'decided'), 0)} decided")
        # Kills on both sides of the approval's commit are required; otherwise the test proves nothing.
        if not found.get((point, "waiting")) or not found.get((point, "decided")):
            fail(f"{point}: no kill on one side of the commit")
    print(f"count: {sum(found.values())} kills, each request credited once")


main()
