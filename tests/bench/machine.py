"""Used by every section: the measured server, and the other programs."""

import os
import socket
import subprocess
import sys
import threading
import time

from harness import load
from harness.clients import wait_until_settled
from harness.process import cpu_s, memory_mib
from harness.server import Demo

FOLDER = os.path.dirname(os.path.abspath(__file__))
PAY = "/v1/payments/p2p/own"
MULTI = "/v1/payments/p2p/own/multi"
IDLE_READERS_S = 10  # ReaderPools::kIdleMaxMs


def say(text):
    print(f">> {text}", file=sys.stderr, flush=True)


def rest(pid):
    """Waits until the verification at the start has ended and the server is idle."""
    last = -1.0
    while cpu_s(pid) - last > 0.02:
        last = cpu_s(pid)
        time.sleep(0.5)


def idle_mib(pid):
    """Resident memory of a server without work, after it has closed the database connections that it does not use."""
    rest(pid)
    time.sleep(IDLE_READERS_S + 1)
    return memory_mib(pid)


class Load:
    """One run of wrk: `rate` requests a second, milliseconds at 50, 95 and 99 %, requests, errors."""

    def __init__(self, words):
        rate, self.p50, self.p95, self.p99, requests, errors = map(float, words)
        self.rate, self.requests, self.errors = rate, int(requests), int(errors)


def wrk(url, seconds, connections, script, *words):
    return load.wrk(os.path.join(FOLDER, script), url, seconds, connections, *words)


class Server(Demo):
    """`coffer demo` on a file, without rate limits."""

    def start(self, **settings):
        """Settings as in the environment, for example webhook_in_flight=8."""
        env = {"COFFER_LOG_LEVEL": "warning"}
        env.update({f"COFFER_{name.upper()}": str(value) for name, value in settings.items()})
        super().start(env=env, ready_within_s=60.0)
        self.pid = self.process.pid
        self.caller = self.caller_of(self.login(), self.facts["wallets"][0]["id"], self.facts["wallets"][1]["id"])
        return self

    @staticmethod
    def caller_of(connection, first, second):
        """The arguments of a wrk script that pays."""
        token = connection.headers["Authorization"].removeprefix("Bearer ")
        return [connection.headers["x-svc-auth"], token, first, second]

    def url(self, path):
        return f"http://{self.host}:{self.port}{path}"

    def load(self, seconds, connections, legs=1, path=None, callers=None):
        path = path or (PAY if legs == 1 else MULTI)
        run = f"r{time.monotonic_ns()}"
        return Load(wrk(self.url(path), seconds, connections, "pay.lua", run, legs, *(callers or self.caller)))

    def settled_load(self, seconds, connections, legs=1, callers=None):
        """Runs a load. Returns it, and its payments a second that were accepted and settled, including those settled
        after it."""
        began = time.monotonic()
        load = self.load(seconds, connections, legs, callers=callers)
        self.wait_until_settled()
        return load, load.requests / (time.monotonic() - began)

    def response_times(self, seconds):
        """Milliseconds of each payment of one client that waits for a response before it sends the next request.
        For each slow response, wrk adds the times of requests that it could not send meanwhile; this does not."""
        key, token, source, destination = self.caller
        times, end = [], time.monotonic() + seconds
        with socket.create_connection((self.host, self.port)) as client:
            while time.monotonic() < end:
                source, destination = destination, source
                body = (f'{{"transactionId":"t{time.monotonic_ns()}","sourceWalletId":"{source}",'
                        f'"destinationWalletId":"{destination}","sendingAssetCode":"USDC","amount":"1.25"}}')
                request = (f"POST {PAY} HTTP/1.1\r\nHost: bench\r\nx-svc-auth: {key}\r\nAuthorization: Bearer {token}\r\n"
                           f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n{body}").encode()
                began = time.perf_counter()
                client.sendall(request)
                status = client.recv(65536)[9:12]
                times.append((time.perf_counter() - began) * 1e3)
                if status != b"202":
                    sys.exit(f"bench: a payment got {status}")
        return times

    def wait_until_settled(self):
        wait_until_settled(self, within_s=60.0)

    def verify(self):
        """Ends the bench if the file does not verify. Call it only while the file is not served."""
        done = subprocess.run([self.binary, "verify", "--db", self.db], capture_output=True, text=True, check=False)
        if done.returncode:
            sys.exit(f"bench: {self.db} does not verify: {done.stdout}{done.stderr}")

    def rest(self):
        rest(self.pid)


class Repeated:
    """Repeats work in parallel with the measurement. `results`: one per repetition."""

    def __init__(self, work):
        self.results, self.ending = [], threading.Event()
        self.thread = threading.Thread(target=self.repeat, args=(work,))

    def repeat(self, work):
        while not self.ending.is_set():
            self.results.append(work())

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.ending.set()
        self.thread.join()


class Helper:
    """A program of the build that prints its port and exits when its standard input closes."""

    def __init__(self, bench, name):
        self.process = subprocess.Popen([os.path.join(bench.programs, name)], stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, text=True)
        self.port = int(self.process.stdout.readline())

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.stdin.close()
        try:
            self.process.wait(5)
        except subprocess.TimeoutExpired:
            self.process.kill()
        self.process.stdout.close()
