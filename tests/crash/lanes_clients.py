"""The attackers of lanes.py: threads that send requests, slow sockets, and the process they run in. They count the
responses; lanes_judge.py judges."""

import collections
import http.client
import itertools
import json
import multiprocessing
import selectors
import socket
import time

from harness.calls import Connection
from harness.clients import Crowd

TIMEOUT_S = 20.0


class Hammer(Crowd):
    """Threads that each send one request at a time; `calls(number)` returns (method, path, body, headers).
    `per_s`: maximum rate of all threads together. `after_s`: pause of a thread after a rejection."""

    def __init__(self, world, count, calls, per_s=None, fresh=False, after_s=0.05):
        super().__init__(count)
        self.world, self.calls, self.fresh, self.after_s = world, calls, fresh, after_s
        self.every_s = count / per_s if per_s else 0.0
        self.counts, self.numbers = collections.Counter(), itertools.count(1)

    def work(self, number):
        connection = None
        while not self.stopping.is_set():
            began = time.monotonic()
            method, path, body, headers = self.calls(next(self.numbers))
            if connection is None or self.fresh:
                connection = Connection(*self.world.address, TIMEOUT_S)
            connection.headers = headers
            try:
                status = self.send(connection, method, path, body)
            except ConnectionError:
                connection, status = None, "no response"
            with self.lock:
                self.counts[status] += 1
            wait = self.every_s - (time.monotonic() - began)
            if status in (429, 503, "no response"):
                wait = max(wait, self.after_s)
            if wait > 0:
                self.stopping.wait(wait)

    @staticmethod
    def send(connection, method, path, body):
        """Reads and discards the response. A bulk row that a quota rejects counts as 422."""
        text = json.dumps(body) if body is not None else None
        try:
            connection.http.request(method, path, text, connection.headers)
            response = connection.http.getresponse()
            status = response.status
            while content := response.read(1 << 20):
                if method != "GET" and b"quota-exceeded" in content:
                    status = 422
            return status
        except (OSError, http.client.HTTPException) as error:
            connection.http.close()
            raise ConnectionError(str(error)) from error

    def until(self, stop):
        self.start()
        stop.wait()
        self.stopping.set()
        return self.counts


class Holder:
    """Slow sockets. Each sends the bytes `opening(number)` at once, then reads `read_per_s` bytes a second. A closed
    connection is reopened after `again_after_s`. `receive_bytes`: size of the socket's buffer, if not the default.
    `source`: the client's address. `per_s`: maximum number of new connections a second."""

    def __init__(self, world, count, opening, read_per_s=0, again_after_s=0.5, per_round=200, receive_bytes=None,
                 source="127.0.0.1", per_s=10_000):
        self.world, self.count, self.opening, self.read_per_s = world, count, opening, read_per_s
        self.again_after_s, self.per_round, self.receive_bytes = again_after_s, per_round, receive_bytes
        self.source, self.every_s, self.next_at = source, 1 / per_s, 0.0
        self.counts, self.selector = collections.Counter(), selectors.EpollSelector()
        self.waiting = collections.deque((0.0, number) for number in range(count))

    def connect(self, number):
        connection = socket.socket()
        connection.setblocking(False)
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        if self.receive_bytes:
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, self.receive_bytes)
        connection.bind((self.source, 0))
        connection.connect_ex(self.world.address)
        self.selector.register(connection, selectors.EVENT_WRITE, [number, self.opening(number), False])

    def forget(self, key, what):
        self.counts[what] += 1
        self.selector.unregister(key.fileobj)
        key.fileobj.close()
        self.waiting.append((time.monotonic() + self.again_after_s, key.data[0]))

    def move(self, key):
        state = key.data
        try:
            if state[1]:
                state[1] = state[1][key.fileobj.send(state[1][:65536]):]
                if not state[1]:
                    # A slow reader only reads at its scheduled time.
                    self.selector.modify(key.fileobj, 0 if self.read_per_s else selectors.EVENT_READ, state)
                return
            data = key.fileobj.recv(65536)
        except BlockingIOError:
            return
        except OSError:
            return self.forget(key, "closed")
        if not data:
            return self.forget(key, "closed")
        if not state[2]:
            state[2] = True
            self.counts[data[9:12].decode("latin-1")] += 1

    def read_a_little(self):
        for key in list(self.selector.get_map().values()):
            if key.data[1]:
                continue
            try:
                data = key.fileobj.recv(max(16, self.read_per_s // 2))
            except BlockingIOError:
                continue
            except OSError:
                data = b""
            if not data:
                self.forget(key, "closed")
            elif not key.data[2]:
                key.data[2] = True
                self.counts[data[9:12].decode("latin-1")] += 1

    def until(self, stop):
        look_at = 0.0
        while not stop.is_set():
            now = time.monotonic()
            for _ in range(min(self.per_round, len(self.waiting))):
                if max(self.waiting[0][0], self.next_at) > now:
                    break
                self.next_at = max(self.next_at, now - 0.02) + self.every_s
                self.connect(self.waiting.popleft()[1])
            for key, _ in self.selector.select(0.02):
                self.move(key)
            if self.read_per_s and now > look_at:
                look_at = now + 0.5
                self.read_a_little()
        self.counts["open at the end"] = sum(not key.data[1] for key in self.selector.get_map().values())
        for key in list(self.selector.get_map().values()):
            key.fileobj.close()
        return self.counts


class Running:
    """An attack in a separate process: `work(world, stop)` returns its counts."""

    def __init__(self, work, world):
        self.stop, self.results = multiprocessing.Event(), multiprocessing.Queue()
        self.process = multiprocessing.Process(target=self.run, args=(work, world), daemon=True)
        self.process.start()

    def run(self, work, world):
        self.results.put(dict(work(world, self.stop)))

    def end(self):
        """The counts. Threads that still wait for a response end with the process."""
        self.stop.set()
        try:
            return self.results.get(timeout=30.0)
        finally:
            self.process.kill()
            self.process.join()
