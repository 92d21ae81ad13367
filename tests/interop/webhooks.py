#!/usr/bin/env -S PYTHONPATH=tests python3 -B
"""Deliveries of the release build verify with the stock Standard Webhooks library, and with a consumer that was written
only from the contract (harness/receiver.py)."""

import base64
import tempfile

from harness.machine import binary
from harness.receiver import Receiver, changed, contract_verifies, stock_verifies
from harness.report import check
from harness.server import Demo
from harness.tenant import Tenant

OTHER = "whsec_" + base64.b64encode(bytes(32)).decode()


def contract_holds(delivery):
    return contract_verifies(delivery.headers, delivery.body, delivery.arrived * 1000)


def deliveries_verify(tenant, receiver, secret):
    for number in range(5):
        tenant.pay(f"interop-{number}")
    deliveries = receiver.wait_for(16)
    check("16 deliveries verify with the stock library", all(stock_verifies([(one, secret) for one in deliveries])))
    check("16 deliveries verify with a consumer of the contract", all(map(contract_holds, deliveries)))
    check("one of them is a repetition", sum(one.number for one in deliveries) == 1)
    forged = changed(deliveries[0], body=deliveries[0].body.replace(b"1.25", b"9.25"))
    check("a forged body does not verify, nor does another secret",
          forged.body != deliveries[0].body and not contract_holds(forged)
          and stock_verifies([(forged, secret), (deliveries[0], OTHER)]) == [False, False])


def rotations_verify(tenant, receiver, webhook):
    path = f"/v1/webhooks/{webhook['id']}"
    rotated = tenant.ask("POST", path + "/rotate-secret", {"gracePeriodSeconds": 60})["secret"]
    tenant.ask("POST", path + "/test")
    both = receiver.wait_for(17)[16]
    check("after a rotation both secrets verify", all(stock_verifies([(both, webhook["secret"]), (both, rotated)])))
    newest = tenant.ask("POST", path + "/rotate-secret", {"gracePeriodSeconds": 0})["secret"]
    tenant.ask("POST", path + "/test")
    latest = receiver.wait_for(18)[17]
    check("without a grace period, only the new secret verifies",
          stock_verifies([(latest, newest), (latest, rotated)]) == [True, False])


def main():
    statuses = ["error"]  # the first attempt fails and is repeated
    with tempfile.TemporaryDirectory() as folder:
        demo = Demo(binary(), folder).start()
        tenant, receiver = Tenant.of_demo(demo), Receiver(lambda _: statuses.pop() if statuses else "ok")
        webhook = tenant.ask("POST", "/v1/webhooks", {"url": receiver.url(), "eventTypes": ["*"]})
        deliveries_verify(tenant, receiver, webhook["secret"])
        rotations_verify(tenant, receiver, webhook)
        check("the demo exits with 0", demo.stop() == 0)


main()
