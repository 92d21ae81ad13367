"""Webhook receivers with scripted responses, and the consumer that docs/contract.md#delivery describes. Nothing here
depends on how coffer works."""

import base64
import collections
import contextlib
import copy
import hashlib
import hmac
import json
import os
import socket
import struct
import threading
import time

from harness.machine import ROOT, node_packages
from harness.node import judged_by_node
from harness.report import wait_for

STALE_MS = 300_000
HUGE = 8 << 20

# Behaviours. Those in WELL send a complete 2xx response.
WELL = ("ok", "body", "slow", "huge")
BAD = ("error", "unavailable", "reset", "garbage", "early", "redirect", "headers", "hang", "dribble")


# A custom response: the status with its reason, the headers as sent, and the body.
Reply = collections.namedtuple("Reply", "status headers body", defaults=("", b""))


class Delivery:
    """One request as it arrived. `headers` have lower-case names; `head` is their bytes."""

    def __init__(self, method, target, head, body, local):
        self.arrived = time.time()
        self.method, self.target, self.head, self.body, self.local = method, target, head, body, local
        lines = (line.partition(":") for line in head.decode("latin-1").splitlines())
        self.headers = {name.lower(): value.strip() for name, _, value in lines}
        self.id = self.headers.get("x-webhook-id", "")
        self.number = 0      # how many earlier requests had this id
        self.behaviour = ""  # the response: a name, or a Reply

    def event(self):
        return json.loads(self.body)


def contract_verifies(headers, body, now_ms):
    """Whether the request is authentic, as an integrator reads docs/contract.md#delivery."""
    event = headers.get("x-webhook-id", "")
    stamp = headers.get("x-webhook-ts", "")
    if not event or not stamp.isdigit() or abs(now_ms - int(stamp)) > STALE_MS:
        return False
    expected = "sha256=" + hmac.new(event.encode(), body, hashlib.sha256).hexdigest()
    return hmac.compare_digest(expected, headers.get("x-svc-signature", ""))


def standard_signers(headers, body, secrets):
    """The secrets that signed, by Standard Webhooks, and the number of signatures."""
    given = headers.get("webhook-signature", "").split(" ")
    text = f"{headers.get('webhook-id')}.{headers.get('webhook-timestamp')}.".encode() + body
    signers = []
    for secret in secrets:
        key = base64.b64decode(secret.removeprefix("whsec_"))
        mine = "v1," + base64.b64encode(hmac.new(key, text, hashlib.sha256).digest()).decode()
        if any(hmac.compare_digest(mine, one) for one in given):
            signers.append(secret)
    return signers, len(given)


