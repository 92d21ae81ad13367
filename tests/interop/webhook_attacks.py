"""Deliveries like coffer's and like an attacker's, and the required reaction of a consumer to each.

A consumer is any object with `post(headers, body)`, which returns the status, `has(folder, id)`,
`wait_done(id)`, `state_of(payment)`, `times_processed(sequence)`, and the folder in which it runs."""
import base64
import concurrent.futures
import hashlib
import hmac
import json
import os
import time
import uuid


# --- Deliveries ---------------------------------------------------------------------------------------

def signature(secret, event_id, timestamp, body):
    key = base64.b64decode(secret.removeprefix("whsec_"))
    mac = hmac.new(key, f"{event_id}.{timestamp}.".encode() + body, hashlib.sha256)
    return "v1," + base64.b64encode(mac.digest()).decode()


def headers_of(secret, event_id, body, age_s=0, timestamp=None):
    """The headers that coffer sends. The contract's own signature is always correct, because any sender can compute
    it."""
    if timestamp is None:
        timestamp = str(int(time.time()) - age_s)
    contract = hmac.new(event_id.encode(), body, hashlib.sha256).hexdigest()
    return {"X-Webhook-Id": event_id, "X-Webhook-Ts": str(int(time.time() * 1000)),
            "X-Svc-Signature": "sha256=" + contract, "webhook-id": event_id,
            "webhook-timestamp": timestamp,
            "webhook-signature": signature(secret, event_id, timestamp, body)}


def event(sequence, payment_id=None, version=1, status="initiated", **members):
    """(id, body)"""
    event_id = str(uuid.uuid4())
    body = {"id": event_id, "type": f"payment.{status}", "timestamp": "2026-01-31T09:00:00.000Z",
            "apiVersion": "v1", "environment": "sandbox", "associationId": str(uuid.uuid4()),
            "sequence": sequence, **members,
            "data": {"id": payment_id or str(uuid.uuid4()), "status": status, "version": version,
                     "sendingAmount": "1.25", "description": "Zürich – Köln"}}
    return event_id, json.dumps(body, ensure_ascii=False, separators=(",", ":")).encode()


def random_secret():
    return "whsec_" + base64.b64encode(os.urandom(32)).decode()


# --- Attacks ------------------------------------------------------------------------------------------

