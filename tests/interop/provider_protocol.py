#!/usr/bin/env -S PYTHONPATH=tests python3 -B
"""The provider protocol from an implementer's view: its document is valid for a stock linter, its examples and
signatures are correct, and a simulated provider in a separate process behaves as documented, also after kill -9. ajv
checks shapes (shapes.mjs), and Python's hmac signatures."""

import copy
import hashlib
import hmac
import json
import os
import re
import tempfile
import time
import uuid

from harness.calls import fetch
from harness.machine import ROOT, binary, node_packages
from harness.node import judged_by_node
from harness.provider import Simulator
from harness.receiver import Receiver
from harness.report import check, wait_for
from linter import complaints

DOCUMENT = os.path.join(ROOT, "docs", "provider-openapi.json")
SECRET = "interop-secret"
ID = re.compile(r"[0-9a-f]{8}-[0-9a-f-]{27}")


class Shapes:
    """Values that must have a documented shape, and controls that must not, checked together."""

    def __init__(self, document):
        self.document, self.cases = document, []

    def add(self, what, schema, value, fits=True):
        self.cases.append((what, schema, value, fits))

    def judge(self):
        faults = judged_by_node(os.path.join(ROOT, "tests/interop/shapes.mjs"), {
            "document": self.document, "cases": [{"schema": case[1], "value": case[2]} for case in self.cases]})
        for (what, _, _, fits), fault in zip(self.cases, faults, strict=True):
            check(f"{what} {'has' if fits else 'does not have'} the documented shape", (fault is None) == fits, fault)


def add_examples(shapes):
    """Collects all examples of requests and responses."""
    count, document = 0, shapes.document
    for path, item in [*document["paths"].items(), *document["webhooks"].items()]:
        for method, operation in item.items():
            for part in (operation.get("requestBody"), *operation["responses"].values()):
                content = ((part or {}).get("content") or {}).get("application/json")
                if not content:
                    continue
                examples = content["examples"].values() if "examples" in content else [{"value": content["example"]}]
                for example in examples:
                    shapes.add(f"an example of {method} {path}", content["schema"], example["value"])
                    count += 1
    check(f"there are {count} examples", count >= 45)
    shapes.add("control: a payout that failed for no reason", "Payout",
               {"id": str(uuid.uuid4()), "status": "failed"}, fits=False)
    shapes.add("control: an amount that is a number", "Quote",
               {"sendAmount": 1, "receiveAmount": "1", "rate": "1", "fee": "0"}, fits=False)


def signature_of(key, timestamp, method, path, body):
    text = f"{timestamp}.{method}.{path}.{body}".encode()
    return "v1=" + hmac.new(key.encode(), text, hashlib.sha256).hexdigest()


def judge_signed_examples(shapes):
    with open(os.path.join(ROOT, "docs", "provider-protocol.md"), encoding="utf-8") as file:
        blocks = re.findall(r"secret: {4}(.*)\ntimestamp: (.*)\nmethod: {4}(.*)\npath: {6}(.*)\nbody: {6}(.*)\n"
                            r"signature: (.*)\n", file.read())
    check("the page has three signed examples", len(blocks) == 3)
    for key, timestamp, method, path, shown, signature in blocks:
        body = "" if shown == "(empty)" else shown
        check(f"the signature of {method} {path} is correct",
              signature_of(key, timestamp, method, path, body) == signature)
        if body:
            shapes.add(f"the signed body of {path}", "NewPayout" if path == "/payouts" else "Callback",
                       json.loads(body))


