"""Measures what well-behaved clients see during an attack, for lanes.py: a separate process that pays, reads,
searches and exports at fixed rates and polls /livez and /healthz. Also measures the server's memory.

Every request is scheduled, and its latency counts from the scheduled time, so that a request that waits for a
connection is as late as for a real client."""

import http.client
import multiprocessing
import os
import re
import subprocess
import threading
import time

from harness.process import memory_mib

# For each kind of request: rate per second, number of threads, and which requests use a new connection.
PAYMENTS, READS, LOOKS, OTHERS = (40, 24, 5), (20, 12, 5), (20, 8, 1), (4, 4, 5)
KINDS = ("payment", "read", "search", "export", "livez", "healthz")
TIMEOUT_S = 10.0
STALE_S = 1.0  # if a reused connection closes later than this, the request counts as unanswered
TRY_AGAIN = (429, 503)
UNSENT = -1


class Schedule:
    """Yields times at a fixed rate until it is stopped."""

    def __init__(self, per_s):
        self.step, self.lock, self.next = 1.0 / per_s, threading.Lock(), time.monotonic()
        self.count = 0

    def take(self):
        with self.lock:
            self.count += 1
            self.next += self.step
            return self.count, self.next


class Probe:
    """Runs in a separate process. Records are (kind, number, scheduled time, latency in s, status). The status is 0
    without a response, and UNSENT if the request was still waiting at the end."""

    def __init__(self, good, prefix):
        self.good, self.prefix = good, prefix
        self.records, self.lock = [], threading.Lock()
        self.stopping = threading.Event()
        self.acked = {}
        self.threads, self.schedules = [], {}

    def spawn(self, kind, send, per_s, threads, fresh_every):
        schedule = self.schedules[kind] = Schedule(per_s)
        for _ in range(threads):
            self.threads.append(threading.Thread(target=self.work, args=(schedule, kind, send, fresh_every),
                                                 daemon=True))
            self.threads[-1].start()

    def work(self, schedule, kind, send, fresh_every):
        connection = None
        while not self.stopping.is_set():
            number, due = schedule.take()
            while (left := due - time.monotonic()) > 0:
                if self.stopping.wait(left):
                    return
            if connection and number % fresh_every == 0:
                connection.http.close()
                connection = None
            reused = connection is not None
            connection, status = self.send(connection or self.connect(), send, number)
            if reused and status == 0 and time.monotonic() - due < STALE_S:
                # The server may close an idle connection at any time; clients retry on a new one.
                connection, status = self.send(self.connect(), send, number)
            with self.lock:
                self.records.append((kind, number, due, time.monotonic() - due, status))
        if connection:
            connection.http.close()

    @staticmethod
    def send(connection, send, number):
        """Returns the connection, None if it broke, and the status."""
        try:
            return connection, send(connection, number)
        except ConnectionError:
            return None, 0

    def connect(self):
        return self.good.connect(TIMEOUT_S)

    def pay(self, connection, number):
        path, body = self.good.payment(f"{self.prefix}-{number}", "0.25")
        status, answer = connection.call("POST", path, body)
        if status == 202:
            with self.lock:
                self.acked[body["transactionId"]] = answer["transactionRecordId"]
        return status

    def read(self, connection, number):
        path = ("/v1/transactions?limit=20" if number % 4 == 0
                else "/v1/wallets/" + self.good.wallets[number % 2])
        return connection.call("GET", path)[0]

    @staticmethod
    def get(path):
        def send(connection, _):
            try:
                connection.http.request("GET", path, headers=connection.headers)
                response = connection.http.getresponse()
                response.read()
                return response.status
            except (OSError, http.client.HTTPException) as error:
                connection.http.close()
                raise ConnectionError(str(error)) from error
        return send

    def run(self):
        self.spawn("payment", self.pay, *PAYMENTS)
        self.spawn("read", self.read, *READS)
        self.spawn("search", self.get("/v1/beneficiaries?q=absent"), *OTHERS)
        self.spawn("export", self.get(
            f"/v1/statements/transactions/csv?walletId={self.good.wallets[0]}&assetCode=USDC&startDate=2020-01-01"
            "&endDate=2100-01-01"), *OTHERS)
        self.spawn("livez", self.get("/livez"), *LOOKS)
        self.spawn("healthz", self.get("/healthz"), *LOOKS)

    def end(self):
        """Requests that are still due count as waiting until now."""
        self.stopping.set()
        now = time.monotonic()
        for thread in self.threads:
            thread.join(TIMEOUT_S + 1.0)
        with self.lock:
            for kind, schedule in self.schedules.items():
                while (due := schedule.take()[1]) < now:
                    self.records.append((kind, 0, due, now - due, UNSENT))
            return self.records, self.acked


