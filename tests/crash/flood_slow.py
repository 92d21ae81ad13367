#!/usr/bin/env -S PYTHONPATH=tests python3 -B
# ctest: measures
"""Slow clients do not affect others: 800 connections that send headers and bodies byte by byte (and reconnect when
closed) and 2,000 idle ones, while well-behaved clients pay and read with a p99 of 100 ms. The server closes each
attacker within 12 s. COFFER_SLOW_SECONDS (13): length. The same judge must fail a server without deadlines, which is
attacked at the same time."""

import multiprocessing
import os
import random
import resource
import selectors
import socket
import tempfile
import time

from harness.auditor import audit
from harness.calls import Connection
from harness.clients import OWN, Crowd, wait_until_settled
from harness.machine import binary, skip
from harness.report import SLOW, fail, until_in_time
from harness.server import Demo
from flood_double import PoolServer

CLOSED_WITHIN_S = 12.0
GOOD_P99_S = 0.100
DRIP_EVERY_S = 0.5
GOOD_TIMEOUT_S = 5.0

# What an attacker sends at once, and what it then repeats byte by byte.
HEADER = b"GET /livez HTTP/1.1\r\nHost: a\r\n"
BODY = (b"POST /v1/auth/token HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\n"
        b"Content-Length: 60000\r\n\r\n")
ATTACKS = {
    "drips a header": (HEADER, b"X-Drip: " + b"a" * 500),
    "drips a request line": (b"", b"GET /" + b"a" * 500),
    "drips empty lines": (b"", b"\r\n" * 500),
    "drips a body": (BODY, b'{"clientId":"' + b"a" * 500),
    # Ends the header as late as possible, then drips the body, to use two deadlines in succession.
    "drips a header, then a body": (BODY[:-9], BODY[-9:] + b"{" * 500),
    "sends a header and nothing more": (HEADER, b""),
    "sends half a body and nothing more": (BODY + b"{", b""),
    "connects and says nothing": (b"", b""),
}


# --- The attackers, in a separate process -----------------------------------------------------------


class Attacker:
    def __init__(self, name, address):
        self.name, self.address = name, address
        self.lives = []  # seconds from connect to the end of each connection, as the attacker sees it
        self.connect()

    def connect(self):
        self.first, self.rest = ATTACKS[self.name]
        self.socket = socket.socket()
        self.socket.setblocking(False)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.began = time.monotonic()
        self.next_drip = self.began + random.uniform(0, DRIP_EVERY_S)
        try:
            self.socket.connect(self.address)
        except BlockingIOError:
            pass

    def send(self, now):
        """Sends the next byte. Returns false if the connection is closed."""
        try:
            if self.first:
                self.first = self.first[self.socket.send(self.first):]
            elif self.rest:
                self.rest = self.rest[self.socket.send(self.rest[:1]):]
        except BlockingIOError:
            pass  # not connected yet
        except OSError:
            return False
        self.next_drip = now + DRIP_EVERY_S
        return True

    def ended(self):
        """Whether the server has closed the connection. Discards received bytes."""
        try:
            while True:
                if not self.socket.recv(65536):
                    return True
        except BlockingIOError:
            return False
        except OSError:
            return True


def attack(address, count, seconds, reconnect, results):
    """Keeps `count` attackers connected. Puts {name: [lifetimes], "open": [ages of open connections]}."""
    names = list(ATTACKS)
    selector = selectors.EpollSelector()
    attackers = []
    for number in range(count):
        attackers.append(Attacker(names[number % len(names)], address))
        selector.register(attackers[-1].socket, selectors.EVENT_READ, attackers[-1])
    end = time.monotonic() + seconds
    lives = {name: [] for name in names}
    while (now := time.monotonic()) < end:
        gone = [key.data for key, _ in selector.select(0.02) if key.data.ended()]
        now = time.monotonic()
        gone += [attacker for attacker in attackers
                 if attacker not in gone and attacker.next_drip <= now and not attacker.send(now)]
        for attacker in gone:
            lives[attacker.name].append(now - attacker.began)
            selector.unregister(attacker.socket)
            attacker.socket.close()
            if reconnect:
                attacker.connect()
                selector.register(attacker.socket, selectors.EVENT_READ, attacker)
            else:
                attackers.remove(attacker)
    results.put((lives, [(attacker.name, end - attacker.began) for attacker in attackers]))


# --- Idle connections ---------------------------------------------------------------------------------

# Requests sent before their responses are read. More than a share of the lane's queue would be rejected.
OPENED_AT_ONCE = 100


def open_idle(address, count):
    """Keep-alive connections that were used once."""
    connections = []
    while len(connections) < count:
        group = [socket.create_connection(address, timeout=10)
                 for _ in range(min(OPENED_AT_ONCE, count - len(connections)))]
        for connection in group:
            connection.sendall(b"GET /livez HTTP/1.1\r\nHost: a\r\n\r\n")
        for connection in group:
            response = connection.recv(4096)
            if not response.startswith(b"HTTP/1.1 200"):
                fail(f"a new idle connection got {response[:200]!r}")
        connections += group
    return connections


# --- The well-behaved clients ---------------------------------------------------------------------------------