class Protocol:
    """The simulator, called as coffer would."""

    def __init__(self, folder, shapes):
        self.shapes, self.document = shapes, shapes.document
        self.callbacks = Receiver()
        self.provider = Simulator(binary()).configure(
            SECRET, "--db", os.path.join(folder, "provider.ndjson"), "--callback",
            f"http://127.0.0.1:{self.callbacks.port}").start()

    def call(self, method, path, body=None, key=SECRET, skew_s=0):
        """Makes one signed call and returns (status, body). The response must be documented."""
        text = "" if body is None else json.dumps(body)
        timestamp, route = str(int(time.time()) + skew_s), path.partition("?")[0]
        response = fetch(self.provider.url + path, method, text or None, {
            "Coffer-Timestamp": timestamp, "Content-Type": "application/json",
            "Coffer-Signature": signature_of(key, timestamp, method, route, text)})
        what = f"{method} {path} {response.status}"
        documented = self.document["paths"].get(ID.sub("{id}", route), {}).get(method.lower(), {})
        documented = documented.get("responses", {}).get(str(response.status))
        check(what + " is documented", documented is not None)
        self.shapes.add(what, documented["content"]["application/json"]["schema"], response.json())
        return response.status, response.json()

    def example(self, path):
        return copy.deepcopy(self.document["paths"][path]["post"]["requestBody"]["content"]["application/json"]["example"])

    def payout_to(self, account_number):
        payout = {**self.example("/payouts"), "id": str(uuid.uuid4())}
        payout["recipient"]["accountNumber"] = account_number
        return payout

    def payouts(self):
        """A successful payout, and all related cases."""
        status, quote = self.call("POST", "/quotes", self.example("/quotes"))
        check("a quote", status == 200 and quote["sendAmount"] == "100.00", quote)
        payout = self.payout_to("0123456789")
        check("a payout is accepted", self.call("POST", "/payouts", payout)[0] == 202)
        check("a repeated payout is recognised", self.call("POST", "/payouts", payout)[0] == 200)
        check("a repetition with other content is rejected",
              self.call("POST", "/payouts", {**payout, "sendAmount": "1.00"})[0] == 409)
        status, rejected = self.call("POST", "/payouts", self.payout_to("000001102"))
        check("a rejection has its code", status == 422 and rejected["code"] == "account_closed", rejected)
        check("garbage is rejected", self.call("POST", "/payouts", {"id": "x"})[0] == 400)
        check("another secret is rejected", self.call("POST", "/payouts", self.payout_to("1"), key="x")[0] == 401)
        check("an old signature is rejected", self.call("GET", f"/payouts/{payout['id']}", skew_s=-301)[0] == 401)
        never = str(uuid.uuid4())
        status, unknown = self.call("GET", f"/payouts/{never}")
        check("an unknown payout gets 404", status == 404 and unknown["code"] == "payout_not_found", unknown)
        cancelled = self.call("POST", f"/payouts/{never}/cancel")[1]
        check("an unknown payout can be cancelled", cancelled["failure"]["code"] == "cancelled", cancelled)
        late = self.call("POST", "/payouts", {**self.payout_to("0123456789"), "id": never})[1]
        check("a cancelled payout that arrives late is not executed", late["status"] == "failed", late)
        return payout

    def collections(self):
        collection = {**self.example("/collections"), "id": str(uuid.uuid4())}
        collection["payer"]["accountNumber"] = "000001201"
        collection["expiresAt"] = time.strftime("%Y-%m-%dT%H:%M:%S.000Z", time.gmtime(time.time() + 600))
        asked = self.call("POST", "/collections", collection)[1]
        check("a collection has instructions", asked["instructions"], asked)
        path = f"/collections/{collection['id']}"
        check("a collection expires on request", self.call("POST", path + "/expire")[1]["status"] == "expired")
        check("permanently", self.call("GET", path)[1]["status"] == "expired")

    def refunds(self):
        body = self.document["paths"]["/refunds"]["post"]["requestBody"]["content"]["application/json"]
        for example in body["examples"].values():
            refund = {**example["value"], "id": str(uuid.uuid4())}
            check("a refund is accepted", self.call("POST", "/refunds", refund)[0] == 202)
            check("a repeated refund is recognised", self.call("POST", "/refunds", refund)[0] == 200)
            check("a refund with other content is rejected",
                  self.call("POST", "/refunds", {**refund, "amount": "1.00"})[0] == 409)
        refused = {**refund, "id": str(uuid.uuid4()), "payer": {**refund["payer"], "accountNumber": "000001603"}}
        status, rejected = self.call("POST", "/refunds", refused)
        check("a rejected refund has its code", status == 422 and rejected["code"] == "account_closed", rejected)
        status, unknown = self.call("GET", f"/refunds/{uuid.uuid4()}")
        check("an unknown refund gets 404", status == 404 and unknown["code"] == "refund_not_found", unknown)

    def references(self):
        ask = self.example("/references")
        status, issued = self.call("POST", "/references", ask)
        check("a reference", status == 200 and issued["metadata"] is not None, issued)
        for what, customer, wanted in (("a customer who is not registered", "customer-2002", 404),
                                       ("no reference available", "customer-2003", 409)):
            check(what, self.call("POST", "/references", {**ask, "customerId": customer})[0] == wanted)
        self.provider.control("POST", f"/references/{issued['reference']}/pay",
                              {"amount": "12.50", "payer": {"name": "Ada"}})

    def judge_callbacks(self):
        def told():
            return [one.event() for one in self.callbacks.snapshot()]
        wait_for("callbacks of every kind arrive", lambda: len({one["type"] for one in told()}) == 4, 10)
        for one in self.callbacks.snapshot():
            self.shapes.add(f"the callback {one.event()['id']}", "Callback", one.event())
            check("the callback is signed", one.headers["coffer-signature"] == signature_of(
                SECRET, one.headers["coffer-timestamp"], "POST", one.target, one.body.decode()))
        ids = [one["id"] for one in told()]
        check(f"{len(ids)} callbacks, each once", len(set(ids)) == len(ids))

    def restart(self, payout):
        in_review = self.payout_to("000001202")
        self.call("POST", "/payouts", in_review)
        self.provider.kill()
        self.provider.start()
        status, again = self.call("POST", "/payouts", payout)
        check("after kill -9, the provider knows its payouts", status == 200 and again["status"] == "succeeded", again)
        ids = [one["id"] for one in self.call("GET", "/payouts?cursor=")[1]["data"]]
        check("the provider's list has every payout once",
              {payout["id"], in_review["id"]} <= set(ids) and len(set(ids)) == len(ids), ids)
        wait_for("callbacks continue after kill -9", lambda: any(
            one.event()["data"].get("id") == in_review["id"] for one in self.callbacks.snapshot()), 10)
        check("after SIGTERM, the provider exits with 0", self.provider.stop() == 0)


def main():
    node_packages("interop")
    check("the linter has no complaints", not (said := complaints(DOCUMENT)), said)
    with open(DOCUMENT, encoding="utf-8") as file:
        shapes = Shapes(json.load(file))
    add_examples(shapes)
    judge_signed_examples(shapes)
    with tempfile.TemporaryDirectory() as folder:
        protocol = Protocol(folder, shapes)
        payout = protocol.payouts()
        protocol.collections()
        protocol.refunds()
        protocol.references()
        protocol.judge_callbacks()
        protocol.restart(payout)
    shapes.judge()


main()
