#!/usr/bin/env -S PYTHONPATH=tests python3 -B
# ctest: waits
"""Kills coffer before a provider call, between the call and its response, and after the response: each payout is still
carried out once."""

import tempfile

from harness.auditor import audit
from harness.clients import wait_until_settled
from harness.machine import binary
from harness.provider import beneficiary, purpose
from harness.report import fail, judge_faults
from harness.server import Demo
from provider_chaos import ENDINGS, SETTLED_WITHIN_S, Customers

POINTS = ("provider.opened", "provider.answered", "provider.closed")
SIGKILL = -9
DIES_WITHIN_S = 20.0
CASH_OUTS = 24
# A payout that fails before coffer learns of its acceptance was never debited, and only fails.
ENDS = {"5678": ("succeeded",), "1101": ("failed",), "1104": ("failed",), "1202": ("succeeded",),
        "1301": ("refunded", "failed"), "1303": ("refund_failed",)}


def run(point, passage):
    """The number of open attempts when the process was killed."""
    with tempfile.TemporaryDirectory() as folder:
        gateway = Demo(binary("faults"), folder).start()
        connection = gateway.login()
        recipients = [beneficiary(connection, ending) for ending in ENDINGS]
        words = purpose(connection)
        gateway.stop()
        gateway.start(env={"COFFER_FAULT": f"{point}:{passage}"})
        connector = next(c["id"] for c in gateway.facts["connectors"]
                         if c["method"] == "MOMO" and c["direction"] == "OFF_RAMP")
        customers = Customers(gateway, connector, recipients, CASH_OUTS, words).start()
        code = gateway.wait(DIES_WITHIN_S)
        if code != SIGKILL:
            fail(f"{point}:{passage}: the process exited with {code}")
        faults = audit(gateway.db)
        gateway.start()
        customers.join()
        wait_until_settled(gateway, SETTLED_WITHIN_S)
        records = gateway.login().list_transactions("type=offramp")
        gateway.stop()
        faults += customers.surprises + audit(gateway.db, settled=True)
        if {record["transactionId"]: record["id"] for record in records} != customers.acked:
            faults.append(f"{len(customers.acked)} payouts were acknowledged, but {len(records)} exist")
        wanted = dict(zip(recipients, (ENDS[ending] for ending in ENDINGS)))
        faults += [f"{record['transactionId']} is {record['status']}" for record in records
                   if record["status"] not in wanted[record["beneficiaryId"]]]
        judge_faults(faults, f"{point}:{passage}")
        print(f"  {point}:{passage}: {len(records)} payouts, each carried out once")


def main():
    for point in POINTS:
        for passage in (1, 4):
            run(point, passage)
    print("provider_points: no faults")


main()
