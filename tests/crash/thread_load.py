#!/usr/bin/env -S PYTHONPATH=tests python3 -B
"""Mixed load on a binary that was built with the thread sanitizer, with occasional restarts. The sanitizer must not
report anything.

  thread_load.py BINARY       COFFER_LOAD_SECONDS (60): length

Control: a program with a race, built and run the same way, is reported.
"""

import os
import subprocess
import sys
import tempfile
import time

from harness.auditor import audit
from harness.clients import Clients, Crowd, wait_until_settled
from harness.machine import held_port
from harness.provider import beneficiary, purpose
from harness.receiver import Receiver
from harness.report import fail
from harness.server import Demo, run_command
from provider_chaos import SETTLED_WITHIN_S, chaotic_provider

RESTARTS = 4
FORMATS = ("", "/csv", "/camt.053")
BUSY = 75
REPORTED = 66  # exit code of a process with a report
RACE = """
#include <thread>
int shared = 0;
int main() {
  std::thread other([] { for (int i = 0; i < 100000; ++i) shared = shared + 1; });
  for (int i = 0; i < 100000; ++i) shared = shared + 1;
  other.join();
}
"""


def sanitizer(folder, name):
    return {"TSAN_OPTIONS": f"log_path={folder}/{name} exitcode={REPORTED} second_deadlock_stack=1 "
                            "halt_on_error=0"}


def reports(folder, name):
    out = []
    for entry in sorted(os.listdir(folder)):
        if entry.startswith(name + "."):
            with open(os.path.join(folder, entry), encoding="utf-8", errors="replace") as report:
                out.append(report.read())
    return out


def control(folder):
    """The same options must report a race."""
    program = os.path.join(folder, "race")
    subprocess.run([os.environ.get("CXX", "c++"), "-O0", "-g1", "-fsanitize=thread", "-x", "c++", "-", "-o", program,
                    "-pthread"], input=RACE, text=True, check=True)
    code = subprocess.run([program], env={**os.environ, **sanitizer(folder, "control")}, check=False).returncode
    if code != REPORTED or not any("data race" in report for report in reports(folder, "control")):
        fail(f"the control, a program with a race, exited with {code} and no report")


class Visitors(Crowd):
    """Threads that do everything except payments: each repeatedly takes the next job of a list, and waits while the
    server is down. Only responses that no client should get are faults."""

    def __init__(self, gateway, jobs, count):
        super().__init__(count)
        self.gateway, self.jobs = gateway, jobs
        self.done, self.faults = {}, []

    def work(self, number):
        turn = number
        while not self.stopping.is_set():
            turn += 1
            name, job = self.jobs[turn % len(self.jobs)]
            try:
                status, answer = job(self.gateway.login(), turn * 100 + number)
            except (ConnectionError, OSError, KeyError, TypeError, AttributeError, IndexError):
                time.sleep(0.05)
                continue
            with self.lock:
                self.done[name] = self.done.get(name, 0) + 1
                # 409 and 422: two visitors conflict; 502 to 504: simulated faults of the provider.
                if status not in (200, 201, 202, 204, 409, 422, 429, 502, 503, 504):
                    self.faults.append((name, status, answer))


def text(connection, path):
    """Requests whose responses are not JSON."""
    connection.http.request("GET", path, headers=connection.headers)
    response = connection.http.getresponse()
    while response.read(65536):
        pass
    return response.status, None


def jobs_of(gateway, connectors, recipient, url):
    words = purpose(gateway.login())
    treasury = gateway.wallet("Treasury")

    def cash_out(connection, number):
        status, quote = connection.call("POST", "/v1/quotes", {
            "amount": f"{number % 40 + 1}.5", "connectorId": connectors[number % len(connectors)],
            "beneficiaryId": recipient})
        if status != 201:
            return status, quote
        return connection.call("POST", "/v1/payments/offramp", {
            "transactionId": f"visit-{number}-{time.monotonic_ns()}", "quoteId": quote["quoteId"],
            "sourceWalletId": treasury, "beneficiaryId": recipient, **words})

    def look_at_webhooks(connection, number):
        hooks = connection.call("GET", "/v1/webhooks")[1]["data"]
        active = [hook for hook in hooks if hook.get("status", "ACTIVE").upper() == "ACTIVE"]
        if not active:
            return connection.call("POST", "/v1/webhooks", {"url": url, "eventTypes": ["*"]})
        return connection.call("GET", f"/v1/webhooks/{active[number % len(active)]['id']}/deliveries?limit=20")

    def by_path(method, path, body=None):
        return lambda connection, number: connection.call(method, path, body)

    def look_at_wallets(_, number):
        run_command(gateway.binary, gateway.db, "wallet", "list")  # any result is valid while the server is down
        return 200, None

    return [
        ("cash-out", cash_out), ("list", by_path("GET", "/v1/transactions?limit=50")),
        ("statement", lambda connection, number: text(
            connection, f"/v1/statements/transactions{FORMATS[number % len(FORMATS)]}?walletId={treasury}"
                        "&assetCode=USDC&startDate=2020-01-01&endDate=2099-01-01")),
        ("cash-out", cash_out), ("health", by_path("GET", "/healthz")),
        ("wallets", by_path("GET", "/v1/wallets")), ("events", by_path("GET", "/v1/events?limit=50")),
        ("webhooks", look_at_webhooks), ("cash-out", cash_out), ("connectors", by_path("GET", "/v1/connectors")),
        ("document", lambda connection, _: text(connection, "/v1/openapi.json")),
        ("wallet", lambda connection, number: connection.call("POST", "/v1/wallets", {
            "walletName": f"visit {number}", "assetCode": "USDC", "ownAccount": True})),
        ("command", look_at_wallets), ("page", lambda connection, _: text(connection, "/")),
    ]


