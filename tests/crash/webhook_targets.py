#!/usr/bin/env -S PYTHONPATH=tests python3 -B
# ctest: waits
"""Webhooks cannot reach the private network of the server. Neither names that resolve to a public address first and a
private one later, or to both at once, nor any notation of an address reaches a private target. A name is never
completed with a domain that the machine searches. Runs in separate network and mount namespaces, with its own name
server."""

import contextlib
import sqlite3
import tempfile

from harness.auditor_keys import sign_again
from harness.machine import in_namespaces
from harness.names import Names
from harness.receiver import Receiver, contract_verifies
from harness.report import fail, judge_faults
from webhook_network import PRIVATE, PRIVATE6, PUBLIC, PUBLIC6, SEARCHED, Network, prepare_namespace

PORT = 8091  # of the public receiver and every trap, which differ only in the address
UNKNOWN = ("unknown", "unknown.test", "hooks.unknown.test", "a.b.unknown.test")  # exist only in the searched domain
OPENED = "0.0.0.0/0,::/0,169.254.169.254"


def always(*addresses):
    return lambda kind, before: addresses


def first_then(first, then):
    """One address at the check, and another one afterwards."""
    return lambda kind, before: [first] if before == 0 else [then]


def in_turn(*addresses):
    return lambda kind, before: [addresses[before % len(addresses)]]


def zone():
    """Name -> (addresses, whether requests may arrive at the public receiver)."""
    out = {
        "good.test": (always(PUBLIC), True),
        "good6.test": (always(PUBLIC6), True),
        "rebound.test": (first_then(PUBLIC, "127.0.0.1"), True),
        "in-turn.test": (in_turn(PUBLIC, "127.0.0.1"), True),
        "in-turn-private.test": (in_turn("10.1.2.3", PUBLIC), True),
        "both.test": (always(PUBLIC, "10.1.2.3"), False),
        "both-turned.test": (always("10.1.2.3", PUBLIC), False),
        "good-and-six.test": (always(PUBLIC, "::1"), False),
        "six-and-ula.test": (always(PUBLIC6, "fd00::7"), False),
        "mapped.test": (always(PUBLIC, "::ffff:127.0.0.1"), False),
        "nat64.test": (always("64:ff9b::7f00:1"), False),
        "six-to-four.test": (always("2002:7f00:1::1"), False),
        "zero.test": (always("0.0.0.0"), False),
    }
    for number, address in enumerate((*PRIVATE, *PRIVATE6)):
        out[f"private-{number}.test"] = (always(address), False)
    for name in UNKNOWN:
        out[f"{name}.{SEARCHED}"] = (always(PUBLIC), True)
    return out


# For each of these URLs, some parser finds a private target.
DISGUISES = [
    "http://127.0.0.1:{port}/", "http://127.1:{port}/", "http://127.0.1:{port}/",
    "http://2130706433:{port}/", "http://0x7f000001:{port}/", "http://0x7f.1:{port}/",
    "http://0x7F.0x0.0x0.0x1:{port}/", "http://017700000001:{port}/", "http://0177.0.0.1:{port}/",
    "http://0177.0.0.01:{port}/", "http://127.000.000.001:{port}/", "http://127.0.0.1.:{port}/",
    "http://127.0.0.1..:{port}/", "http://[::1]:{port}/", "http://[0:0:0:0:0:0:0:1]:{port}/",
    "http://[::ffff:127.0.0.1]:{port}/", "http://[::ffff:7f00:1]:{port}/",
    "http://[::127.0.0.1]:{port}/", "http://[::]:{port}/", "http://[fd00::7]:{port}/",
    "http://[64:ff9b::7f00:1]:{port}/", "http://[2002:7f00:1::]:{port}/", "http://[::1%25lo]:{port}/",
    "http://[::1%lo]:{port}/", "http://[fe80::1%25lo]:{port}/", "http://0.0.0.0:{port}/",
    "http://0:{port}/", "http://10.1.2.3:{port}/", "http://167837187:{port}/",
    "http://169.254.169.254:{port}/latest/meta-data/", "http://2852039166:{port}/",
    "http://0xa9fea9fe:{port}/", "http://[::ffff:a9fe:a9fe]:{port}/", "http://localhost:{port}/",
    "http://LOCALHOST:{port}/", "http://localhost.:{port}/", "http://hooks.localhost:{port}/",
    "http://good.test@127.0.0.1:{port}/",
    "http://user:secret@good.test:{port}/", "http://good.test:80@127.0.0.1:{port}/",
    "http://good.test%40127.0.0.1:{port}/", "http://127.0.0.1:{port}#@good.test/",
    "http://127.0.0.1:{port}?@good.test/", "http://127.0.0.1:{port}\\@good.test/",
    "http://good.test\\@127.0.0.1:{port}/", "http://127.0.0.1%2f@good.test:{port}/",
    "http://%31%32%37.0.0.1:{port}/", "http://127%2e0%2e0%2e1:{port}/", "http://①②⑦.⓪.⓪.①:{port}/",
    "http://127。0。0。1:{port}/", "http:127.0.0.1:{port}/", "http:/127.0.0.1:{port}/",
    "http:///127.0.0.1:{port}/", "http:\\\\127.0.0.1:{port}\\", "//127.0.0.1:{port}/",
    " http://127.0.0.1:{port}/", "http://127.0.0.1 :{port}/", "http://127.0.0.1\t:{port}/",
    "http://good.test\r\nHost: 127.0.0.1:{port}/", "http://good.test\u0000.127.0.0.1:{port}/",
    "HTTP://127.0.0.1:{port}/", "gopher://127.0.0.1:{port}/_POST", "file:///etc/passwd",
    "ftp://127.0.0.1:{port}/", "unix:///run/x.sock", "dict://127.0.0.1:{port}/", "javascript:alert(1)",
    "http://127.0.0.1:{port}", "http://10.1.2.3:{port}?x=http://good.test/",
]


