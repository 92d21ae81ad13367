"""A separate network with host names and `coffer serve`, for tests of permitted delivery targets. Only for a process
that was started with `unshare -n -m`."""

import os
import subprocess
import sys
import time

from harness.machine import binary
from harness.report import fail
from harness.server import Service
from harness.tenant import Tenant

PUBLIC, PUBLIC6 = "93.184.216.34", "2606:2800:220:1::1"
PRIVATE = ("127.0.0.1", "127.0.0.2", "10.1.2.3", "192.168.7.7", "172.16.5.5", "100.64.0.9", "169.254.169.254",
           "198.18.0.1")
PRIVATE6 = ("::1", "fd00::7", "fec0::7")
SEARCHED = "searched.test"  # the search list of resolv.conf
API_HOST, API_PORT = "127.0.0.2", 8080


def prepare_namespace(folder):
    """Adds addresses to the loopback device, and uses the test's resolver, which searches a domain as many networks
    configure it."""
    def run(*words):
        subprocess.run(words, check=True, stdout=subprocess.DEVNULL)
    run("ip", "link", "set", "lo", "up")
    for address in (PUBLIC, *PRIVATE):
        if not address.startswith("127."):
            run("ip", "addr", "add", address + "/32", "dev", "lo")
    for address in (PUBLIC6, *PRIVATE6):
        if address != "::1":
            run("ip", "addr", "add", address + "/128", "dev", "lo", "nodad")
    for name, text in (("resolv.conf", f"nameserver 127.0.0.1\nsearch {SEARCHED}\noptions ndots:3\n"),
                       ("hosts", f"127.0.0.1 localhost\n{PUBLIC} good-in-hosts good-in-hosts.test\n")):
        path = os.path.join(folder, name)
        with open(path, "w", encoding="ascii") as file:
            file.write(text)
        run("mount", "--bind", path, "/etc/" + name)


class Network(Service):
    """`coffer serve` on a new file, with a tenant per environment, created on first use."""

    def __init__(self, folder, name, settings):
        os.mkdir(os.path.join(folder, name))
        super().__init__(binary(), os.path.join(folder, name, "coffer.db"), API_HOST, API_PORT, {
            "COFFER_RATE_LIMIT_LOGIN_PER_MIN": "0", "COFFER_RATE_LIMIT_SANDBOX_PER_S": "0",
            "COFFER_RATE_LIMIT_PRODUCTION_PER_S": "0", "COFFER_WEBHOOK_SANDBOX_RETRY_S": "1",
            "COFFER_WEBHOOK_RETRY_S": "1", "COFFER_WEBHOOK_TIMEOUT_MS": "3000",
            # The receivers listen on ports above 1023, which need no privilege.
            "COFFER_WEBHOOK_ALLOW_PORTS": "8091,8443", **settings})
        self.command("init")
        self.name, self.tenants = name, {}

    def stop(self, timeout_s=30.0):
        if super().stop(timeout_s) != 0:
            fail("a clean stop did not exit with 0")

    def call(self, method, path, body=None, environment="sandbox"):
        if environment not in self.tenants:
            self.tenants[environment] = Tenant.create(self, self.name, environment, wallets=())
        return self.tenants[environment].login().call(method, path, body)

    def register(self, url, environment="sandbox"):
        """Registers a webhook and returns (status, response). Its event type is unused, so it gets only test events."""
        status, answer = self.call("POST", "/v1/webhooks", {"url": url, "eventTypes": ["payment.refund_failed"]},
                                   environment)
        return status, answer

    def try_out(self, url, attempts=3, environment="sandbox"):
        """Registers a webhook, sends a test event until it is delivered or dead, and removes the webhook. Returns the
        final state and the log of each attempt, or ("rejected", status) if it cannot be registered."""
        status, webhook = self.register(url, environment)
        if status != 201:
            return "rejected", [status]
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
        sys.exit(f"the delivery to {webhook['url']} does not end")