def start_again(gateway, env):
    """Waits until no command has the file open: while the server is down, commands open it themselves."""
    late = time.monotonic() + 60.0
    while True:
        try:
            gateway.start(env=env, ready_within_s=60.0)
            return
        except RuntimeError:
            if gateway.process.returncode != BUSY or time.monotonic() > late:
                raise
        time.sleep(0.1)


def run(binary, folder, seconds):
    gateway = Demo(binary, folder, port=held_port())
    env = sanitizer(folder, "tsan")
    gateway.start(env=env, ready_within_s=60.0)
    receiver = Receiver(lambda delivery: ("ok", "slow", "error", "reset")[delivery.number % 4 if delivery.number else 0])
    connection = gateway.login()
    status, made = connection.call("POST", "/v1/webhooks", {"url": receiver.url(), "eventTypes": ["*"]})
    if status != 201:
        fail(f"webhook: {status} {made}")
    recipient = beneficiary(connection, "5678")
    provider = chaotic_provider(gateway, folder, 1).start()
    sandbox = [one["id"] for one in gateway.facts["connectors"] if one.get("direction") == "OFF_RAMP"
               and one.get("method") == "MOMO" and one.get("currency") == "KES"]
    clients = Clients(gateway, count=6).start()
    visitors = Visitors(gateway, jobs_of(gateway, [provider.connector, *sandbox], recipient, receiver.url()), 6).start()
    codes, restarts, end = [], 0, time.monotonic() + seconds
    while time.monotonic() < end:
        time.sleep(seconds / (RESTARTS + 1))
        codes.append(gateway.stop(60.0))
        start_again(gateway, env)
        restarts += 1
    visitors.stop()
    clients.stop()
    clients.replay_waiting()
    wait_until_settled(gateway, SETTLED_WITHIN_S)
    provider.kill()
    codes.append(gateway.stop(60.0))
    receiver.stop()
    faults = [f"exit code {code}" for code in codes if code != 0]
    faults += [str(surprise) for surprise in clients.surprises + visitors.faults[:5]]
    faults += audit(gateway.db, settled=True)
    if len(clients.acked) < seconds or len(visitors.done) < 8 or not receiver.snapshot():
        faults.append(f"too little load: {len(clients.acked)} payments, {visitors.done}")
    return faults, len(clients.acked), visitors.done, len(receiver.snapshot()), restarts


def main():
    binary = sys.argv[1] if len(sys.argv) == 2 else sys.exit(__doc__)
    with open(binary, "rb") as file:
        if b"__tsan_init" not in file.read():
            fail(f"{binary} is not built with the thread sanitizer. Run ./dev build tsan")
    seconds = float(os.environ.get("COFFER_LOAD_SECONDS", "60"))
    with tempfile.TemporaryDirectory() as folder:
        control(folder)
        faults, payments, done, deliveries, restarts = run(os.path.abspath(binary), folder, seconds)
        found = reports(folder, "tsan")
    for report in found:
        print(report)
    for fault in faults:
        print(f"thread_load: {fault}", file=sys.stderr)
    others = ", ".join(f"{count} {name}" for name, count in sorted(done.items()))
    print(f"count: {seconds:.0f} s, {payments} payments, {others}, {deliveries} deliveries, {restarts} restarts, "
          f"{len(found)} reports")
    print("control: a program with a race is reported")
    sys.exit(1 if faults or found else 0)


if __name__ == "__main__":
    main()
