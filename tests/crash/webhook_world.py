"""Additional associations with wallets and endpoints at a running demo, their payers, and the final comparison of
payments, events and deliveries."""

import datetime
import sqlite3
import sys
import time

from harness.auditor_webhooks import event_id, event_id_key
from harness.clients import TRY_AGAIN, Crowd, wait_until_settled
from harness.receiver import WELL, changed, judge_requests
from harness.tenant import Tenant

class Endpoint:
    """A webhook at a receiver. `healthy`: every event must arrive there."""

    def __init__(self, member, receiver, types=("*",), healthy=True):
        self.member, self.receiver, self.types, self.healthy = member, receiver, types, healthy
        made = member.ask("POST", "/v1/webhooks", {"url": receiver.url(), "eventTypes": list(types)})
        self.id, self.secrets = made["id"], [made["secret"]]

    def wants(self, event):
        if event["type"] == "webhook.test":
            return False  # sent only to the requested endpoint; the tests count them separately
        return event["type"] in self.types or ("*" in self.types and event["type"].startswith("payment."))

    def pending(self):
        path = f"/v1/webhooks/{self.id}/deliveries?status=pending&limit=1"
        return bool(self.member.ask("GET", path)["data"])

    def log(self):
        return self.member.pages(f"/v1/webhooks/{self.id}/deliveries")


class Member(Tenant):
    """A tenant with endpoints and its payments."""

    def __init__(self, *arguments, **named):
        super().__init__(*arguments, **named)
        self.endpoints = []
        self.sent, self.acked = {}, {}

    def listen(self, receiver, **how):
        self.endpoints.append(Endpoint(self, receiver, **how))
        return self.endpoints[-1]

    def facts(self):
        """All data about this association from every source, for `judge`."""
        return {"name": self.name, "association": self.association, "acked": dict(self.acked),
                "events": self.pages("/v1/events"), "records": self.pages("/v1/transactions"),
                "endpoints": [{"name": f"{self.name}/{','.join(endpoint.types)}", "wants": endpoint.wants,
                               "healthy": endpoint.healthy, "secrets": endpoint.secrets, "log": endpoint.log(),
                               "deliveries": endpoint.receiver.snapshot()} for endpoint in self.endpoints]}


class Payers(Crowd):
    """Threads that pay at a steady rate and retry each payment until there is a response."""

    def __init__(self, work, per_second, threads=6):
        """`work`: the paying member of each payment."""
        super().__init__(threads)
        self.left = list(enumerate(work))
        self.left.reverse()
        self.pause = threads / per_second
        self.surprises = []

    def stop(self):
        """Stops after the payments in progress."""
        with self.lock:
            self.left.clear()

    def join(self):
        super().join()
        if self.surprises:
            sys.exit(f"responses that no client should get: {self.surprises[:3]}")

    def work(self, _):
        connections = {}
        while not self.surprises:
            with self.lock:
                if not self.left:
                    return
                number, member = self.left.pop()
            began = time.monotonic()
            self.pay(member, number, connections)
            time.sleep(max(0.0, self.pause - (time.monotonic() - began)))

    def pay(self, member, number, connections):
        source, target = member.wallets if number % 2 else reversed(member.wallets)
        single = {"sourceWalletId": source, "destinationWalletId": target, "sendingAssetCode": "USDC",
                  "amount": f"{number % 89 + 1}.{number % 100:02}"}
        body = {**single, "transactionId": f"{member.name}-{number}"}
        route = "p2p/own"
        if number % 5 == 4:
            body = {"transactionId": body["transactionId"], "transfers": [single, single]}
            route = "p2p/own/multi"
        member.sent[body["transactionId"]] = body
        while not self.surprises:
            try:
                if member not in connections:
                    connections[member] = member.login()
                status, answer = connections[member].call("POST", "/v1/payments/" + route, body)
            except (ConnectionError, OSError, TypeError, AttributeError):
                connections.pop(member, None)
                time.sleep(0.02)
                continue
            if status == 202:
                member.acked[body["transactionId"]] = answer["transactionRecordId"]
                return
            if status not in TRY_AGAIN:
                self.surprises.append((status, answer))
            time.sleep(0.05)