class Receiver:
    """`behave(delivery)` returns the name of a behaviour or a Reply; by default, all deliveries succeed. `tls` is an
    ssl.SSLContext. `redirect` is the target of a redirect."""

    def __init__(self, behave=None, host="127.0.0.1", port=0, tls=None, redirect=""):
        self.behave = behave or (lambda delivery: "ok")
        self.redirect = redirect
        self.tls = tls
        self.lock = threading.Lock()
        self.deliveries = []
        self.counts = {}       # X-Webhook-Id -> number of requests
        self.accepted = []     # local addresses of all connections, also of silent ones
        self.peers = set()     # open connections
        self.stopping = threading.Event()
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        self.listener = socket.socket(family)
        self.listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        if family == socket.AF_INET6:
            self.listener.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
        self.listener.bind((host, port))
        self.listener.listen(128)
        self.port = self.listener.getsockname()[1]
        threading.Thread(target=self.accept, daemon=True).start()

    def url(self, host="127.0.0.1", scheme=None):
        return f"{scheme or ('https' if self.tls else 'http')}://{host}:{self.port}/hooks"

    def stop(self):
        """Stops listening and closes all connections."""
        self.stopping.set()
        # Wakes the thread in accept(), which would keep the socket open.
        self.listener.shutdown(socket.SHUT_RDWR)
        self.listener.close()
        with self.lock:
            for peer in self.peers:
                with contextlib.suppress(OSError):  # already closed
                    peer.shutdown(socket.SHUT_RDWR)

    def snapshot(self):
        with self.lock:
            return list(self.deliveries)

    def of(self, event_id):
        return [one for one in self.snapshot() if one.id == event_id]

    def wait_for(self, count, within_s=30.0):
        """Waits for `count` requests, and returns all requests so far."""
        wait_for(f"request {count} arrives", lambda: len(self.snapshot()) >= count, within_s)
        return self.snapshot()

    def ids(self, behaviours=WELL):
        with self.lock:
            return {d.id for d in self.deliveries if d.behaviour in behaviours}

    def accept(self):
        while not self.stopping.is_set():
            try:
                peer, _ = self.listener.accept()
            except OSError:
                return
            with self.lock:
                self.accepted.append(peer.getsockname()[0])
            threading.Thread(target=self.talk, args=(peer,), daemon=True).start()

    def talk(self, peer):
        try:
            peer.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            if self.tls:
                peer.settimeout(10)
                peer = self.tls.wrap_socket(peer, server_side=True)
                peer.settimeout(None)
            with self.lock:
                self.peers.add(peer)
            # Close the stream before the socket, so that a reset is sent immediately.
            with peer.makefile("rb") as stream:
                while not self.stopping.is_set():
                    delivery = self.read(peer, stream)
                    if delivery is None or not self.answer(peer, delivery):
                        return
        except (OSError, ValueError):
            pass  # the peer may disconnect; complete requests are recorded
        finally:
            with self.lock:
                self.peers.discard(peer)
            peer.close()

    def read(self, peer, stream):
        first = stream.readline(65536).decode("latin-1").split()
        if len(first) != 3 or first[2] not in ("HTTP/1.1", "HTTP/1.0"):
            return None
        head = b""
        while (line := stream.readline(65536)).strip():
            head += line
        delivery = Delivery(first[0], first[1], head, b"", peer.getsockname()[0])
        length = int(delivery.headers.get("content-length", "0"))
        delivery.body, delivery.arrived = stream.read(length), time.time()
        if len(delivery.body) != length:
            return None
        with self.lock:
            delivery.number = self.counts.get(delivery.id, 0)
            self.counts[delivery.id] = delivery.number + 1
        # Record the delivery together with its behaviour, so that no thread sees it without one.
        delivery.behaviour = self.behave(delivery)
        with self.lock:
            self.deliveries.append(delivery)
        return delivery

    # --- responses; each returns whether the connection stays open--------------------------------------------

    def answer(self, peer, delivery):
        if isinstance(delivery.behaviour, Reply):
            status, headers, body = delivery.behaviour
            return self.say(peer, status, body, headers)
        return getattr(self, "do_" + delivery.behaviour)(peer)

    @staticmethod
    def say(peer, status, body=b"", headers=""):
        peer.sendall(f"HTTP/1.1 {status}\r\n{headers}Content-Length: {len(body)}\r\n\r\n".encode() + body)
        return True

    def do_ok(self, peer):
        return self.say(peer, "204 No Content")

    def do_body(self, peer):
        return self.say(peer, "200 OK", b'{"received": true}')

    def do_slow(self, peer):
        for byte in b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok":
            peer.sendall(bytes([byte]))
            time.sleep(0.005)
        return True

    def do_huge(self, peer):
        peer.sendall(f"HTTP/1.1 200 OK\r\nContent-Length: {HUGE}\r\n\r\n".encode())
        for _ in range(HUGE >> 16):
            peer.sendall(b"x" * (1 << 16))
        return True

    def do_error(self, peer):
        return self.say(peer, "500 Internal Server Error", b"sorry")

    def do_unauthorized(self, peer):
        return self.say(peer, "401 Unauthorized", b"who signed this?")

    def do_unavailable(self, peer):
        return self.say(peer, "503 Service Unavailable", b"", "Retry-After: 1\r\n")

    def do_gone(self, peer):
        return self.say(peer, "410 Gone")

    def do_redirect(self, peer):
        return self.say(peer, "307 Temporary Redirect", b"", f"Location: {self.redirect}\r\n")

    def do_garbage(self, peer):
        peer.sendall(b"\x00\xff\x16\x03 200 OK this is not HTTP\n\n\n" * 20)
        return False

    def do_hang_up(self, peer):
        """Closes the connection after the complete request, without a response."""
        peer.shutdown(socket.SHUT_RDWR)
        return False

    def do_reset(self, peer):
        peer.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        return False

    def do_early(self, peer):
        peer.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 400\r\n\r\nhalf of")
        return False

    def do_headers(self, peer):
        """Headers without an end."""
        peer.sendall(b"HTTP/1.1 200 OK\r\n")
        while not self.stopping.is_set():
            peer.sendall(b"X-More: and more\r\n" * 1000)
        return False

    def do_dribble(self, peer):
        """A response that never ends, sent byte by byte."""
        peer.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n")
        while not self.stopping.wait(0.02):
            peer.sendall(b".")
        return False

    def do_hang(self, peer):
        """Sends nothing until the client gives up."""
        while not self.stopping.is_set():
            if not peer.recv(1024):
                break
        return False


def stock_verifies(pairs):
    """Whether the stock `standardwebhooks` package verifies each (delivery, secret), as a list."""
    node_packages("interop", "standardwebhooks")
    return judged_by_node(os.path.join(ROOT, "tests/interop/standard_webhooks.mjs"), [
        {"secret": secret, "headers": one.headers, "body": one.body.decode()} for one, secret in pairs])


def changed(delivery, **fields):
    """A copy of a delivery with changed fields, for controls."""
    other = copy.copy(delivery)
    for name, value in fields.items():
        setattr(other, name, value)
    return other


def judge_requests(deliveries, secrets):
    """The faults of one endpoint's requests, one sentence each."""
    faults, bodies = [], {}
    for delivery in deliveries:
        if not contract_verifies(delivery.headers, delivery.body, delivery.arrived * 1000):
            faults.append(f"signature of the contract: {delivery.id}")
        if not standard_signers(delivery.headers, delivery.body, secrets)[0]:
            faults.append(f"signature of Standard Webhooks: {delivery.id}")
        if delivery.headers.get("webhook-id") != delivery.id:
            faults.append(f"both id headers are equal: {delivery.id}")
        if delivery.headers.get("content-type") != "application/json":
            faults.append(f"content type: {delivery.headers.get('content-type')}")
        if bodies.setdefault(delivery.id, delivery.body) != delivery.body:
            faults.append(f"every attempt has the same body: {delivery.id}")
        event = delivery.event()
        if event["id"] != delivery.id:
            faults.append(f"the id in the body equals the header: {delivery.id}")
        if event["apiVersion"] != "v1" or event["environment"] != "sandbox":
            faults.append(f"version and environment: {delivery.id}")
    return faults
