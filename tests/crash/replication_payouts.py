#!/usr/bin/env -S PYTHONPATH=tests python3 -B
# ctest: waits
"""Two coffers share a log, and the provider of payouts is paused or lost between an attempt and its call. Meanwhile,
the leader is killed or paused, and the other machine leads. Each payout must be carried out once, and the provider's
list must match the records line by line.

Control: a list with a line twice, and with a line missing.

COFFER_PAYOUT_ROUNDS (1): takeovers. COFFER_PAYOUT_SEED: of the delays."""

import itertools
import os
import random
import signal
import tempfile
import time

from harness.auditor import audit
from harness.clients import wait_until_settled
from harness.machine import binary
from harness.provider import RATES, Simulator, add_connector, beneficiary, purpose
from harness.report import fail, judge_faults

os.environ["COFFER_FAULTS_BIN"] = binary("release")
from provider_chaos import disagreements  # noqa: E402
from two_machines import UNCERTAIN, Pair, pages, stop_both  # noqa: E402

PAYOUTS = 6
TIMEOUT_MS = 2000  # of the connector
SETTLED_WITHIN_S = 90.0
# What happens to the leader, and what happens to the provider meanwhile.
COMBINATIONS = list(itertools.product(("kill", "pause"), ("paused", "lost")))
FOLLOWS = "/readyz?role=follower"


class World:
    def __init__(self, folder, dice):
        self.folder, self.dice = folder, dice
        self.pair = Pair(folder).begin()
        leader = self.pair.leader
        self.provider = Simulator(leader.binary, os.path.join(folder, "provider.log"))
        self.connector, secret = add_connector(leader, "Paused", self.provider.url, "--timeout-ms", str(TIMEOUT_MS))
        self.provider.configure(secret, "--db", os.path.join(folder, "provider.ndjson"), "--rates", RATES).start()
        connection = self.pair.login()
        self.recipient, self.words = beneficiary(connection, "5678"), purpose(connection)
        self.sent, self.acked, self.faults = {}, {}, []

    def quote(self, connection, number):
        status, quote = connection.call("POST", "/v1/quotes", {
            "amount": f"{number % 50 + 1}.50", "connectorId": self.connector, "beneficiaryId": self.recipient})
        if status != 201:
            fail(f"quote: {status} {quote}")
        return quote["quoteId"]

    def pay_out(self, provider_is):
        """The quotes need the provider; the payouts are sent when it no longer responds."""
        connection, first = self.pair.login(), len(self.acked)
        quotes = [self.quote(connection, number) for number in range(PAYOUTS)]
        self.silence(provider_is)
        for number, quote in enumerate(quotes, first):
            name = f"payout-{number}"
            self.sent[name] = {"transactionId": name, "quoteId": quote, "beneficiaryId": self.recipient,
                               "sourceWalletId": self.pair.wallet("Treasury"), **self.words}
            status, answer = connection.call("POST", "/v1/payments/offramp", self.sent[name])
            if status != 202:
                fail(f"offramp: {status} {answer}")
            self.acked[name] = answer["transactionRecordId"]

    def silence(self, kind):
        if kind == "paused":
            os.kill(self.provider.process.pid, signal.SIGSTOP)
        else:
            self.provider.kill()

    def end_silence(self, kind):
        if kind == "paused":
            os.kill(self.provider.process.pid, signal.SIGCONT)
        else:
            self.provider.start()

    def round(self, number):
        leader_is, provider_is = COMBINATIONS[number % len(COMBINATIONS)]
        self.pay_out(provider_is)
        time.sleep(self.dice.uniform(0.1, 1.5))
        old = self.pair.leader
        if leader_is == "kill":
            old.kill()
        else:
            os.kill(old.process.pid, signal.SIGSTOP)
        early = self.dice.random() < 0.5  # the provider responds while no machine leads
        if early:
            time.sleep(self.dice.uniform(0, 2))
            self.end_silence(provider_is)
        took = self.pair.wait_for_takeover()
        if not early:
            time.sleep(self.dice.uniform(0, 3))
            self.end_silence(provider_is)
        if leader_is == "pause":
            os.kill(old.process.pid, signal.SIGCONT)
            code = old.wait(20)
            if code != UNCERTAIN:
                self.faults.append(f"a leader that resumes: exit code {code}")
        self.pair.start(self.pair.follower, FOLLOWS)
        settled = wait_until_settled(self.pair, SETTLED_WITHIN_S)
        back = " and back before the takeover" if early else ""
        print(f"  the leader: {leader_is}, the provider {provider_is}{back}: the other machine leads after {took:.1f}"
              f" s, all settled {settled:.1f} s later", flush=True)

    def judge(self):
        records, payouts = self.pair.login().list_transactions("type=offramp"), self.provider.payouts()
        self.faults += disagreements(records, payouts)
        if {record["transactionId"]: record["id"] for record in records} != self.acked:
            self.faults.append(f"{len(self.acked)} payouts were acknowledged, but {len(records)} exist")
        for record in records:
            if record["status"] != "succeeded":
                self.faults.append(f"{record['transactionId']} is {record['status']}")
        for wrong in (payouts + payouts[:1], payouts[1:]):
            if not disagreements(records, wrong):
                fail("control: the comparison does not find a line that is twice in the list, or missing")
        print("control: a payout twice in the provider's list, and a missing one, were found")
        self.provider.kill()
        stop_both(self.pair)
        for machine in self.pair.machines:
            self.faults += [f"{machine.db}: {fault}" for fault in audit(machine.db, settled=True)]
        first, second = (pages(machine.db, self.folder) for machine in self.pair.machines)
        if first != second:
            self.faults.append("the files of the two machines differ")


def main():
    rounds = int(os.environ.get("COFFER_PAYOUT_ROUNDS", "1"))
    seed = int(os.environ.get("COFFER_PAYOUT_SEED", str(time.time_ns() % 1_000_000)))
    print(f"COFFER_PAYOUT_SEED={seed}")
    with tempfile.TemporaryDirectory(prefix="coffer-payouts-", ignore_cleanup_errors=True) as folder:
        world = World(folder, random.Random(seed))
        for number in range(rounds):
            world.round(number)
        world.judge()
    judge_faults(world.faults)
    print(f"count: {rounds} takeovers, {len(world.acked)} payouts, each carried out once")


if __name__ == "__main__":
    main()
