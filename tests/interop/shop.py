#!/usr/bin/env -S PYTHONPATH=tests python3 -B
# ctest: waits
"""The example shop, run as examples/compose.yaml and examples/README.md say, but as processes on this machine: an order
is placed, collected, and its supplier paid, once through the demo's own connector and once through the provider
simulator. Webhooks are verified and shown, repeated ones pay nothing, forged ones are refused.

The compose file is read as an engine reads it: images, commands, variables, mounts and ports. Container names become
loopback addresses."""

import base64
import hashlib
import hmac
import json
import os
import re
import shlex
import subprocess
import sys
import tempfile
import time
import urllib.parse

import yaml

from harness.auditor import audit
from harness.calls import fetch
from harness.machine import ROOT, binary, held_port
from harness.report import check, wait_for
from harness.server import RUNNING, Demo
from harness.tenant import Tenant

EXAMPLES = os.path.join(ROOT, "examples")
WITHIN_S = 60.0


def read(*names):
    with open(os.path.join(ROOT, *names), encoding="utf-8") as file:
        return file.read()


class Compose:
    """The services of the file, as processes in `folder`."""

    def __init__(self, folder):
        self.folder, self.services = folder, yaml.safe_load(read("examples", "compose.yaml"))["services"]
        self.ports = {name: held_port() for name in self.services}
        self.logs = {name: os.path.join(folder, name + ".log") for name in self.services}

    def inside(self, name):
        """The port on which a service listens in its container."""
        return int(self.services[name]["ports"][0].rsplit(":", 1)[1])

    def mounts(self, name):
        """Path in the container -> path here. The only named volume is the folder of this test."""
        rows = (row.split(":") for row in self.services[name].get("volumes", []))
        return {row[1]: self.folder if row[0] == "ledger" else os.path.normpath(os.path.join(EXAMPLES, row[0]))
                for row in rows}

    def here(self, name, text):
        """A text of a service with the paths, names and ports of this machine."""
        for target, place in self.mounts(name).items():
            text = re.sub(rf"(?<![\w/.]){re.escape(target)}(?=/|$|\s)", place, text)
        for other, port in self.ports.items():
            text = text.replace(f"http://{other}:{self.inside(other)}", f"http://127.0.0.1:{port}")
        text = text.replace(f"0.0.0.0:{self.inside(name)}", f"127.0.0.1:{self.ports[name]}")
        return "127.0.0.1" if text in ("0.0.0.0", *self.ports) else text

    def environment(self, name, given):
        """`given`: the variables of the user, which replace ${NAME:-default}."""
        fill = lambda match: given.get(match[1], match[2])
        return {key: self.here(name, re.sub(r"\$\{(\w+):-([^}]*)\}", fill, str(value)))
                for key, value in self.services[name].get("environment", {}).items()}

    def words(self, name):
        return shlex.split(self.here(name, self.services[name]["command"]))

    def start(self, name, words, env, folder=None):
        with open(self.logs[name], "wb") as log:
            process = subprocess.Popen(words, cwd=folder or self.folder, env={**os.environ, **env, "NO_PROXY": "*", "no_proxy": "*"},
                                       stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        RUNNING.add(process)
        return process

    def said(self, name):
        with open(self.logs[name], encoding="utf-8", errors="replace") as log:
            return log.read()


def check_file(compose):
    """What an engine would do with the file, as far as that does not show when it runs."""
    services, ours = compose.services, ("coffer", "provider")
    check("coffer and the provider are of coffer's image", all(
        services[name]["image"] == "${COFFER_IMAGE:-coffer}" for name in ours))
    check("which packaging/Dockerfile names so", "docker build -f packaging/Dockerfile -t coffer .\n"
          in read("packaging", "Dockerfile") and "-t coffer .\n" in read("examples", "README.md"))
    image = dict(re.findall(r"(COFFER_\w+)=(\S+)", read("packaging", "Dockerfile")))
    check("the image listens where the file publishes it",
          image["COFFER_LISTEN_HTTP"] == f"0.0.0.0:{compose.inside('coffer')}", image)
    check("every port is published on loopback only", all(
        row.startswith("127.0.0.1:") for service in services.values() for row in service["ports"]))
    check("the shop has the user of the image, who can read the keys",
          f"USER {services['shop']['user']}\n" in read("packaging", "Dockerfile"))
    check("the volume of the ledger is the one of the image", "VOLUME /var/lib/coffer" in read("packaging", "Dockerfile")
          and "/var/lib/coffer" in compose.mounts("coffer"))
    missing = [path for name in services for path in compose.mounts(name).values() if not os.path.isdir(path)]
    check("every mounted folder exists", not missing, missing)
    for name in ours:
        command = services[name]["command"].split()[0]
        listed = subprocess.run([binary(), "--help"], capture_output=True, text=True, check=True).stdout
        check(f"{command} is a command of coffer", re.search(rf"(?m)^  {command}\b", listed))


class Shop:
    """The page of a running shop."""

    def __init__(self, compose, process):
        self.url, self.process = f"http://127.0.0.1:{compose.ports['shop']}", process
        wait_for("the shop listens", lambda: self.is_up(compose), WITHIN_S)

    def is_up(self, compose):
        if self.process.poll() is not None:
            sys.exit("the shop has ended: " + compose.said("shop"))
        return "The shop is at" in compose.said("shop")

    def page(self):
        return fetch(self.url).text

    def post(self, path, body=b"", headers=None):
        return fetch(self.url + path, "POST", body, headers).status

    def order(self, item):
        before = set(self.orders())
        check("an order is accepted", self.post("/orders", urllib.parse.urlencode({"item": item}).encode()) in (200, 303))
        return (set(self.orders()) - before).pop()

    def orders(self):
        """Number -> (collected, supplier)."""
        rows = re.findall(r"<tr id='(\w+)'><td>\w+<td>[^<]*<td>[^<]*<td>([^<]*)<td>([^<]*)<td>", self.page())
        return {number: (collected, supplier) for number, collected, supplier in rows}

    def stop(self):
        self.process.terminate()
        self.process.wait(10)
        RUNNING.discard(self.process)


def serve_order(shop, tenant, item, connector):
    number = shop.order(item)
    check("the customer has not paid", shop.orders()[number] == ("waiting", "-"), shop.orders())
    check("no supplier is paid before the customer", tenant.status_of(f"supplier-{number}") is None)
    check("the customer pays", shop.post(f"/orders/{number}/pay") in (200, 303))
    wait_for("both payments succeed on the page", lambda: shop.orders()[number] == ("succeeded", "succeeded"), WITHIN_S)
    rows = tenant.ask("GET", f"/v1/transactions?transactionId=supplier-{number}")["data"]
    check("the supplier is paid once", len(rows) == 1 and rows[0]["sendingAmount"] == "20.00", rows)
    names = {each["id"]: each["name"] for each in tenant.ask("GET", "/v1/connectors?limit=100")["data"]}
    check(f"through {connector or 'any connector'}", connector in (None, names[rows[0]["connectorId"]]), names)
    return number


def check_webhooks(shop, tenant, number):
    page = shop.page()
    check("the page shows the webhooks", page.count("<td>payment.succeeded<td>") == 2, page)
    check("and refused none", "Refused: 0" in page)
    hook = tenant.ask("GET", "/v1/webhooks?status=active")["data"][0]["id"]
    deliveries = tenant.ask("GET", f"/v1/webhooks/{hook}/deliveries?limit=100")["data"]
    check("every delivery succeeded", all(row["status"] == "delivered" for row in deliveries), deliveries)
    for row in deliveries:
        tenant.ask("POST", f"/v1/webhooks/{hook}/deliveries/{row['id']}/resend")
    wait_for("each is delivered again", lambda: all(
        len(tenant.ask("GET", f"/v1/webhooks/{hook}/deliveries/{row['id']}")["log"]) >= 2 for row in deliveries), WITHIN_S)
    rows = tenant.ask("GET", f"/v1/transactions?transactionId=supplier-{number}")["data"]
    check("a repeated webhook pays nothing", len(rows) == 1 and tenant.ask(
        "GET", "/v1/transactions?type=offramp&limit=100")["data"] == rows, rows)
    check("and is shown once", shop.page().count("<td>payment.succeeded<td>") == 2)


def check_forged(shop, tenant, number):
    """A delivery that coffer did not sign must change nothing, however similar it is."""
    event = tenant.ask("GET", "/v1/events?limit=1&type=payment.succeeded")["data"][0]
    body = json.dumps({**event, "id": "0190a5a0-0000-7000-8000-000000000001"}).encode()
    stamp, key = str(int(time.time())), base64.b64decode("QUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUE=")
    mac = hmac.new(key, f"{event['id']}.{stamp}.".encode() + body, hashlib.sha256).digest()
    signed = {"webhook-id": event["id"], "webhook-timestamp": stamp,
              "webhook-signature": "v1," + base64.b64encode(mac).decode()}
    check("a delivery with the signature of another secret is refused", shop.post("/hooks", body, signed) == 400)
    check("and one without a signature", shop.post("/hooks", body) == 400)
    page = shop.page()
    check("the page counts them", "Refused: 2" in page and "0190a5a0-0000" not in page, page)
    check("an order that does not exist is not paid", shop.post("/orders/none/pay") == 404)
    check("an item is text", "&lt;b&gt;Lamp" in page and "<b>Lamp" not in page and number in page)


class Served(Demo):
    """The demo as the service `coffer` starts it."""

    def __init__(self, compose):
        env = compose.environment("coffer", {})
        super().__init__(binary(), compose.folder, db=os.path.basename(env["COFFER_DB"]), port=compose.ports["coffer"])
        self.compose = compose

    def words(self):
        return [*self.compose.words("coffer"), "--json"]


def provider_command():
    """The command of the README that registers the simulator, as words without the engine's."""
    text = re.search(r"exec coffer (coffer connector add (?:.*\\\n)*.*)\n", read("examples", "README.md"))[1]
    return shlex.split(text.replace("\\\n", ""))[1:]


def on_this_machine(compose, tenant):
    """The command of the README for a demo on this machine."""
    path, *words = re.search(r"(?m)^(PYTHONPATH=\S+) (python3 .*)$", read("examples", "README.md"))[0].split()
    env = dict([path.split("=")], ENV_FILE=os.path.join(compose.folder, "demo.env"), SHOP_PORT=str(compose.ports["shop"]))
    shop = Shop(compose, compose.start("shop", words, env, folder=ROOT))
    serve_order(shop, tenant, "Chair", None)
    shop.stop()


def main():
    with tempfile.TemporaryDirectory() as folder:
        compose = Compose(folder)
        check_file(compose)
        demo = Served(compose)
        env = compose.environment("coffer", {})
        demo.start(env={**env, "COFFER_LISTEN_HTTP": f"127.0.0.1:{compose.ports['coffer']}"})
        tenant = Tenant.of_demo(demo)

        def shop(**given):
            own = {**compose.environment("shop", given), "SHOP_PORT": str(compose.ports["shop"])}
            return Shop(compose, compose.start("shop", compose.words("shop"), own))

        first = shop()
        number = serve_order(first, tenant, "<b>Lamp</b>", "Kenya mobile money payout")
        check_webhooks(first, tenant, number)
        check_forged(first, tenant, number)
        first.stop()

        words = [compose.here("coffer", word) for word in provider_command()]
        secret = demo.command(*words)["secret"]
        provider = compose.environment("provider", {"COFFER_PROVIDER_SECRET": secret})
        simulator = compose.start("provider", [binary(), *compose.words("provider")], provider)
        wait_for("the provider listens", lambda: "listens at" in compose.said("provider"), WITHIN_S)
        second = shop(PAYOUT_CONNECTOR="Simulator")
        serve_order(second, tenant, "Table", "Simulator")
        payouts = fetch(f"http://127.0.0.1:{compose.ports['provider']}/control/payouts").json()["data"]
        check("the simulator has paid once", len(payouts) == 1, payouts)
        second.stop()
        on_this_machine(compose, tenant)
        simulator.terminate()
        simulator.wait(10)
        RUNNING.discard(simulator)
        check("the demo ends", demo.stop(30.0) == 0)
        faults = audit(demo.db)
        check("the audit finds no fault", not faults, faults)


main()