class Listeners:
    """One receiver on every address; `accepted` records the address of each connection. The name server and the API
    have other addresses and ports."""

    def __init__(self):
        self.all = [Receiver(self.behave, host, PORT) for host in ("0.0.0.0", "::")]
        self.redirects = False
        self.taken = 0
        self.order = []

    def behave(self, delivery):
        self.order.append(delivery)
        return "redirect" if self.redirects else "ok"

    def take(self):
        """(requests at public addresses, connections to others) since the last call."""
        arrived = self.deliveries()
        new, self.taken = arrived[self.taken:], len(arrived)
        bad = 0
        for receiver in self.all:
            with receiver.lock:
                bad += sum(address not in (PUBLIC, PUBLIC6) for address in receiver.accepted)
                receiver.accepted.clear()
        return len(new), bad

    def deliveries(self):
        return list(self.order)


def try_names(server, listeners, faults):
    names = zone()
    # A final dot does not change the name.
    names |= {name + ".": names[name] for name in ("good.test", "both.test", "private-0.test", "private-2.test")}
    names |= {name: (None, False) for name in (*UNKNOWN, *(name + "." for name in UNKNOWN))}
    names |= {name: (None, True) for name in ("good-in-hosts", "good-in-hosts.test")}
    for name, (_, may_arrive) in names.items():
        end, steps = server.try_out(f"http://{name}:{PORT}/hooks")
        good, bad = listeners.take()
        if bad:
            faults.append(f"{name}: {bad} connections to a private address ({end}, {steps})")
        if bool(good) != may_arrive:
            faults.append(f"{name}: {good} requests at the public address ({end}, {steps})")
        if name.startswith("good") and may_arrive and end != "delivered":
            faults.append(f"{name}: {end}, {steps}")
    return len(names)


def try_disguises(server, listeners, faults):
    for pattern in DISGUISES:
        url = pattern.replace("{port}", str(PORT))
        end, steps = server.try_out(url)
        good, bad = listeners.take()
        if bad or good:
            faults.append(f"{url!r}: {good} and {bad} connections ({end}, {steps})")
        if end != "rejected" or steps[0] not in (400, 422):
            faults.append(f"{url!r} is registered: {end}, {steps}")
    return len(DISGUISES)


def try_update(server, listeners, faults):
    """A URL that is rejected at registration must be rejected in an update."""
    webhook = server.register(f"http://good.test:{PORT}/hooks")[1]
    url = f"http://10.1.2.3:{PORT}/"
    status, _ = server.call("PATCH", f"/v1/webhooks/{webhook['id']}", {"url": url})
    if status != 422:
        faults.append(f"an update to {url} returns {status}")
    end, _ = server.send_test(webhook)
    good, bad = listeners.take()
    if (end, bad) != ("delivered", 0) or good != 1:
        faults.append(f"after rejected updates: {end}, {good} and {bad} connections")
    listeners.redirects = True
    for receiver in listeners.all:
        receiver.redirect = f"http://127.0.0.1:{PORT}/internal"
    end, steps = server.send_test(webhook)
    listeners.redirects = False
    good, bad = listeners.take()
    if bad or end == "delivered" or set(steps) != {307}:
        faults.append(f"a redirect into the private network: {end}, {steps}, {bad} connections")
    server.call("DELETE", f"/v1/webhooks/{webhook['id']}")