def when(text):
    return datetime.datetime.fromisoformat(text).timestamp()


# --- what must match --------------------------------------------------------------------------------------

def judge_events(facts):
    """Every payment must have its events and every event its payment, without a gap in the sequence."""
    faults = []
    numbers = [event["sequence"] for event in facts["events"]]
    if numbers != list(range(1, len(numbers) + 1)):
        faults.append("sequence without a gap: GET /v1/events is not 1, 2, 3, ...")
    if len({event["id"] for event in facts["events"]}) != len(numbers):
        faults.append("one event per id: ids repeat in GET /v1/events")
    if any(event["associationId"] != facts["association"] for event in facts["events"]):
        faults.append("only the association's events: found another one's event")
    of_record = {}
    for event in facts["events"]:
        if event["type"].startswith("payment.") and not event.get("test"):
            of_record.setdefault(event["data"]["id"], []).append(event)
    records = {record["id"]: record for record in facts["records"]}
    for transaction, record in facts["acked"].items():
        if records.get(record, {}).get("transactionId") != transaction:
            faults.append(f"acknowledged and lost: {transaction}")
    for record in facts["records"]:
        if facts["acked"].get(record["transactionId"]) != record["id"]:
            faults.append(f"not a requested payment: {record['transactionId']}")
        events = of_record.pop(record["id"], [])
        said = [(event["type"], event["data"]["version"], event["data"]["status"]) for event in events]
        wanted = [("payment." + step["status"], version, step["status"])
                  for version, step in enumerate(record["statusHistory"], 1)]
        if said != wanted:
            faults.append(f"one event per step: {record['transactionId']}: {said}, expected {wanted}")
        elif events[-1]["data"] != record:
            faults.append(f"the last event equals the record: {record['transactionId']}")
    faults += [f"no event without its payment: {record}" for record in of_record]
    return faults


def judge_endpoint(endpoint, events):
    """Compares the deliveries at one endpoint with the events and with the delivery log."""
    faults = judge_requests(endpoint["deliveries"], endpoint["secrets"])
    wanted = {event["id"]: event for event in events if endpoint["wants"](event)}
    arrived = {}
    for delivery in endpoint["deliveries"]:
        arrived.setdefault(delivery.id, []).append(delivery)
        if delivery.id not in wanted:
            faults.append(f"only existing and subscribed events: {delivery.id}")
        elif delivery.event() != wanted[delivery.id]:
            faults.append(f"the delivery equals GET /v1/events: {delivery.id}")
    well = {key for key, all_of_it in arrived.items() if any(one.behaviour in WELL for one in all_of_it)}
    log = {row["id"]: row for row in endpoint["log"]}
    if endpoint["healthy"]:
        faults += [f"every event arrives: {key} did not" for key in set(wanted) - well]
        faults += [f"the log has every delivery: {key} is {log.get(key, {}).get('status')}" for key in wanted
                   if log.get(key, {}).get("status") != "delivered"]
    for key, row in log.items():
        if row["status"] == "delivered" and key not in well:
            faults.append(f"delivered means a 2xx response: {key}")
        if row["status"] != "delivered" and key in well and endpoint["healthy"]:
            faults.append(f"a 2xx response means delivered: {key} is {row['status']}")
        if row["attempts"] > len(arrived.get(key, [])):
            faults.append(f"one request per attempt: {key} has {row['attempts']} in the log")
    return [f"{endpoint['name']}: {fault}" for fault in faults]


def judge(facts):
    faults = judge_events(facts)
    for endpoint in facts["endpoints"]:
        faults += judge_endpoint(endpoint, facts["events"])
    return faults


def judge_bytes(path, every):
    """Compares the deliveries byte by byte with the file of a stopped server."""
    db, faults = sqlite3.connect(path), []
    key = event_id_key(db)
    there = {event_id(key, *row) for row in db.execute("SELECT tenant, sequence, at FROM events")}
    kept = {event_id(key, *row): bytes(body) for *row, body in db.execute(
        "SELECT e.tenant, e.sequence, e.at, b.body FROM events e"
        " JOIN event_bodies b ON b.event_body = (e.tenant << 40) + e.sequence")}
    db.close()
    for facts in every:
        faults += [f"events are in the file: {event['id']}" for event in facts["events"] if event["id"] not in there]
        for endpoint in facts["endpoints"]:
            faults += [f"deliveries equal the bytes in the file: {delivery.id}" for delivery in endpoint["deliveries"]
                       if delivery.body != kept.get(delivery.id)]
    return faults


