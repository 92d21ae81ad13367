"""The auditor's checks of events and their deliveries: the rows of a file must agree with each other,
whatever happened to the process. See auditor.py."""

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
            self.fault("key of event IDs", self.key)
        last = {}
        for row in self.events.values():
            if row["at"] < last.get(row["tenant"], 0):
                self.fault("events in time order", tuple(row))
            last[row["tenant"]] = row["at"]

    def check_bodies(self):
        """Each stored body must match its event."""
        tenants = {row["tenant"]: row for row in self.rows(
            "SELECT t.tenant, t.environment, a.id FROM tenants t JOIN associations a USING (association)")}
        records = {row["payment"]: str(uuid.UUID(bytes=row["id"]))
                   for row in self.rows("SELECT payment, id FROM payments")}
        for row in self.rows("SELECT * FROM event_bodies"):
            key = (row["event_body"] >> 40, row["event_body"] & (1 << 40) - 1)
            event = self.events.get(key)
            if event is None:
                self.fault("event body without an event", f"tenant, sequence {key}")
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
                self.fault("the body matches its event", f"{says}, expected {should}")

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
                self.fault("delivery without an event", key)
                continue
            log = attempts.pop(key, [])
            if [one["attempt"] for one in log] != list(range(1, row["tries"] + 1)):
                self.fault("every attempt is logged", f"{key}: {row['tries']} tries, {len(log)} rows")
            well = [one["status"] is not None and one["status"] // 100 == 2 for one in log]
            # After a redelivery request and before its first attempt, earlier attempts may have any result.
            begun = row["state"] != PENDING or row["attempts"] > 0
            if begun and (row["state"] == DELIVERED) != any(well):
                self.fault("delivered means a 2xx response", f"{key} is in state {row['state']}")
            if row["state"] == PENDING and webhook["disabled_at"] is not None:
                self.fault("no pending delivery for a disabled endpoint", key)
        for key in attempts:
            self.fault("attempt without a delivery", key)

    def check_cursors(self):
        """Each subscribed event before an endpoint's cursor must be queued for it."""
        for webhook in self.webhooks.values():
            if webhook["disabled_at"] is not None:
                continue
            for (tenant, sequence), event in self.events.items():
                looked_at = tenant == webhook["tenant"] and sequence <= webhook["cursor"]
                since = event["at"] > webhook["created_at"]
                if looked_at and since and wanted(webhook, event):
                    if (webhook["webhook"], sequence) not in self.queued:
                        self.fault("subscribed events are queued", f"webhook {webhook['webhook']}: {sequence}")


def check_outbox(audit):
    OutboxAudit(audit).check()


# --- control: damaged files --------------------------------------------------------------------------

# (the check that must report the damage, the statement that causes it)
DAMAGES = [
    ("event sequence without a gap", "DELETE FROM events WHERE sequence = 9"),
    ("one event per version", "DELETE FROM events WHERE sequence = (SELECT max(sequence) FROM events)"),
    ("event body without an event", "DELETE FROM events WHERE sequence = 9"),
    ("events in time order", "UPDATE events SET at = at - 1000000 WHERE sequence = 9"),
    ("the body matches its event", "UPDATE events SET at = at + 1 WHERE sequence = 9"),
    ("the body matches its event", "UPDATE meta SET value = randomblob(32) WHERE name = 'event_id_key'"),
    ("key of event IDs", "DELETE FROM meta WHERE name = 'event_id_key'"),
    ("foreign key", "UPDATE events SET payment = 99999999 WHERE sequence = 9"),
    ("delivery without an event", "UPDATE deliveries SET sequence = sequence + 1000000 WHERE sequence = 9"),
    ("every attempt is logged", "DELETE FROM delivery_attempts WHERE sequence = 9"),
    ("delivered means a 2xx response", "UPDATE delivery_attempts SET status = 500 WHERE sequence = 9"),
    ("delivered means a 2xx response", "UPDATE deliveries SET state = 2 WHERE sequence = 9"),
    ("attempt without a delivery", "DELETE FROM deliveries WHERE sequence = 9"),
    ("subscribed events are queued", "DELETE FROM deliveries WHERE sequence = 9"),
]


def check_damages(path, audit, client):
    """Damages copies of `path`, a sound file of a stopped server with deliveries of each association's ninth
    event. Returns how many were detected; ends the test if one was not."""
    copy = path + ".damaged"
    for check, sql in DAMAGES:
        shutil.copy(path, copy)
        db = sqlite3.connect(copy, isolation_level=None)
        db.execute("PRAGMA ignore_check_constraints = ON")
        changed = db.execute(sql).rowcount
        db.close()
        faults = audit(copy, client, settled=True)
        if changed < 1 or not any(fault.startswith(check + ":") for fault in faults):
            sys.exit(f"auditor: damage not detected by {check!r} ({changed} rows): {sql}\n  reported: {faults[:5]}")
        os.remove(copy)
    return len(DAMAGES)