def try_to_tell(server, names, faults):
    """A tenant cannot distinguish a private name from one that does not exist: registration sends no query to the name
    server, and an attempt has the same reason."""
    seen = {}
    for name in ("private-0.test", "private-2.test", "missing.test"):
        before = dict(names.asked)
        status, webhook = server.register(f"http://{name}:{PORT}/hooks")
        if names.asked != before:
            faults.append(f"the registration of {name} queries the name server")
        end, steps = server.send_test(webhook, attempts=1)
        seen[name] = status, sorted(webhook), end, steps[0]
        server.call("DELETE", f"/v1/webhooks/{webhook['id']}")
    if len(set(map(str, seen.values()))) != 1:
        faults.append(f"a tenant can distinguish the names: {seen}")


def try_smuggled(server, listeners, faults):
    """Writes URLs into the file, as if registration had accepted them: each attempt must check the target again."""
    webhook = server.register(f"http://good.test:{PORT}/hooks")[1]
    urls = [f"http://10.1.2.3:{PORT}/", f"http://127.1:{PORT}/", f"http://[::ffff:127.0.0.1]:{PORT}/",
            f"http://good.test@127.0.0.1:{PORT}/", f"http://localhost:{PORT}/"]
    for url in urls:
        server.stop()
        with contextlib.closing(sqlite3.connect(server.db, isolation_level=None)) as db:
            changed = db.execute("UPDATE webhooks SET url = ? WHERE disabled_at IS NULL", (url,)).rowcount
            sign_again(db, server.db)
        server.start()
        end, steps = server.send_test(webhook, attempts=1)
        good, bad = listeners.take()
        if changed != 1 or good or bad or end == "delivered":
            faults.append(f"{url} in the file: {end}, {steps}, {good} and {bad} connections")
    server.call("DELETE", f"/v1/webhooks/{webhook['id']}")
    return len(urls)


def check_control(folder, names, listeners):
    """With an open allow list, the same names lead into the trap, so the test can fail."""
    server = Network(folder, "opened", {"COFFER_WEBHOOK_ALLOW_TARGETS": OPENED}).start()
    reached = 0
    names.asked.clear()
    for name in ("in-turn-private.test", "both-turned.test", "private-0.test", "private-2.test", "private-6.test",
                 "private-9.test"):
        server.try_out(f"http://{name}:{PORT}/hooks")
        reached += listeners.take()[1] > 0
    for pattern in ("http://127.0.0.1:{port}/", "http://[fd00::7]:{port}/", "http://localhost:{port}/"):
        server.try_out(pattern.replace("{port}", str(PORT)))
        reached += listeners.take()[1] > 0
    server.stop()
    if reached != 9:
        fail(f"with an open allow list, only {reached} of 9 reach the trap")
    return reached


def main():
    in_namespaces("net", "mount")
    with tempfile.TemporaryDirectory() as folder:
        prepare_namespace(folder)
        names = Names({name: answer for name, (answer, _) in zone().items()})
        listeners = Listeners()
        server = Network(folder, "closed", {}).start()
        faults = []
        tried = try_names(server, listeners, faults)
        disguised = try_disguises(server, listeners, faults)
        try_update(server, listeners, faults)
        try_to_tell(server, names, faults)
        smuggled = try_smuggled(server, listeners, faults)
        server.stop()
        judge_faults(faults)
        arrived = listeners.deliveries()
        if not all(contract_verifies(one.headers, one.body, one.arrived * 1000) for one in arrived):
            fail("the signature of a delivery does not verify")
        reached = check_control(folder, names, listeners)
    print(f"count: {tried} names, {disguised} disguised addresses, {smuggled} written into the file, a redirect:"
          f" no connection to a private address, {len(arrived)} requests at the public one")
    print(f"control: with an open allow list, {reached} of {reached} reach the trap")


if __name__ == "__main__":
    main()
