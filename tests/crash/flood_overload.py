#!/usr/bin/env -S PYTHONPATH=tests python3 -B
# ctest: measures
"""Load shedding: 400 clients pay in a closed loop, with default settings and with small limits. The server responds
only with 202, 429 and 503; each rejection has Retry-After; accepted payments have a p99 of 500 ms; full speed returns
within 2 s after the overload; no acknowledged payment is lost. COFFER_OVERLOAD_SECONDS (2): length. Servers that shed
load incorrectly must fail the test."""

import collections
import json
import multiprocessing
import os
import resource
import selectors
import socket
import tempfile
import time

from harness import machine
from harness.auditor import audit
from harness.clients import OWN, wait_until_settled
from harness.report import SLOW, fail, until_in_time
from harness.server import Demo
from flood_double import AnsweringServer

ACCEPTED_P99_S = 0.500
RECOVERED_WITHIN_S = 2.0
RECOVERED_SHARE = 0.8        # of full speed, for a long run on an otherwise idle machine
RECOVERED_SHARE_SLICE = 0.5  # beside other work, where two equal measurements differ by a third
# 16 clients send for this long to measure the speed, before and after the overload.
SPEED_CLIENTS, SPEED_S = 16, 0.6
# Pause after a rejection. Without it, the closed loop would spin; real clients wait as well.
PAUSE_S = 0.02
# Longer than any deadline of the server: after that, the request was lost.
SILENT_S = 15.0


class Client:
    """Sends one payment at a time and waits for its response. Reconnects after the connection was closed."""

    def __init__(self, load, number):
        self.load, self.number, self.count = load, number, 0
        self.socket = None
        self.input = b""
        self.resume_at = 0.0

    def connect(self):
        self.socket = socket.socket()
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.socket.settimeout(5.0)
        self.socket.connect(self.load.address)
        self.socket.setblocking(False)
        self.input = b""
        self.first = True
        self.load.selector.register(self.socket, selectors.EVENT_READ, self)

    def disconnect(self):
        if self.socket is not None:
            self.load.selector.unregister(self.socket)
            self.socket.close()
            self.socket = None

    def send(self):
        self.count += 1
        self.id = f"{self.load.prefix}-{self.number}-{self.count}"
        self.began = time.monotonic()
        self.resume_at = None
        try:
            if self.socket is None:
                self.connect()
            self.socket.send(self.load.request(self.id))
        except OSError as error:
            self.fail(f"cannot send: {error}")

    def fail(self, what):
        self.load.failures[what] += 1
        self.disconnect()
        self.resume_at = time.monotonic() + PAUSE_S

    def receive(self):
        try:
            data = self.socket.recv(65536)
        except BlockingIOError:
            return
        except OSError as error:
            return self.fail(f"cannot receive: {error}")
        if not data:
            # A server may close a connection between two requests, but not before a response. One that evicts idle
            # connections may do so while the next request is on its way; the client then repeats that request on a new
            # connection (RFC 9112, section 9.3.1).
            if self.resume_at is None:
                if self.first or not self.load.evicts:
                    return self.fail("closed without a response")
                self.resume_at = time.monotonic()
            return self.disconnect()
        self.input += data
        head, separator, body = self.input.partition(b"\r\n\r\n")
        if not separator:
            return
        length = head.find(b"\r\nContent-Length: ")
        if len(body) < int(head[length + 18:].split(b"\r\n", 1)[0]):
            return
        self.input = b""
        self.first = False
        self.answer(int(head[9:12]), head, body)

    def answer(self, status, head, body):
        now = time.monotonic()
        self.load.statuses[status] += 1
        self.resume_at = now
        if status == 202:
            self.load.accepted.append((now, now - self.began))
            if self.load.keeps:
                self.load.acked[self.id] = json.loads(body)["transactionRecordId"]
        elif status in (429, 503):
            at = head.find(b"\r\nRetry-After: ")
            if at < 0 or not head[at + 15:].split(b"\r\n", 1)[0].isdigit():
                self.load.failures[f"{status} without Retry-After"] += 1
            self.resume_at = now + PAUSE_S
        if b"\r\nConnection: close" in head:
            self.disconnect()


