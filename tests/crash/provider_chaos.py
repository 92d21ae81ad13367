#!/usr/bin/env -S PYTHONPATH=tests python3 -B
"""Payouts through a provider that is killed, hangs, sends false results and repeats itself, while coffer is killed as
well. In the end, each payout is succeeded, failed or refunded exactly once, and the provider's list matches line by
line. COFFER_CASHOUTS (60): number of payouts. COFFER_SEED: the faults."""

import os
import random
import tempfile
import threading
import time
from decimal import Decimal

from harness.auditor import audit
from harness.clients import Crowd, wait_until_settled
from harness.machine import binary, held_port
from harness.provider import RATES, Simulator, add_connector, beneficiary, purpose
from harness.report import fail, judge_faults
from harness.server import Demo

FAULTS = ("late=0.1:400,reject=0.03,duplicate=0.2,reorder=0.2,lose-response=0.15,garbage=0.08,"
          "hang=0.02")
# The last four digits determine the provider's result: succeeds, rejected, reviewed, fails late and is returned,
# fails late and is not returned.
ENDINGS = ["5678", "5678", "5678", "1101", "1104", "1202", "1301", "1303"]
# After the chaos. Twice its length, because by then two status requests of a payment may be this far apart.
SETTLED_WITHIN_S = 120.0


def chaotic_provider(gateway, folder, seed):
    """A simulator with a file and every kind of fault."""
    provider = Simulator(gateway.binary, os.path.join(folder, "provider.log"))
    provider.connector, secret = add_connector(gateway, "Chaos", provider.url, "--timeout-ms", "1000")
    return provider.configure(
        secret, "--callback", gateway.facts["baseUrl"], "--db", os.path.join(folder, "provider.ndjson"),
        "--faults", FAULTS, "--seed", str(seed), "--delay-ms", "150", "--hang-ms", "1500", "--rates", RATES)


class Customers(Crowd):
    """Threads that each make one payout at a time and retry until they get a response."""

    def __init__(self, gateway, connector, beneficiaries, count, words):
        super().__init__(6)
        self.gateway, self.connector, self.beneficiaries = gateway, connector, beneficiaries
        self.words = words
        self.left = list(range(count))
        self.acked = {}
        self.surprises = []

    def call(self, path, body):
        """Retries until there is a conclusive response."""
        while not self.surprises:
            try:
                connection = self.gateway.login()
                status, answer = connection.call("POST", path, body)
            except (ConnectionError, OSError, KeyError, TypeError, AttributeError):
                time.sleep(0.05)
                continue
            if status not in (429, 502, 503, 504):
                return status, answer
            time.sleep(0.05)
        return 0, None

    def work(self, _):
        while True:
            with self.lock:
                if not self.left or self.surprises:
                    return
                number = self.left.pop()
            self.cash_out(number)

    def cash_out(self, number):
        recipient = self.beneficiaries[number % len(self.beneficiaries)]
        amount = f"{number % 50 + 1}.{number % 100:02}"
        status, quote = self.call("/v1/quotes", {"amount": amount, "connectorId": self.connector,
                                                 "beneficiaryId": recipient})
        if status != 201:
            self.surprises.append(("quote", status, quote))
            return
        body = {"transactionId": f"chaos-{number}", "quoteId": quote["quoteId"],
                "sourceWalletId": self.gateway.wallet("Treasury"), "beneficiaryId": recipient,
                **self.words}
        status, answer = self.call("/v1/payments/offramp", body)
        if status != 202:
            self.surprises.append(("offramp", status, answer))
            return
        with self.lock:
            self.acked[body["transactionId"]] = answer["transactionRecordId"]