class Good(Crowd):
    """Clients that work during the attack: `calls(number)` returns (method, path, body)."""

    def __init__(self, connect, calls, count=3):
        super().__init__(count)
        self.connect, self.calls = connect, calls
        self.latencies, self.failures, self.acked, self.sent = [], [], {}, {}
        self.start()

    def work(self, number):
        count, connection = 0, None
        while not self.stopping.is_set():
            count += 1
            method, path, body = self.calls(f"good-{number}-{count}", count)
            if body:
                self.sent[body["transactionId"]] = body
            began = time.monotonic()
            try:
                # Every tenth call uses a new connection, which the server must first accept.
                if connection is None or count % 10 == 0:
                    connection = self.connect()
                status, answer = connection.call(method, path, body)
                if status not in (200, 202):
                    self.failed(f"{method} {path}: {status}")
                elif body:
                    self.acked[body["transactionId"]] = answer["transactionRecordId"]
            except ConnectionError as error:
                self.failed(f"{method} {path}: {error}", time.monotonic() - began >= GOOD_TIMEOUT_S)
                connection = None
            self.latencies.append(time.monotonic() - began)
            time.sleep(0.01)

    def failed(self, what, slow=False):
        self.failures.append(f"{SLOW if slow else ''}a good client failed: {what}")

    def p99(self):
        return sorted(self.latencies)[int(len(self.latencies) * 0.99)] if self.latencies else 1e9


# --- Judging ------------------------------------------------------------------------------------------


def judge(good, lives, still_open):
    faults = good.failures[:5]
    if good.p99() > GOOD_P99_S:
        faults.append(f"{SLOW}a good client's p99 was {good.p99() * 1000:.0f} ms")
    for name, seconds in lives.items():
        if seconds and max(seconds) > CLOSED_WITHIN_S:
            faults.append(f"{SLOW}an attacker that {name} was closed only after {max(seconds):.1f} s")
    for name in ATTACKS:
        late = [age for other, age in still_open if other == name and age > CLOSED_WITHIN_S]
        if late:
            faults.append(f"{SLOW}{len(late)} attackers ({name}) are still connected after {max(late):.1f} s")
    return faults


def start_attack(address, count, seconds, reconnect):
    results = multiprocessing.Queue()
    process = multiprocessing.Process(target=attack, args=(address, count, seconds, reconnect, results),
                                      daemon=True)
    process.start()
    return process, results


class Control:
    """The same attack and judge against a server without deadlines, in parallel with the real run."""

    def __init__(self, seconds):
        self.server = PoolServer()
        address = (self.server.host, self.server.port)
        self.process, self.results = start_attack(address, 40, seconds, True)
        self.server.wait_until_taken(GOOD_TIMEOUT_S)
        connection = Connection(self.server.host, self.server.port, timeout_s=GOOD_TIMEOUT_S)
        self.good = Good(lambda: connection, lambda name, count: ("GET", "/", None), count=1)

    def end(self):
        lives, still_open = self.results.get(timeout=60)
        self.process.join()
        self.good.stop()
        self.server.stop()
        return lives, still_open

    def check(self):
        faults = judge(self.good, *self.end())
        for wanted in ("p99", "are still connected"):
            if not any(wanted in fault for fault in faults):
                fail(f"the control was not detected ({wanted}): {faults}")


def run(seconds, slow, idle):
    """One attack. Returns the faults and a summary."""
    with tempfile.TemporaryDirectory() as folder:
        gateway = Demo(binary(), folder).start()
        address = (gateway.host, gateway.port)
        first, second = gateway.wallet("Treasury"), gateway.wallet("Operations")
        headers = gateway.login().headers

        def connect():
            connection = Connection(gateway.host, gateway.port, timeout_s=GOOD_TIMEOUT_S)
            connection.headers = headers
            return connection

        def call(name, count):
            if count % 3 == 0:
                return "POST", "/v1/payments/" + OWN, {
                    "transactionId": name, "sourceWalletId": first, "destinationWalletId": second,
                    "sendingAssetCode": "USDC", "amount": "0.5"}
            return "GET", "/v1/wallets/" + first, None

        idlers = open_idle(address, idle)
        process, results = start_attack(address, slow, seconds, True)
        control = Control(seconds)
        time.sleep(1.0)
        good = Good(connect, call)
        lives, still_open = results.get(timeout=seconds + 60)
        process.join()
        good.stop()
        alive = sum(1 for connection in idlers if is_open(connection))
        for connection in idlers:
            connection.close()
        faults = judge(good, lives, still_open)
        settled_s = wait_until_settled(gateway)
        if gateway.stop() != 0:
            faults.append("the server did not stop cleanly")
        faults += audit(gateway.db, {"sent": good.sent, "acked": good.acked}, settled=True)
        if faults:
            control.end()
            return faults, ""
        control.check()
        closed = sum(len(seconds) for seconds in lives.values())
        longest = max(max(seconds, default=0) for seconds in lives.values())
        print(f"count: {slow} slow and {idle} idle connections, {len(good.latencies)} good calls")
        print("control: a server without deadlines was slow, and its attackers stayed connected")
        return [], (f"flood_slow: {slow} attackers for {seconds:.0f} s, {closed} of their connections closed, the"
                    f" last after {longest:.1f} s; {idle} idle connections, {alive} still open;"
                    f" {len(good.latencies)} good calls, p99 {good.p99() * 1000:.1f} ms; settled"
                    f" after {settled_s:.2f} s")


def is_open(connection):
    connection.setblocking(False)
    try:
        return bool(connection.recv(1))
    except BlockingIOError:
        return True
    except OSError:
        return False


def main():
    seconds = float(os.environ.get("COFFER_SLOW_SECONDS", "13"))
    slow = int(os.environ.get("COFFER_SLOW_ATTACKERS", "800"))
    idle = int(os.environ.get("COFFER_SLOW_IDLE", "2000"))
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if hard < slow + idle + 500:
        skip(f"a limit of {hard} open files is too low")
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    print(until_in_time(lambda: run(seconds, slow, idle)))


if __name__ == "__main__":
    main()
