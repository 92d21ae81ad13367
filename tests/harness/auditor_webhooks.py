"""The part of the auditor that looks at events and their deliveries: what is in the file must agree with
itself, whatever happened to the process. See auditor.py."""

import hashlib
import hmac
import json
import os
import shutil
import sqlite3
import sys
import uuid
from datetime import datetime, timezone

TYPES = ("payment.initiated", "payment.processing", "payment.succeeded", "payment.failed",
         "payment.refund_pending", "payment.refunded", "payment.refund_failed", "wallet.status_changed",
         "onramp_reference.payment_received", "webhook.disabled", "webhook.test",
         "application.credentials_rotated")
TEST = TYPES.index("webhook.test")
ENVIRONMENTS = ("sandbox", "production")
PENDING, DELIVERED, DEAD, OVERSIZE = range(4)  # of deliveries.state


def wanted(webhook, event):
    if event["type"] == TEST:
        return event["webhook"] == webhook["webhook"]
    return bool(webhook["event_types"] >> event["type"] & 1)


def rfc3339(ms):
    at = datetime.fromtimestamp(ms // 1000, timezone.utc)
    return at.strftime("%Y-%m-%dT%H:%M:%S") + f".{ms % 1000:03}Z"


def event_id_key(db):
    row = db.execute("SELECT value FROM meta WHERE name = 'event_id_key'").fetchone()
    return row and bytes(row[0])


def event_id(key, tenant, sequence, at):
    """As src/store/webhooks/event_id.h documents it: the time, then bits of a keyed digest."""
    digest = hmac.new(key, f"{tenant}|{sequence}|{at}".encode(), hashlib.sha256).digest()
    made = int.from_bytes(at.to_bytes(6, "big") + digest[:10], "big")
    made = made & ~(15 << 76) | 7 << 76
    return str(uuid.UUID(int=made & ~(3 << 62) | 2 << 62))


class OutboxAudit:
    """`audit` has `rows(sql)` and `fault(check, what)`."""

    def __init__(self, audit):
        self.rows, self.fault = audit.rows, audit.fault
        self.key = event_id_key(audit.db)
        self.events = {(row["tenant"], row["sequence"]): row
                       for row in self.rows("SELECT * FROM events ORDER BY tenant, sequence")}
        self.webhooks = {row["webhook"]: row for row in self.rows("SELECT * FROM webhooks")}

    def check(self):
        self.check_events()
        self.check_bodies()
        self.check_deliveries()
        self.check_cursors()

    def check_events(self):
        if self.events and (self.key is None or len(self.key) != 32):
            self.fault("a key of event ids", self.key)
        last = {}
        for row in self.events.values():
            if row["at"] < last.get(row["tenant"], 0):
                self.fault("events in the order of time", tuple(row))
            last[row["tenant"]] = row["at"]

    def check_bodies(self):
        """What was made to be sent says what its row says."""
        tenants = {row["tenant"]: row for row in self.rows(
            "SELECT t.tenant, t.environment, a.id FROM tenants t JOIN associations a USING (association)")}
        records = {row["payment"]: str(uuid.UUID(bytes=row["id"]))
                   for row in self.rows("SELECT payment, id FROM payments")}
        for row in self.rows("SELECT * FROM event_bodies"):
            key = (row["event_body"] >> 40, row["event_body"] & (1 << 40) - 1)
            event = self.events.get(key)
            if event is None:
                self.fault("a body of an event", f"tenant, sequence {key}")
                continue
            body, tenant = json.loads(row["body"]), tenants[event["tenant"]]
            says = [body["id"], body["type"], body["timestamp"], body["sequence"], body["environment"],
                    body["associationId"], body["apiVersion"]]
            should = [event_id(self.key or b"", *key, event["at"]), TYPES[event["type"]], rfc3339(event["at"]),
                      event["sequence"], ENVIRONMENTS[tenant["environment"]],
                      str(uuid.UUID(bytes=tenant["id"])), "v1"]
            if event["payment"] is not None:
                says += [body["data"]["id"], body["data"]["version"]]
                should += [records.get(event["payment"]), event["version"]]
            if says != should:
                self.fault("the body is the event's", f"{says}, expected {should}")

    def check_deliveries(self):
        attempts = {}
        for row in self.rows("SELECT * FROM delivery_attempts ORDER BY webhook, sequence, attempt"):
            attempts.setdefault((row["webhook"], row["sequence"]), []).append(row)
        self.queued = set()
        for row in self.rows("SELECT * FROM deliveries"):
            key = (row["webhook"], row["sequence"])
            self.queued.add(key)
            webhook = self.webhooks[row["webhook"]]
            event = self.events.get((webhook["tenant"], row["sequence"]))
            if event is None:
                self.fault("a delivery of an event", key)
                continue
            log = attempts.pop(key, [])
            if [one["attempt"] for one in log] != list(range(1, row["tries"] + 1)):
                self.fault("every try is in the log", f"{key}: {row['tries']} tries, {len(log)} rows")
            well = [one["status"] is not None and one["status"] // 100 == 2 for one in log]
            # A new series of attempts was asked for, and none of them was made yet: anything may have been.
            begun = row["state"] != PENDING or row["attempts"] > 0
            if begun and (row["state"] == DELIVERED) != any(well):
                self.fault("delivered is what was answered with 2xx", f"{key} is in state {row['state']}")
            if row["state"] == PENDING and webhook["disabled_at"] is not None:
                self.fault("nothing waits for a disabled endpoint", key)
        for key in attempts:
            self.fault("an attempt of a delivery", key)

    def check_cursors(self):
        """What an endpoint has read and wants is queued for it."""
        for webhook in self.webhooks.values():
            if webhook["disabled_at"] is not None:
                continue
            for (tenant, sequence), event in self.events.items():
                looked_at = tenant == webhook["tenant"] and sequence <= webhook["cursor"]
                since = event["at"] > webhook["created_at"]
                if looked_at and since and wanted(webhook, event):
                    if (webhook["webhook"], sequence) not in self.queued:
                        self.fault("what is wanted is queued", f"webhook {webhook['webhook']}: {sequence}")


def check_outbox(audit):
    OutboxAudit(audit).check()


# --- whether it finds what is wrong ---------------------------------------------------------------------

# (the check that must report it, what is done by hand)
DAMAGES = [
    ("event sequence without a gap", "DELETE FROM events WHERE sequence = 9"),
    ("one event per version", "DELETE FROM events WHERE sequence = (SELECT max(sequence) FROM events)"),
    ("a body of an event", "DELETE FROM events WHERE sequence = 9"),
    ("events in the order of time", "UPDATE events SET at = at - 1000000 WHERE sequence = 9"),
    ("the body is the event's", "UPDATE events SET at = at + 1 WHERE sequence = 9"),
    ("the body is the event's", "UPDATE meta SET value = randomblob(32) WHERE name = 'event_id_key'"),
    ("a key of event ids", "DELETE FROM meta WHERE name = 'event_id_key'"),
    ("foreign key", "UPDATE events SET payment = 99999999 WHERE sequence = 9"),
    ("a delivery of an event", "UPDATE deliveries SET sequence = sequence + 1000000 WHERE sequence = 9"),
    ("every try is in the log", "DELETE FROM delivery_attempts WHERE sequence = 9"),
    ("delivered is what was answered with 2xx", "UPDATE delivery_attempts SET status = 500 WHERE sequence = 9"),
    ("delivered is what was answered with 2xx", "UPDATE deliveries SET state = 2 WHERE sequence = 9"),
    ("an attempt of a delivery", "DELETE FROM deliveries WHERE sequence = 9"),
    ("what is wanted is queued", "DELETE FROM deliveries WHERE sequence = 9"),
]


def check_damages(path, audit, client):
    """`path` is a sound file of a server that was stopped, with deliveries of each association's ninth
    event. How many damaged copies were found; ends the test when one was not."""
    copy = path + ".damaged"
    for check, sql in DAMAGES:
        shutil.copy(path, copy)
        db = sqlite3.connect(copy, isolation_level=None)
        db.execute("PRAGMA ignore_check_constraints = ON")
        changed = db.execute(sql).rowcount
        db.close()
        faults = audit(copy, client, settled=True)
        if changed < 1 or not any(fault.startswith(check + ":") for fault in faults):
            sys.exit(f"auditor: not found ({check}), {changed} rows: {sql}\n  found instead: {faults[:5]}")
        os.remove(copy)
    return len(DAMAGES)
