"""What good clients see beside an attack: a process of its own that pays at a fixed rate, reads, and looks at
/livez and /healthz; and what the server takes meanwhile. For lanes.py.

Every request has its time at which it is to be sent, and its latency counts from then: one that waits for its
turn, because all others hang, is as late as it looks to a client."""

import multiprocessing
import os
import re
import subprocess
import threading
import time

from gateway import Connection

PAYMENTS_PER_S, PAYERS = 40, 24
READS_PER_S, READERS = 20, 12
LOOK_EVERY_S, LOOKERS = 0.050, 8
TIMEOUT_S = 10.0
TRY_AGAIN = (429, 503)
UNSENT = -1


class Schedule:
    """Hands out times at a fixed rate until it is told to stop."""

    def __init__(self, per_s):
        self.step, self.lock, self.next = 1.0 / per_s, threading.Lock(), time.monotonic()
        self.count = 0

    def take(self):
        with self.lock:
            self.count += 1
            self.next += self.step
            return self.count, self.next


class Probe:
    """Runs in its own process. Records are (kind, number, when it was to be sent, latency in s, status); no
    answer: status 0; not even sent when all was over: UNSENT."""

    def __init__(self, good, prefix):
        self.good, self.prefix = good, prefix
        self.records, self.lock = [], threading.Lock()
        self.stopping = threading.Event()
        self.acked = {}
        self.threads, self.schedules = [], {}

    def spawn(self, threads, per_s, kind, send, fresh_every):
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
            if connection is None or (fresh_every and number % fresh_every == 0):
                if connection:
                    connection.http.close()
                connection = self.connect()
            try:
                status = send(connection, number)
            except ConnectionError:
                connection, status = None, 0
            with self.lock:
                self.records.append((kind, number, due, time.monotonic() - due, status))
        if connection:
            connection.http.close()

    def connect(self):
        connection = Connection(self.good.host, self.good.port, TIMEOUT_S)
        connection.headers = dict(self.good.headers)
        return connection

    def pay(self, connection, number):
        path, body = self.good.payment(f"{self.prefix}-{number}")
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
    def look(path):
        return lambda connection, number: connection.call("GET", path)[0]

    def run(self):
        self.spawn(PAYERS, PAYMENTS_PER_S, "payment", self.pay, 5)
        self.spawn(READERS, READS_PER_S, "read", self.read, 5)
        # /livez on a new connection every time, as a supervisor asks.
        self.spawn(LOOKERS, 1 / LOOK_EVERY_S, "livez", self.look("/livez"), 1)
        self.spawn(LOOKERS, 1 / LOOK_EVERY_S, "healthz", self.look("/healthz"), 0)

    def end(self):
        """What should have been sent and was not counts as waiting until now."""
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
    """The same, from the process that starts it."""

    def __init__(self, good, prefix):
        self.pipe, other = multiprocessing.Pipe()
        self.process = multiprocessing.Process(target=probe_process, args=(good, prefix, other), daemon=True)
        self.process.start()

    def end(self):
        self.pipe.send("end")
        if not self.pipe.poll(90.0):
            raise RuntimeError("the probe does not end")
        out = self.pipe.recv()
        self.process.join(10.0)
        return out


# --- What the server takes ---------------------------------------------------------------------------------


def resident_mib(pid):
    try:
        with open(f"/proc/{pid}/status", encoding="ascii") as file:
            return next(int(line.split()[1]) for line in file if line.startswith("VmRSS")) / 1024
    except (OSError, StopIteration):
        return 0.0


SOCKET_MEMORY = re.compile(r"skmem:\(r(\d+),rb\d+,t(\d+),tb\d+,f\d+,w(\d+)")


def socket_buffers_mib(port):
    """What the kernel holds for the server's own ends of its connections."""
    out = subprocess.run(["ss", "-tmnH", f"sport = :{port}"], capture_output=True, text=True, check=False).stdout
    return sum(int(r) + max(int(t), int(w)) for r, t, w in SOCKET_MEMORY.findall(out)) / 2**20


class Sampler:
    """Memory, socket buffers and the log of the file, a few times a second, with the time of each."""

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
    """Of one phase. Latencies in ms; a request that got no answer has the latency of its timeout, one that
    was refused or never sent is counted apart as well."""
    mine = [record for record in records if began <= record[2] < ended]
    out = {}
    for kind in ("payment", "read", "livez", "healthz"):
        of_kind = [record for record in mine if record[0] == kind]
        late = [record[3] * 1000 for record in of_kind]
        out |= {kind + "_count": len(of_kind), kind + "_p50_ms": percentile(late, 0.5),
                kind + "_p99_ms": percentile(late, 0.99), kind + "_max_ms": max(late, default=0.0),
                kind + "_refused": sum(record[4] in TRY_AGAIN for record in of_kind),
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