class Attacks:
    """All attacks that a consumer must withstand. `faults` lists the failed ones."""

    def __init__(self, consumer, secret):
        self.consumer = consumer
        self.secret = secret
        self.faults = []
        self.count = 0
        self.sequence = 1_000_000

    def expect(self, name, right, told=""):
        self.count += 1
        if not right:
            self.faults.append((name, told))

    def next_event(self, **members):
        self.sequence += 1
        return event(self.sequence, **members)

    def accepts(self, name, event_id, body, headers):
        status = self.consumer.post(headers, body)
        self.expect(name, 200 <= status < 300, status)
        if 200 <= status < 300:
            self.consumer.wait_done(event_id)

    def rejects(self, name, event_id, body, headers, **request):
        status = self.consumer.post(headers, body, **request)
        kept = self.consumer.has("new", event_id) or self.consumer.has("done", event_id)
        self.expect(name, 400 <= status < 500 and not kept, (status, kept))

    def run(self):
        for part in (self.forgeries, self.times, self.missing, self.signatures, self.requests,
                     self.repetitions, self.order):
            part()
        self.accepts("genuine at the end", *self.signed(*self.next_event()))
        return self

    def signed(self, event_id, body, **how):
        return event_id, body, headers_of(self.secret, event_id, body, **how)

    def forgeries(self):
        event_id, body, headers = self.signed(*self.next_event())
        changed = body.replace(b"1.25", b"9.25")
        svc = {"X-Svc-Signature": headers_of(self.secret, event_id, changed)["X-Svc-Signature"]}
        self.rejects("changed body", event_id, changed, {**headers, **svc})
        self.rejects("added white space", event_id, body + b"\n", headers)
        self.rejects("formatted anew", event_id, json.dumps(json.loads(body)).encode(), headers)
        self.rejects("wrong secret", event_id, body, headers_of(random_secret(), event_id, body))
        self.rejects("the contract's signature alone", event_id, body,
                     {**headers, "webhook-signature": headers["X-Svc-Signature"]})
        other = str(uuid.uuid4())
        self.rejects("id of another event", other, body, {**headers, "webhook-id": other})
        self.accepts("genuine", event_id, body, headers)

    def times(self):
        for name, age_s in (("old", 310), ("very old", 86_400), ("of the future", -310)):
            event_id, body, headers = self.signed(*self.next_event(), age_s=age_s)
            self.rejects(name, event_id, body, headers)
            now = str(int(time.time()))
            self.rejects(f"{name}, dated anew", event_id, body, {**headers, "webhook-timestamp": now})
        for name, age_s in (("four minutes old", 240), ("four minutes ahead", -240)):
            self.accepts(name, *self.signed(*self.next_event(), age_s=age_s))
        now = int(time.time())
        for text in (f"{now}x", f"-{now}", f"{now}000", "9" * 40, "NaN", "soon"):
            self.rejects(f"time {text[:8]}", *self.signed(*self.next_event(), timestamp=text))

    def missing(self):
        for header in ("webhook-id", "webhook-timestamp", "webhook-signature"):
            event_id, body, headers = self.signed(*self.next_event())
            without = {name: value for name, value in headers.items() if name != header}
            self.rejects(f"no {header}", event_id, body, without)
            self.rejects(f"empty {header}", event_id, body, {**headers, header: ""})
        event_id, body = self.next_event()
        self.rejects("no header at all", event_id, body, {})

    def signatures(self):
        event_id, body, headers = self.signed(*self.next_event())
        right = headers["webhook-signature"]
        bare = right.removeprefix("v1,")
        wrong = signature(random_secret(), event_id, headers["webhook-timestamp"], body)

        def having(text):
            return {**headers, "webhook-signature": text}

        rejected = {"a character short": right[:-1], "no padding": right.rstrip("="), "half": right[:20],
                   "version only": "v1,", "no comma": "v1", "no version": bare, "comma": ",",
                   "another version": "v2," + bare, "asymmetric": "v1a," + bare, "longer": right + "A",
                   "hex": "v1," + base64.b64decode(bare).hex(), "comma between": wrong + "," + right,
                   "upper case": right.upper(), "two wrong": f"{wrong} {wrong}", "umlaut": "v1,\xfc",
                   "wrong and short": f"{wrong} {right[:-1]}", "spaces": "   "}
        for name, text in rejected.items():
            self.rejects(f"signature: {name}", event_id, body, having(text))
        accepted = {"second": f"{wrong} {right}", "first": f"{right} {wrong}",
                    "after other versions": f"v2,{bare} v1a,{bare} {right}"}
        for name, text in accepted.items():
            event_id, body, headers = self.signed(*self.next_event())
            text = text.replace(bare, headers["webhook-signature"].removeprefix("v1,"))
            self.accepts(f"several signatures: {name}", event_id, body, having(text))

    def requests(self):
        for text in ("../../escaped", "..", "a.b", "a/b", "x" * 65):
            _, body = self.next_event()
            self.rejects(f"id {text[:8]}", text.replace("/", "_"), body,
                         headers_of(self.secret, text, body))
        self.expect("nothing outside of the inbox",
                    not os.path.exists(os.path.join(self.consumer.folder, "escaped")))
        for name, body in (("not JSON", b"{"), ("not an event", b'["payment"]'), ("empty", b""),
                           ("not UTF-8", b'{"type":"\xff\xfe"'), ("null", b"null")):
            self.rejects(name, *self.signed(str(uuid.uuid4()), body))
        event_id, body, headers = self.signed(*self.next_event())
        self.rejects("GET", event_id, None, headers, method="GET")
        self.rejects("another path", event_id, body, headers, path="/other")
        large = self.signed(*self.next_event(padding="x" * 100_000))
        self.accepts("100 KB", *large)
        huge = self.signed(*self.next_event(padding="x" * 2_000_000))
        status = self.consumer.post(huge[2], huge[1])
        self.expect("2 MB", status in (0, 413) and not self.consumer.has("new", huge[0]), status)

    def repetitions(self):
        event_id, body = self.next_event()
        sequence = self.sequence
        self.accepts("first", *self.signed(event_id, body))
        for _ in range(3):
            status = self.consumer.post(headers_of(self.secret, event_id, body), body)
            self.expect("a repetition gets a 2xx", 200 <= status < 300, status)
        together, body = self.next_event()
        with concurrent.futures.ThreadPoolExecutor(8) as pool:
            statuses = list(pool.map(
                lambda _: self.consumer.post(headers_of(self.secret, together, body), body), range(8)))
        self.expect("eight at once get a 2xx", all(200 <= s < 300 for s in statuses), statuses)
        # Consumers process waiting events in any order.
        self.consumer.wait_done(together)
        self.accepts("after the repetitions", *self.signed(*self.next_event()))
        for name, number in (("repetition", sequence), ("eight at once", sequence + 1)):
            times = self.consumer.times_processed(number)
            self.expect(f"{name}: processed once", times == 1, times)

    def order(self):
        payment_id = str(uuid.uuid4())
        for version, status in ((3, "succeeded"), (2, "processing"), (1, "initiated")):
            self.accepts(f"version {version}", *self.signed(
                *self.next_event(payment_id=payment_id, version=version, status=status)))
        state = self.consumer.state_of(payment_id)
        self.expect("an earlier version changes nothing",
                    state == {"version": 3, "status": "succeeded"}, state)
        sample = str(uuid.uuid4())
        self.accepts("sample", *self.signed(*self.next_event(payment_id=sample, test=True)))
        self.expect("a sample changes nothing", self.consumer.state_of(sample) is None)
        self.accepts("unknown type", *self.signed(*self.next_event(type="wallet.status_changed")))