def worst_delay_s(facts):
    """The longest time from an event to its first arrival, over the healthy endpoints."""
    worst, times = 0.0, {event["id"]: when(event["timestamp"]) for event in facts["events"]}
    for endpoint in facts["endpoints"]:
        first = {}
        for delivery in endpoint["deliveries"]:
            first.setdefault(delivery.id, delivery.arrived)
        if endpoint["healthy"]:
            worst = max([worst, *(at - times[key] for key, at in first.items() if key in times)])
    return worst


# --- controls of the comparison -----------------------------------------------------------------------

def drop_delivery(facts):
    rows = facts["endpoints"][0]["deliveries"]
    lost = rows[len(rows) // 2].id
    facts["endpoints"][0]["deliveries"] = [row for row in rows if row.id != lost]


def double_with_other_bytes(facts):
    rows = facts["endpoints"][0]["deliveries"]
    rows.append(changed(rows[0], body=rows[0].body.replace(b'"v1"', b'"v1" ')))


def forge(facts):
    rows = facts["endpoints"][0]["deliveries"]
    rows[0] = changed(rows[0], headers={**rows[0].headers, "webhook-signature": "v1,AAAA"})


def forge_contract(facts):
    rows = facts["endpoints"][0]["deliveries"]
    rows[0] = changed(rows[0], headers={**rows[0].headers, "x-svc-signature": "sha256=" + "0" * 64})


def drop_event(facts):
    del facts["events"][len(facts["events"]) // 2]


def drop_record(facts):
    del facts["records"][0]


def unsent_event(facts):
    """Adds a delivery that coffer has no record of."""
    rows = facts["endpoints"][0]["deliveries"]
    text = rows[0].body.decode().replace(rows[0].id, "01a1fdd5-0000-7000-8000-000000000000")
    rows.append(changed(rows[0], body=text.encode(), id="01a1fdd5-0000-7000-8000-000000000000"))


def lie_in_log(facts):
    facts["endpoints"][0]["log"][0]["status"] = "dead"


CONTROLS = (("every event arrives", drop_delivery), ("every attempt has the same body", double_with_other_bytes),
            ("signature of Standard Webhooks", forge), ("signature of the contract", forge_contract),
            ("sequence without a gap", drop_event), ("acknowledged and lost", drop_record),
            ("no event without its payment", drop_record), ("only existing and subscribed events", unsent_event),
            ("the log has every delivery", lie_in_log))


def check_controls(facts):
    """`facts`: sound facts of a member whose first endpoint is healthy. Returns the number of detected controls."""
    for sentence, damage in CONTROLS:
        other = {**facts, "events": list(facts["events"]), "records": list(facts["records"]),
                 "endpoints": [{**endpoint, "deliveries": list(endpoint["deliveries"]),
                                "log": [dict(row) for row in endpoint["log"]]}
                               for endpoint in facts["endpoints"]]}
        damage(other)
        if not any(sentence in fault for fault in judge(other)):
            sys.exit(f"the comparison does not detect: {sentence}")
    return len(CONTROLS)


def wait_until_arrived(members, within_s):
    """Waits until all payments are settled and every event is delivered to every healthy, subscribed endpoint and
    recorded, or until the time limit. Returns the seconds."""
    began = time.monotonic()
    for member in members:
        wait_until_settled(member, max(within_s, 30.0))
    waiting = [endpoint for member in members for endpoint in member.endpoints if endpoint.healthy]
    events = {}
    while waiting and time.monotonic() - began < within_s:
        endpoint = waiting[-1]
        if endpoint.member not in events:
            events[endpoint.member] = endpoint.member.pages("/v1/events")
        wanted = {event["id"] for event in events[endpoint.member] if endpoint.wants(event)}
        if wanted <= endpoint.receiver.ids() and not endpoint.pending():
            waiting.pop()
        else:
            time.sleep(0.1)
    return time.monotonic() - began
