#!/usr/bin/env -S PYTHONPATH=tests python3 -B
# ctest: waits
"""Kills coffer before and after the commit of a return or reversal, and around a call to the provider. Callers and the
provider repeat themselves until they get a response. In the end, each return is credited once, each reversal moved its
amount once, and the provider gave each part of an on-ramp back once. COFFER_SEED: the passages."""

import os
import random
import tempfile
import time
from decimal import Decimal

from harness.auditor import audit
from harness.clients import Crowd, wait_until_settled
from harness.machine import binary, held_port
from harness.provider import RATES, Simulator, add_connector, beneficiary, purpose
from harness.report import fail, judge_faults
from harness.server import Demo

POINTS = ("commit.before", "commit.after", "provider.opened", "provider.answered", "provider.closed")
SIGKILL = -9
DIES_WITHIN_S = 20.0
ENDS_WITHIN_S = 60.0
PAYOUTS, TRANSFERS, COLLECTIONS, PARTS = 6, 6, 4, 4
SENT, COLLECTED = Decimal("10"), Decimal("1000")


class Callers(Crowd):
    """Each reverses one payment in parts, and repeats each request until it gets a response, and once more. A part of
    an on-ramp waits until the provider has given the earlier one back."""

    def __init__(self, gateway, transfers, collections):
        self.payments = [(key, SENT) for key in transfers] + [(key, COLLECTED) for key in collections]
        super().__init__(len(self.payments))
        self.gateway, self.surprises = gateway, []

    def work(self, number):
        key, amount = self.payments[number]
        for part in range(PARTS):
            path = f"/v1/payments/{key}/reversals"
            body = {"transactionId": f"reversal-{number}-{part}", "amount": str(amount / PARTS), "reason": "Test"}
            first, second = self.call(path, body), self.call(path, body)
            if (first[0], second[0]) != (202, 202) or not second[1]["isIdempotent"]:
                self.surprises.append(f"reversal: {first} {second}")

    def call(self, path, body):
        while True:
            try:
                status, answer = self.gateway.login().call("POST", path, body)
                busy = status == 409 and "in progress" in answer["detail"]
                if not busy and status not in (429, 502, 503, 504):
                    return status, answer
            except (ConnectionError, OSError, KeyError, TypeError, AttributeError):
                pass
            time.sleep(0.05)


def pay(connection, path, body):
    status, answer = connection.call("POST", path, body)
    if status != 202:
        fail(f"{path}: {status} {answer}")
    return answer["transactionRecordId"]


def payments(gateway, connector, collecting):
    """Record ids of payouts, transfers and on-ramps, all succeeded."""
    connection = gateway.login()
    first, second = gateway.wallet("Treasury"), gateway.wallet("Operations")
    recipient, words, payouts = beneficiary(connection, "5678"), purpose(connection), []
    for number in range(PAYOUTS):
        quote = connection.call("POST", "/v1/quotes", {"amount": str(SENT), "connectorId": connector,
                                                       "beneficiaryId": recipient})[1]
        payouts.append(pay(connection, "/v1/payments/offramp", {
            "transactionId": f"payout-{number}", "quoteId": quote["quoteId"], "sourceWalletId": first,
            "beneficiaryId": recipient, **words}))
    transfers = [pay(connection, "/v1/payments/p2p/own", {
        "transactionId": f"transfer-{number}", "sourceWalletId": first, "destinationWalletId": second,
        "sendingAssetCode": "USDC", "amount": str(SENT)}) for number in range(TRANSFERS)]
    collections = []
    for number in range(COLLECTIONS):
        quote = connection.call("POST", "/v1/quotes?type=onramp", {
            "amount": str(COLLECTED), "connectorId": collecting})[1]
        collections.append(pay(connection, "/v1/payments/onramp", {
            "transactionId": f"collection-{number}", "quoteId": quote["quoteId"], "destinationWalletId": second,
            "payer": {"name": "Ada Obi", "accountNumber": "0220330044"}}))
    wait_until_settled(gateway, ENDS_WITHIN_S)
    return payouts, transfers, collections


