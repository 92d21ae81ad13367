"""Controls of lanes.py, which the judge must fail: the same attacks on a server with one lane for everything, and
figures measured on a gateway without lanes."""

import copy
import http.client
import re
import socket
import threading
import time

from harness.server import Elsewhere
from flood_double import WrongServer
from lanes_probe import KINDS

# The requests of the well-behaved clients; every other request belongs to the attack.
GOOD = re.compile(rb"POST /v1/payments/p2p/own |GET /(livez |healthz |v1/wallets/|v1/transactions\?limit=20 |"
                  rb"v1/beneficiaries\?q=absent |v1/statements/transactions/csv)")
HOLDS_S = 0.15


class OneLane(WrongServer):
    """A proxy before the real gateway: 96 threads, each serving one connection until it ends, and one lock, which every
    request of the attack holds for a while."""

    def __init__(self, world):
        self.upstream = world.address
        self.lock = threading.Lock()
        super().__init__(96, 4096)

    def serve(self, connection):
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        upstream, data = http.client.HTTPConnection(*self.upstream, timeout=30), b""
        while True:
            while b"\r\n\r\n" not in data:
                more = connection.recv(65536)
                if not more:
                    return
                data += more
            head, data = data.split(b"\r\n\r\n", 1)
            first, *fields = head.decode("latin-1").split("\r\n")
            headers = dict(field.split(": ", 1) for field in fields)
            length = int(headers.pop("Content-Length", "0"))
            while len(data) < length:
                more = connection.recv(65536)
                if not more:
                    return
                data += more
            body, data = data[:length], data[length:]
            connection.sendall(self.pass_on(upstream, head, first, headers, body))

    def pass_on(self, upstream, head, first, headers, body):
        method, path, _ = first.split(" ", 2)
        with self.lock:
            if not GOOD.match(head):
                time.sleep(HOLDS_S)
                return b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}"
        try:
            upstream.request(method, path, body or None, headers)
            response = upstream.getresponse()
            content = response.read()  # also exports, which are long
        except (OSError, http.client.HTTPException):
            upstream.close()
            return b"HTTP/1.1 502 \r\nContent-Length: 2\r\n\r\n{}"
        return (f"HTTP/1.1 {response.status} \r\nContent-Type: application/json\r\n"
                f"Content-Length: {len(content)}\r\n\r\n").encode() + content

    def stand_before(self, world):
        """Redirects every client to this server from now on."""
        world.host_and_port = self.host, self.port
        for caller in (world.good, world.neighbour):
            caller.server = Elsewhere(self.host, self.port, caller.server.command)
        return self


# --- Recorded figures --------------------------------------------------------------------------------------------

CALM = {"payment": 3.0, "settle": 4.0, "read": 3.0, "search": 3.0, "export": 5.0, "livez": 2.0, "healthz": 2.0}


def calm_phase():
    out = {"rss_mib": 20.0, "buffers_mib": 0.1, "wal_mib": 16.0, "checkpoints": [15, 2816]}
    for kind, late in CALM.items():
        out |= {f"{kind}_p50_ms": late, f"{kind}_p99_ms": late * 2, f"{kind}_max_ms": late * 3}
    for kind in KINDS:
        out |= {kind + "_count": 200, kind + "_rejected": 0, kind + "_unanswered": 0, kind + "_strange": []}
    return out


def calm_result():
    """Figures of a gateway that the attack does not affect."""
    return {"phases": {name: calm_phase() for name in ("quiet", "during", "after")}, "lost": [],
            "counts": {"200": 100, "401": 100, "422": 100, "429": 100}, "served": (12, 12), "grown_mib": 10.0,
            "grown_after_mib": 1.0}


def during(payment, settle, read, livez, rss=20, buffers=0, wal=16, rejected=(0, 0), unanswered=(0, 0), **more):
    """A row of RECORDED: p99 of payments, settlement and reads, and maximum of /livez, in ms; memory in MiB; rejected
    and unanswered requests, for payments and /livez."""
    return {"payment_p99_ms": payment, "settle_p99_ms": settle, "read_p99_ms": read, "livez_max_ms": livez,
            "rss_mib": rss, "buffers_mib": buffers, "wal_mib": wal, "payment_rejected": rejected[0],
            "livez_rejected": rejected[1], "payment_unanswered": unanswered[0],
            "livez_unanswered": unanswered[1], **more}