class Load:
    """Runs `clients` clients for `seconds` in this process. `evicts`: the server evicts idle connections."""

    def __init__(self, address, headers, wallets, prefix, keeps=True, evicts=False):
        self.address, self.prefix, self.keeps, self.evicts = address, prefix, keeps, evicts
        fields = "".join(f"{name}: {value}\r\n" for name, value in headers.items())
        self.head = f"POST /v1/payments/{OWN} HTTP/1.1\r\nHost: a\r\n{fields}".encode()
        self.wallets = wallets
        self.selector = selectors.EpollSelector()
        self.statuses, self.failures = collections.Counter(), collections.Counter()
        self.accepted, self.acked = [], {}

    def body(self, transaction_id):
        return {"transactionId": transaction_id, "sourceWalletId": self.wallets[0],
                "destinationWalletId": self.wallets[1], "sendingAssetCode": "USDC", "amount": "0.25"}

    def request(self, transaction_id):
        body = json.dumps(self.body(transaction_id)).encode()
        return self.head + b"Content-Length: %d\r\n\r\n" % len(body) + body

    def run(self, clients, seconds):
        all_clients = [Client(self, number) for number in range(clients)]
        self.began = time.monotonic()
        end = self.began + seconds
        looked = self.began
        while (now := time.monotonic()) < end:
            for key, _ in self.selector.select(0.005):
                key.data.receive()
                if key.data.resume_at is not None and key.data.resume_at <= now:
                    key.data.send()
            if now - looked > 0.01:
                looked = now
                for client in all_clients:
                    if client.resume_at is not None and client.resume_at <= now:
                        client.send()
                    elif client.resume_at is None and now - client.began > SILENT_S:
                        client.fail("no answer")
        # Wait for outstanding responses, so that every acknowledged payment is known.
        end = time.monotonic() + SILENT_S
        while any(client.resume_at is None for client in all_clients) and time.monotonic() < end:
            for key, _ in self.selector.select(0.05):
                key.data.receive()
        for client in all_clients:
            if client.resume_at is None:
                client.fail("no answer")
            client.disconnect()
        self.took = time.monotonic() - self.began
        return {"statuses": dict(self.statuses), "failures": dict(self.failures), "accepted": self.accepted,
                "acked": self.acked, "sent": {client.load.prefix: client.count for client in all_clients[:1]},
                "took": self.took,
                "ids": [f"{self.prefix}-{client.number}-{count}" for client in all_clients
                        for count in range(1, client.count + 1)]}


def apart(address, headers, wallets, prefix, clients, seconds, evicts):
    """The load in a separate process, so that measuring and judging do not slow it down."""
    results = multiprocessing.Queue()
    process = multiprocessing.Process(
        target=lambda: results.put(Load(address, headers, wallets, prefix, evicts=evicts).run(clients, seconds)),
        daemon=True)
    process.start()
    return process, results


def percentile(latencies, share):
    ordered = sorted(latencies)
    return ordered[min(len(ordered) - 1, int(len(ordered) * share))] if ordered else float("inf")


def speed(result):
    return len(result["accepted"]) / result["took"]


def judge(result, rejections=None):
    """`rejections`: a status that must occur among the responses; None: no requirement."""
    faults = [f"{count} times {what}" for what, count in result["failures"].items()]
    strange = {status: count for status, count in result["statuses"].items() if status not in (202, 429, 503)}
    if strange:
        faults.append(f"responses that are neither 2xx nor 429 nor 503: {strange}")
    p99 = percentile([latency for _, latency in result["accepted"]], 0.99)
    if p99 > ACCEPTED_P99_S:
        faults.append(f"{SLOW}p99 of accepted payments is {p99 * 1000:.0f} ms")
    if rejections and rejections not in result["statuses"]:
        faults.append(f"no client received {rejections}, so there was no overload")
    return faults


