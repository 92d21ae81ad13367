"""A name server on 127.0.0.1, port 53, for a test in a separate network namespace."""

import socket
import struct
import threading

A, AAAA = 1, 28
NO_SUCH_NAME = 3


def record(kind, address, ttl):
    data = socket.inet_pton(socket.AF_INET if kind == A else socket.AF_INET6, address)
    return b"\xc0\x0c" + struct.pack(">HHIH", kind, 1, ttl, len(data)) + data


class Names:
    """A name server. `zone` maps a name to a function from (type, number of earlier queries) to addresses."""

    def __init__(self, zone):
        self.zone, self.asked, self.lock = zone, {}, threading.Lock()
        self.socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.socket.bind(("127.0.0.1", 53))
        threading.Thread(target=self.run, daemon=True).start()

    def run(self):
        while True:
            query, peer = self.socket.recvfrom(2048)
            labels, at = [], 12
            while query[at]:
                labels.append(query[at + 1:at + 1 + query[at]].decode().lower())
                at += 1 + query[at]
            kind = struct.unpack(">H", query[at + 1:at + 3])[0]
            question, name = query[12:at + 5], ".".join(labels)
            answers = self.answers(name, kind)
            code = 0 if name in self.zone else NO_SUCH_NAME
            header = query[:2] + struct.pack(">HHHHH", 0x8580 | code, 1, len(answers), 0, 0)
            self.socket.sendto(header + question + b"".join(answers), peer)

    def answers(self, name, kind):
        if name not in self.zone or kind not in (A, AAAA):
            return []
        with self.lock:
            before = self.asked.get((name, kind), 0)
            self.asked[(name, kind)] = before + 1
        found = self.zone[name](kind, before)
        # TTL 0: the response must not be cached.
        return [record(kind, address, 0) for address in found if (":" in address) == (kind == AAAA)]