# Each attack as measured on a gateway without lanes (phases of 2 to 6 s, two busy processors), and what the judge
# must report. `verify`, `backup` and `readers` are the worst of several runs, some of them during the verification at
# the start. `pattern` and `bodies` were not measured: they represent a stopped writer, and bulk requests that are all
# rejected. `half_requests` was measured on a gateway with lanes that only closed idle connections for new ones.
RECORDED = {
    "pattern": (during(10000, 10000, 3, 2, unanswered=(240, 0)), ("p99 of payments", "without a response")),
    "documents": (during(1445, 925, 1127, 752, 60), ("p99 of payments", "p99 of settlement", "/livez")),
    "slow_exports": (during(6022, 88, 5903, 6002, 107, 230), ("p99 of payments", "/livez", "resident", "buffers")),
    "slow_provider": (during(8996, 60, 8944, 8986), ("p99 of payments", "p99 of reads", "/livez")),
    "lists": (during(385, 1996, 2940, 335, 113), ("p99 of settlement", "p99 of reads", "resident memory")),
    "searches": (during(540, 1045, 1815, 487, 110), ("p99 of settlement", "p99 of reads", "/livez")),
    "passwords": (during(20749, 396, 19975, 20182, 1040, unanswered=(237, 119)),
                  ("p99 of payments", "/livez", "resident memory", "without a response")),
    "bodies": (during(12, 10, 9, 9, served=(0, 12)), ("0 of 12 real requests",)),
    "idlers": (during(36, 16, 25, 29, rejected=(91, 95)), ("payment requests rejected", "livez requests rejected")),
    "half_requests": (during(5, 2, 2, 12, 33, rejected=(167, 167)),
                      ("payment requests rejected", "livez requests rejected")),
    "key_set": (during(5919, 23, 5900, 5988), ("p99 of payments", "/livez")),
    "names": (during(4658, 54, 4017, 4569), ("p99 of payments", "/livez")),
    "quota": (during(306, 269, 126, 174, 164, counts={"200": 79}, grown_mib=72.0, grown_after_mib=23.0),
              ("never got 422", "in the last third", "p99 of payments")),
    "unread": (during(10205, 2, 10140, 10111, 87, unanswered=(81, 40)), ("p99 of payments", "/livez", "resident")),
    "pipelined": (during(2474, 44, 2313, 3315, 57, 504), ("p99 of payments", "/livez", "socket buffers")),
    "half_bodies": (during(128, 63, 68, 194, 92), ("resident memory",)),
    "handshakes": (during(393, 88, 357, 402, 24), ("p99 of payments", "/livez")),
    "resets": (during(10223, 0, 10091, 10135, 61, unanswered=(80, 40)), ("p99 of payments", "/livez")),
    "strangers": (during(12663, 2675, 10489, 12164, 341, unanswered=(12, 18)),
                  ("p99 of payments", "/livez", "resident memory")),
    "verify": (during(190, 185, 104, 126, wal=387, checkpoints=[584, 621]), ("write-ahead log", "checkpoints in")),
    "backup": (during(430, 528, 99, 125, wal=417, checkpoints=[525, 525]), ("write-ahead log", "p99 of payments")),
    "readers": (during(463, 227, 410, 513, wal=432, checkpoints=[670, 670]), ("write-ahead log", "checkpoints in")),
}


def recorded(name):
    """The figures of one attack without lanes, and the faults that the judge must report."""
    figures, found = RECORDED[name]
    result = copy.deepcopy(calm_result())
    for key, value in figures.items():
        if key in result:
            result[key] = value  # a figure of the whole run
        else:
            result["phases"]["during"][key] = value
    return result, found


def recorded_text(name):
    """Summary for the table."""
    figures = RECORDED[name][0]
    rejected, unanswered = (figures["payment_" + key] + figures["livez_" + key] for key in ("rejected", "unanswered"))
    return (f"payments {figures['payment_p99_ms']:.0f}, /livez {figures['livez_max_ms']:.0f} ms,"
            f" RSS {figures['rss_mib']} buffers {figures['buffers_mib']} WAL {figures['wal_mib']} MiB,"
            f" {rejected}/{unanswered}")