def run(point, passage):
    with tempfile.TemporaryDirectory() as folder:
        gateway = Demo(binary("faults"), folder, port=held_port()).start()
        provider = Simulator(gateway.binary)
        connector, secret = add_connector(gateway, "Returns", provider.url, "--timeout-ms", "2000")
        provider.configure(secret, "--callback", gateway.facts["baseUrl"], "--rates", RATES).start()
        collector = Simulator(gateway.binary)
        collecting, secret = add_connector(gateway, "Collections", collector.url, "--timeout-ms", "2000",
                                           "--direction", "ON_RAMP")
        collector.configure(secret, "--callback", gateway.facts["baseUrl"], "--rates", "KES:USDC=0.0075").start()
        payouts, transfers, collections = payments(gateway, connector, collecting)
        gateway.stop()
        try:
            gateway.start(env={"COFFER_FAULT": f"{point}:{passage}"})
        except (RuntimeError, ConnectionError):
            pass  # a kill before the process is ready is also valid
        callers = Callers(gateway, transfers, collections).start()
        amount = str(SENT * Decimal("129.5") / PARTS)
        for payout in payouts * PARTS:
            provider.control("POST", f"/payouts/{payout}/return", {"amount": amount, "reason": "Closed"})
        if point.startswith("provider"):
            try:
                payments_again(gateway, connector)
            except (ConnectionError, OSError):
                pass
        code = gateway.wait(DIES_WITHIN_S)
        if code != SIGKILL:
            fail(f"{point}:{passage}: the process exited with {code}")
        faults = audit(gateway.db)
        gateway.start()
        callers.join()
        faults += callers.surprises + wait_for_returns(gateway, payouts, collections)
        wait_until_settled(gateway, ENDS_WITHIN_S)
        gateway.stop()
        provider.kill()
        refunds = collector.control("GET", "/refunds")["data"]
        if [refund["status"] for refund in refunds] != ["succeeded"] * (COLLECTIONS * PARTS):
            faults.append(f"the provider gave back {refunds}")
        collector.kill()
        faults += audit(gateway.db, settled=True)
        judge_faults(faults, f"{point}:{passage}")
        print(f"  {point}:{passage}: {len(payouts) * PARTS} returns, {len(transfers) * PARTS} reversals and"
              f" {len(refunds)} refunds, each once")


def payments_again(gateway, connector):
    """One more payout, for the points of a call to its provider."""
    connection = gateway.login()
    recipient = beneficiary(connection, "5678")
    quote = connection.call("POST", "/v1/quotes", {"amount": "10", "connectorId": connector,
                                                   "beneficiaryId": recipient})[1]
    pay(connection, "/v1/payments/offramp", {
        "transactionId": "one-more", "quoteId": quote["quoteId"], "sourceWalletId": gateway.wallet("Treasury"),
        "beneficiaryId": recipient, **purpose(connection)})


def wait_for_returns(gateway, payouts, collections):
    """Waits until every payment was given back exactly; returns what is missing then."""
    until, missing = time.monotonic() + ENDS_WITHIN_S, ["not checked"]
    while missing and time.monotonic() < until:
        records = {record["id"]: record for record in gateway.login().list_transactions("status=refunded")}
        missing = [f"{key} gave back nothing" for key in payouts + collections if key not in records]
        missing += [f"{record['id']} gave back {record['refund']}" for record in records.values()
                    if Decimal(record["refund"]["amount"]) != Decimal(record["sendingAmount"])]
        time.sleep(0.2)
    if len(records) != PAYOUTS + TRANSFERS + COLLECTIONS:
        missing.append(f"{len(records)} payments were given back")
    return missing


def main():
    seed = int(os.environ.get("COFFER_SEED", str(time.time_ns() % 1_000_000)))
    dice = random.Random(seed)
    print(f"refund_points: COFFER_SEED={seed}")
    for point in POINTS:
        for passage in (1,) if point.startswith("provider") else (1, dice.randint(2, 12), dice.randint(13, 30)):
            run(point, passage)
    print("refund_points: no faults")


main()