def run(binary, what, environment, options, rejections, clients, seconds):
    """One overload. Returns the faults and a summary."""
    with tempfile.TemporaryDirectory() as folder:
        wrapped = os.path.join(folder, "coffer")
        # Demo passes no options to its program, so this script, which adds them, takes the program's place.
        with open(wrapped, "w", encoding="ascii") as file:
            file.write(f'#!/bin/sh\nexec "{binary}" "$@" {options}\n')
        os.chmod(wrapped, 0o755)
        gateway = Demo(wrapped, folder).start(env={"COFFER_LOG_LEVEL": "warning", **environment})
        address, headers = (gateway.host, gateway.port), gateway.login().headers
        wallets = [gateway.wallet("Treasury"), gateway.wallet("Operations")]
        parts = [Load(address, headers, wallets, "before").run(SPEED_CLIENTS, SPEED_S)]
        process, results = apart(address, headers, wallets, "flood", clients, seconds,
                                 evicts="COFFER_MAX_CONNECTIONS" in environment)
        result = results.get(timeout=seconds + 60)
        process.join()
        faults = judge(result, rejections)
        full = again = speed(parts[0])
        recovered = (RECOVERED_SHARE if seconds >= 20 else RECOVERED_SHARE_SLICE) * full
        ended = time.monotonic()
        if rejections == 429:
            time.sleep(RECOVERED_WITHIN_S)  # repeated measurements would use up the burst that returns meanwhile
        while len(parts) == 1 or again < recovered and time.monotonic() <= ended + RECOVERED_WITHIN_S:
            parts.append(Load(address, headers, wallets, f"after-{len(parts)}").run(SPEED_CLIENTS, SPEED_S))
            again = speed(parts[-1])
        if again < recovered:
            faults.append(f"{SLOW}{again:.0f} payments/s {RECOVERED_WITHIN_S:.0f} s after, {full:.0f} before")
        for part in parts:
            faults += [f"outside the overload: {count} times {what}" for what, count in part["failures"].items()]
        settled_s = wait_until_settled(gateway, within_s=20.0)
        if gateway.stop() != 0:
            faults.append("the server did not stop cleanly")
        amount = {"amount": "0.25"}
        facts = {"acked": {}, "sent": {}}
        for part in (*parts, result):
            facts["acked"].update(part["acked"])
            facts["sent"].update(dict.fromkeys(part["ids"], amount))
        faults += audit(gateway.db, facts, settled=True)
        p99 = percentile([latency for _, latency in result["accepted"]], 0.99)
        text = (f"{clients} clients, {what}: {speed(result):.0f}/s, {result['statuses']},"
                f" p99 of accepted payments {p99 * 1000:.0f} ms; {again:.0f}/s after, {full:.0f}/s before;"
                f" settled after {settled_s:.1f} s")
        return faults, text


def control():
    """Servers that shed load incorrectly must fail the test."""
    def load(server):
        result = Load((server.host, server.port), {}, ["a", "b"], "control", keeps=False).run(8, 0.5)
        server.stop()
        return judge(result)

    end = b"Content-Length: 0\r\nConnection: close\r\n\r\n"
    doubles = {
        "without Retry-After": b"HTTP/1.1 503 \r\n" + end,
        "neither 2xx": b"HTTP/1.1 500 \r\n" + end,
        "closed without a response": b"",
    }
    for wanted, answer in doubles.items():
        faults = load(AnsweringServer(answer))
        if not any(wanted in fault for fault in faults):
            fail(f"the control `{wanted}` was not detected: {faults}")
    slow = {"statuses": {202: 100}, "failures": {}, "accepted": [(0.0, 0.6)] * 100}
    if not any("p99" in fault for fault in judge(slow)):
        fail("slow responses were not detected")


def main():
    seconds = float(os.environ.get("COFFER_OVERLOAD_SECONDS", "2"))
    clients = int(os.environ.get("COFFER_OVERLOAD_CLIENTS", "400"))
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    control()
    # Below the rate of any machine.
    limits = {"COFFER_RATE_LIMIT_SANDBOX_PER_S": "200", "COFFER_RATE_LIMIT_SANDBOX_BURST": "400"}
    binary = machine.binary()
    rows = [
        ("default settings", {}, "", None, seconds),
        # Limits so small that the server must reject requests.
        ("a small queue", {"COFFER_QUEUE_MAX": "16"}, "", 503, min(seconds, 10.0)),
        ("too many connections", {"COFFER_MAX_CONNECTIONS": "200"}, "", 503, min(seconds, 10.0)),
        ("with rate limits", limits, "--rate-limits", 429, min(seconds, 10.0)),
    ]
    for what, environment, options, rejections, lasts in rows:
        text = until_in_time(lambda: run(binary, what, environment, options, rejections, clients, lasts), what)
        print("flood_overload: " + text, flush=True)
    print(f"count: {len(rows)} overloads by {clients} clients for {seconds:.0f} s")
    print("control: 4 servers that shed load incorrectly were detected")
    print("flood_overload: all well")


if __name__ == "__main__":
    main()