def disagreements(records, payouts):
    """The differences between coffer's records and the provider's list, one sentence each."""
    theirs, out = {}, []
    for payout in payouts:
        if payout["id"] in theirs:
            out.append(f"{payout['id']} is twice in the provider's list")
        theirs[payout["id"]] = payout["status"]
    for record in records:
        said = theirs.pop(record["id"], "absent")
        paid = record["status"] == "succeeded"
        if record["status"] not in ("succeeded", "failed", "refunded", "refund_failed"):
            out.append(f"{record['id']} has the final status {record['status']}")
        elif paid != (said == "succeeded"):
            out.append(f"{record['id']} is {record['status']} in coffer and {said} at the provider")
        elif not paid and said not in ("failed", "absent"):
            out.append(f"{record['id']} is {record['status']} in coffer and {said} at the provider")
    out += [f"{left} is {status} at the provider and unknown to coffer" for left, status in theirs.items()
            if status != "failed"]
    return out


def chaos(gateway, provider, dice, stopping):
    kills = [0, 0]
    while not stopping.wait(dice.uniform(0.3, 1.2)):
        side = dice.randrange(2)
        kills[side] += 1
        if side == 0:
            gateway.kill()
            gateway.start()
        else:
            provider.kill()
            time.sleep(dice.uniform(0, 0.3))
            provider.start()
    return kills


def balance(gateway):
    wallet = gateway.login().call("GET", "/v1/wallets/" + gateway.wallet("Treasury"))[1]
    return Decimal(next(b["balance"] for b in wallet["balances"] if b["assetCode"] == "USDC"))


def judge(gateway, provider, customers, before):
    """All faults after the end."""
    records = [record for record in gateway.login().list_transactions("type=offramp")
               if record["transactionId"].startswith("chaos-")]
    payouts = provider.payouts()
    faults = disagreements(records, payouts)
    if not disagreements(records, payouts + payouts[:1]) or not disagreements(
            records, [{**payouts[0], "status": "pending"}, *payouts[1:]]):
        faults.append("the comparison does not detect a duplicate or changed line")
    ids = {record["transactionId"]: record["id"] for record in records}
    if ids != customers.acked:
        faults.append(f"{len(customers.acked)} payouts were acknowledged, but {len(ids)} exist")
    gone = sum((Decimal(record["total"]) for record in records
                if record["status"] in ("succeeded", "refund_failed")), Decimal(0))
    if before - gone != balance(gateway):
        faults.append(f"the balance is {balance(gateway)}, expected {before} minus {gone}")
    ends = {}
    for record in records:
        ends[record["status"]] = ends.get(record["status"], 0) + 1
    return faults, ends


def main():
    count = int(os.environ.get("COFFER_CASHOUTS", "60"))
    seed = int(os.environ.get("COFFER_SEED", str(time.time_ns() % 1_000_000)))
    dice = random.Random(seed)
    print(f"provider_chaos: {count} cash-outs, COFFER_SEED={seed}")
    with tempfile.TemporaryDirectory() as folder:
        gateway = Demo(binary(), folder, port=held_port()).start()
        provider = chaotic_provider(gateway, folder, seed).start()
        connection = gateway.login()
        beneficiaries = [beneficiary(connection, ending) for ending in ENDINGS]
        words = purpose(connection)
        before = balance(gateway)
        customers = Customers(gateway, provider.connector, beneficiaries, count, words).start()
        stopping, kills, began = threading.Event(), [], time.monotonic()
        worker = threading.Thread(target=lambda: kills.extend(chaos(gateway, provider, dice, stopping)))
        worker.start()
        customers.join()
        time.sleep(1)
        stopping.set()
        worker.join()
        if customers.surprises:
            fail(f"responses that no client should get: {customers.surprises[:5]}")
        provider.control("PUT", "/faults", {"faults": ""})
        took = wait_until_settled(gateway, SETTLED_WITHIN_S + 2 * (time.monotonic() - began))
        faults, ends = judge(gateway, provider, customers, before)
        if gateway.stop() != 0:
            faults.append("a clean stop did not exit with 0")
        provider.kill()
        faults += audit(gateway.db, settled=True)
        judge_faults(faults)
        print(f"provider_chaos: {kills[0]} kills of coffer, {kills[1]} of the provider, {count} payouts,"
              f" finally {ends}; all finished {took:.1f} s after the provider"
              " recovered, its list matches line by line, money is conserved")


if __name__ == "__main__":
    main()
