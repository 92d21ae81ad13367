"""A consumer of coffer's webhooks. It verifies and stores each event, responds, and then processes it.

    WEBHOOK_SECRETS='whsec_…' PORT=3000 INBOX=inbox python3 consumer.py

During a rotation, set WEBHOOK_SECRETS to both secrets, separated by a space. Requires only Python 3.8 or
later. Run one process per inbox.
"""

import base64
import hashlib
import hmac
import json
import os
import re
import threading
import time
import uuid
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

TOLERANCE_S = 300
BODY_BYTES_MAX = 1024 * 1024  # coffer's limit is 128 KiB by default; its operator can raise it
RETRY_S = 5

KEYS = [base64.b64decode(re.sub("^whsec_", "", secret))
        for secret in os.environ.get("WEBHOOK_SECRETS", "").split()]
PORT = int(os.environ.get("PORT", "3000"))
INBOX = os.environ.get("INBOX", "inbox")
NEW = os.path.join(INBOX, "new")            # stored and acknowledged, not processed yet
DONE = os.path.join(INBOX, "done")          # processed; kept to recognise repeated deliveries
PAYMENTS = os.path.join(INBOX, "payments")  # the latest state of each payment


def say(text):
    print(text + "\n", end="", flush=True)  # one write: threads share the output


def is_id(text):
    return isinstance(text, str) and re.fullmatch(r"[A-Za-z0-9_-]{1,64}", text) is not None


# --- Verify -------------------------------------------------------------------------------------------

def rejection(headers, body):
    """The reason to reject a delivery, or None. `body` contains the raw bytes, before any parsing."""
    id_ = headers.get("webhook-id")
    time_ = headers.get("webhook-timestamp")
    signatures = headers.get("webhook-signature")
    if not id_ or not time_ or not signatures:
        return "a header is missing"
    if not is_id(id_):
        return "webhook-id is malformed"
    if not re.fullmatch(r"[0-9]{1,12}", time_):
        return "webhook-timestamp is malformed"
    if abs(time.time() - int(time_)) > TOLERANCE_S:
        return "too old, or a clock is wrong"
    signed = f"{id_}.{time_}.".encode() + body
    for key in KEYS:
        expected = b"v1," + base64.b64encode(hmac.new(key, signed, hashlib.sha256).digest())
        for given in signatures.split(" "):
            if hmac.compare_digest(given.encode(), expected):
                return None
    return "no signature matches"


# --- Store --------------------------------------------------------------------------------------------

def sync(path):
    file = os.open(path, os.O_RDONLY)
    os.fsync(file)
    os.close(file)


def keep(id_, body):
    """Stores the event on disk. Returns false if it was stored before."""
    if os.path.exists(os.path.join(DONE, id_)):
        return False
    draft = os.path.join(INBOX, f"draft-{uuid.uuid4()}")
    with open(draft, "wb") as file:
        file.write(body)
    sync(draft)
    try:
        os.link(draft, os.path.join(NEW, id_))  # atomic, and succeeds in one process only
        return True
    except FileExistsError:
        return False
    finally:
        os.unlink(draft)
        sync(NEW)


# --- Process ------------------------------------------------------------------------------------------

def apply(event):
    """Replace this with your work. It must be idempotent, because after a crash it can run twice for an event."""
    if event.get("test") or not event["type"].startswith("payment."):
        return "nothing to do"
    record = event["data"]
    if not is_id(record["id"]):
        raise ValueError("data.id is malformed")
    path = os.path.join(PAYMENTS, record["id"])
    known = {"version": 0}
    if os.path.exists(path):
        with open(path, encoding="utf-8") as file:
            known = json.load(file)
    if record["version"] <= known["version"]:
        return "overtaken by a later event"
    with open(path + ".draft", "w", encoding="utf-8") as file:
        json.dump({"version": record["version"], "status": record["status"]}, file)
    os.replace(path + ".draft", path)
    return f"{record['id']} {record['status']}"


def kept_events():
    """The stored events, in order of sequence."""
    events = []
    for id_ in os.listdir(NEW):
        path = os.path.join(NEW, id_)
        if os.path.exists(os.path.join(DONE, id_)):
            os.unlink(path)  # redelivered during processing
        else:
            with open(path, "rb") as file:
                events.append((id_, json.load(file)))
    return sorted(events, key=lambda item: item[1]["sequence"])


def work(wanted):
    while True:
        wanted.wait(RETRY_S)
        wanted.clear()
        for id_, event in kept_events():
            try:
                say(f"processed {event['sequence']} {event['type']}: {apply(event)}")
                os.replace(os.path.join(NEW, id_), os.path.join(DONE, id_))
            except Exception as error:
                say(f"failed {event['sequence']} {event['type']}, will be retried: {error!r}")


# --- Serve --------------------------------------------------------------------------------------------

def is_event(body):
    try:
        event = json.loads(body)
        return isinstance(event["type"], str) and isinstance(event["sequence"], int)
    except (ValueError, TypeError, KeyError):
        return False


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    timeout = 20

    def receive(self):
        if self.path != "/hooks":
            return 404
        if self.command != "POST":
            return 405
        length = self.headers.get("content-length", "")
        if not re.fullmatch(r"[0-9]{1,12}", length):
            return 411
        if int(length) > BODY_BYTES_MAX:
            return 413
        body = self.rfile.read(int(length))
        self.unread = False
        if len(body) < int(length):
            return 400
        reason = rejection(self.headers, body)
        if reason:
            say(f"rejected: {reason}")
            return 401
        if not is_event(body):
            return 400
        id_ = self.headers["webhook-id"]
        say(f"{'kept' if keep(id_, body) else 'repeated'} {id_}")
        return 204

    def answer(self):
        self.unread = True
        status = 500  # not stored: coffer retries
        try:
            status = self.receive()
        except Exception as error:
            say(f"error: {error!r}")
        self.send_response(status)
        if status != 204:
            self.send_header("Content-Length", "0")
        if self.unread:
            self.send_header("Connection", "close")  # http.server then closes the connection
        self.end_headers()
        self.wfile.flush()
        if status == 204:
            self.server.wanted.set()  # after the response

    do_POST = do_GET = do_HEAD = do_PUT = do_DELETE = answer

    def log_message(self, *_):
        pass


def main():
    if not KEYS or any(len(key) < 24 for key in KEYS):
        raise SystemExit("WEBHOOK_SECRETS is missing or contains an invalid secret; expected whsec_…")
    for folder in (NEW, DONE, PAYMENTS):
        os.makedirs(folder, exist_ok=True)
    server = ThreadingHTTPServer(("127.0.0.1", PORT), Handler)
    server.wanted = threading.Event()
    server.wanted.set()  # events that an earlier run stored but did not process
    threading.Thread(target=work, args=(server.wanted,), daemon=True).start()
    say(f"listening on port {PORT}")
    server.serve_forever()


if __name__ == "__main__":
    main()
