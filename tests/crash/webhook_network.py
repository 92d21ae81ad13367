"""For tests of where deliveries may go: a network of its own, names, and `coffer serve` in it. Only for a
process that was started with `unshare -n -m`."""

import os
import socket
import struct
import subprocess
import sys
import threading
import time

from gateway import RUNNING, Connection, command

PUBLIC, PUBLIC6 = "93.184.216.34", "2606:2800:220:1::1"
PRIVATE = ("127.0.0.1", "127.0.0.2", "10.1.2.3", "192.168.7.7", "172.16.5.5", "100.64.0.9", "169.254.169.254",
           "198.18.0.1")
PRIVATE6 = ("::1", "fd00::7", "fec0::7")
API_HOST, API_PORT = "127.0.0.2", 8080
A, AAAA = 1, 28


def prepare_namespace(folder):
    """Addresses on the loopback device, and a resolver that is ours."""
    def run(*words):
        subprocess.run(words, check=True, stdout=subprocess.DEVNULL)
    run("ip", "link", "set", "lo", "up")
    for address in (PUBLIC, *PRIVATE):
        if not address.startswith("127."):
            run("ip", "addr", "add", address + "/32", "dev", "lo")
    for address in (PUBLIC6, *PRIVATE6):
        if address != "::1":
            run("ip", "addr", "add", address + "/128", "dev", "lo", "nodad")
    for name, text in (("resolv.conf", "nameserver 127.0.0.1\n"), ("hosts", "127.0.0.1 localhost\n")):
        path = os.path.join(folder, name)
        with open(path, "w", encoding="ascii") as file:
            file.write(text)
        run("mount", "--bind", path, "/etc/" + name)


def record(kind, address, ttl):
    data = socket.inet_pton(socket.AF_INET if kind == A else socket.AF_INET6, address)
    return b"\xc0\x0c" + struct.pack(">HHIH", kind, 1, ttl, len(data)) + data


class Names:
    """A name server. `zone`: name -> function of (type, how often it was asked before) to addresses."""

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
            header = query[:2] + struct.pack(">HHHHH", 0x8580, 1, len(answers), 0, 0)
            self.socket.sendto(header + question + b"".join(answers), peer)

    def answers(self, name, kind):
        if name not in self.zone or kind not in (A, AAAA):
            return []
        with self.lock:
            before = self.asked.get((name, kind), 0)
            self.asked[(name, kind)] = before + 1
        found = self.zone[name](kind, before)
        # TTL 0: nobody may remember it.
        return [record(kind, address, 0) for address in found if (":" in address) == (kind == AAAA)]


class Server:
    """`coffer serve` on a fresh file, with an application per environment as they are wanted."""

    def __init__(self, folder, name, settings):
        self.binary, self.db = os.environ["COFFER_RELEASE_BIN"], os.path.join(folder, name, "coffer.db")
        os.mkdir(os.path.dirname(self.db))
        self.log = os.path.join(folder, name + ".log")
        self.settings = {"COFFER_LISTEN_HTTP": f"{API_HOST}:{API_PORT}", "COFFER_RATE_LIMIT_LOGIN_PER_MIN": "0",
                         "COFFER_RATE_LIMIT_SANDBOX_PER_S": "0", "COFFER_RATE_LIMIT_PRODUCTION_PER_S": "0",
                         "COFFER_WEBHOOK_SANDBOX_RETRY_S": "1", "COFFER_WEBHOOK_RETRY_S": "1",
                         "COFFER_WEBHOOK_TIMEOUT_MS": "3000", **settings}
        self.command("init")
        self.association = self.command("association", "create", name)["id"]
        self.applications = {}

    def command(self, *words):
        return command(self.binary, self.db, *words)

    def start(self):
        with open(self.log, "ab") as log:
            self.process = subprocess.Popen([self.binary, "serve", "--db", self.db], stdout=log, stderr=log,
                                            env={**os.environ, **self.settings})
        RUNNING.add(self.process)
        deadline = time.monotonic() + 20
        while time.monotonic() < deadline and self.process.poll() is None:
            try:
                if Connection(API_HOST, API_PORT).call("GET", "/healthz")[0] == 200:
                    return self
            except ConnectionError:
                time.sleep(0.05)
        with open(self.log, encoding="utf-8") as log:
            sys.exit("the server does not come up: " + log.read()[-500:])

    def stop(self):
        self.process.terminate()
        if self.process.wait(30) != 0:
            sys.exit("a clean stop did not end with 0")
        RUNNING.discard(self.process)

    def application(self, environment="sandbox"):
        if environment not in self.applications:
            self.applications[environment] = self.command(
                "application", "register", "--name", environment, "--association", self.association,
                "--environment", environment)
        return self.applications[environment]

    def call(self, method, path, body=None, environment="sandbox"):
        keys = self.application(environment)
        connection = Connection(API_HOST, API_PORT)
        token = connection.call("POST", "/v1/auth/token", {"clientId": keys["clientId"],
                                                           "clientSecret": keys["clientSecret"]})[1]
        connection.headers["x-svc-auth"] = keys["apiKey"]
        connection.headers["Authorization"] = "Bearer " + token["accessToken"]
        return connection.call(method, path, body)

    def register(self, url, environment="sandbox"):
        """(status, answer). Takes no type that another would want: tests are sent to it alone."""
        status, answer = self.call("POST", "/v1/webhooks", {"url": url, "eventTypes": ["payment.refund_failed"]},
                                   environment)
        return status, answer

    def try_out(self, url, attempts=3, environment="sandbox"):
        """Registers, sends a test event until it is delivered or dead, removes: how it ended, and what the
        log says of each attempt. ("refused", status) when it cannot be registered."""
        status, webhook = self.register(url, environment)
        if status != 201:
            return "refused", [status]
        out = self.send_test(webhook, attempts, environment)
        self.call("DELETE", f"/v1/webhooks/{webhook['id']}", environment=environment)
        return out

    def send_test(self, webhook, attempts=3, environment="sandbox"):
        path = f"/v1/webhooks/{webhook['id']}"
        event = self.call("POST", path + "/test", environment=environment)[1]["eventId"]
        deadline = time.monotonic() + 30
        while time.monotonic() < deadline:
            status, row = self.call("GET", f"{path}/deliveries/{event}", environment=environment)
            if status == 200 and (row["status"] != "pending" or row["attempts"] >= attempts):
                return row["status"], [step.get("error") or step["responseStatus"] for step in row["log"]]
            time.sleep(0.05)
        sys.exit(f"the delivery to {webhook['url']} does not come to an end")