def probe_process(good, prefix, pipe):
    probe = Probe(good, prefix)
    probe.run()
    pipe.recv()
    pipe.send(probe.end())


class RemoteProbe:
    """A Probe in another process."""

    def __init__(self, good, prefix):
        self.pipe, other = multiprocessing.Pipe()
        self.process = multiprocessing.Process(target=probe_process, args=(good, prefix, other), daemon=True)
        self.process.start()

    def end(self):
        self.pipe.send("end")
        if not self.pipe.poll(90.0):
            raise RuntimeError("the probe did not finish in time")
        out = self.pipe.recv()
        self.process.join(10.0)
        return out


# --- Memory and files of the server ---------------------------------------------------------------------------------


def resident_mib(pid):
    try:
        return memory_mib(pid)
    except (OSError, KeyError):
        return 0.0


SOCKET_MEMORY = re.compile(r"skmem:\(r(\d+),rb\d+,t(\d+),tb\d+,f\d+,w(\d+)")


def socket_buffers_mib(port):
    """Kernel memory for the server's sockets."""
    out = subprocess.run(["ss", "-tmnH", f"sport = :{port}"], capture_output=True, text=True, check=False).stdout
    return sum(int(r) + max(int(t), int(w)) for r, t, w in SOCKET_MEMORY.findall(out)) / 2**20


class Sampler:
    """Resident memory, socket buffers and size of the write-ahead log, sampled ten times a second."""

    def __init__(self, pid, port, db):
        self.pid, self.port, self.db = pid, port, db
        self.samples = []
        self.stopping = threading.Event()
        self.thread = threading.Thread(target=self.work, daemon=True)
        self.thread.start()

    def work(self):
        buffers, turn = 0.0, 0
        while not self.stopping.wait(0.1):
            if turn % 5 == 0:
                buffers = socket_buffers_mib(self.port)
            turn += 1
            wal = self.db + "-wal"
            self.samples.append((time.monotonic(), {
                "rss_mib": resident_mib(self.pid), "buffers_mib": buffers,
                "wal_mib": os.path.getsize(wal) / 2**20 if os.path.exists(wal) else 0.0}))

    def end(self):
        self.stopping.set()
        self.thread.join()
        return self.samples


# --- Figures -----------------------------------------------------------------------------------------------


def percentile(values, share):
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(len(ordered) * share))] if ordered else 0.0


def figures(records, samples, settlements, began, ended):
    """The figures of one phase. Latencies in ms include requests that were rejected, timed out or never sent, which are
    also counted."""
    mine = [record for record in records if began <= record[2] < ended]
    out = {}
    for kind in KINDS:
        of_kind = [record for record in mine if record[0] == kind]
        late = [record[3] * 1000 for record in of_kind]
        out |= {kind + "_count": len(of_kind), kind + "_p50_ms": percentile(late, 0.5),
                kind + "_p99_ms": percentile(late, 0.99), kind + "_max_ms": max(late, default=0.0),
                kind + "_rejected": sum(record[4] in TRY_AGAIN for record in of_kind),
                kind + "_unanswered": sum(record[4] in (0, UNSENT) for record in of_kind),
                kind + "_strange": sorted({record[4] for record in of_kind}
                                          - {200, 202, 0, UNSENT, *TRY_AGAIN})}
    settled = [settlements[record[1]] for record in mine if record[0] == "payment" and record[4] == 202
               and record[1] in settlements]
    out |= {"settle_p50_ms": percentile(settled, 0.5), "settle_p99_ms": percentile(settled, 0.99)}
    taken = [values for at, values in samples if began <= at < ended]
    for key in ("rss_mib", "buffers_mib", "wal_mib"):
        out[key] = max((values[key] for values in taken), default=0.0)
    return out
