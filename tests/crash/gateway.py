"""Runs the real binary (`coffer demo`) and talks to it over HTTP, for the crash tests."""

import atexit
import http.client
import json
import os
import signal
import subprocess
import sys
import threading
import time
from decimal import Decimal

OWN, MULTI, SWAP = "p2p/own", "p2p/own/multi", "swap/own"


# A test that ends in the middle leaves no server behind.
RUNNING = set()


@atexit.register
def kill_what_is_left():
    for process in RUNNING:
        if process.poll() is None:
            process.kill()
            process.wait()


def run_command(binary, db, *words):
    """`coffer WORDS` on a file, served or not, as a finished process; its answer is JSON."""
    return subprocess.run([binary, *words, "--db", db, "--json"], capture_output=True, text=True, check=False)


def command(binary, db, *words):
    """What `coffer WORDS` answers; ends the test when it is refused."""
    done = run_command(binary, db, *words)
    if done.returncode:
        sys.exit(f"coffer {' '.join(words)}: {done.stderr}")
    return json.loads(done.stdout)


class Gateway:
    """One coffer file and the process that serves it, as often as it has to be started again."""

    def __init__(self, binary, folder, db="ledger.db", port=0):
        """`port`: for who has to be found again at the same place (held_port); 0: another at each start."""
        self.binary = binary
        self.db = os.path.join(folder, db)
        self.log = os.path.join(folder, "server.log")
        self.process = None
        self.facts = None
        self.ready_s = None
        self.listen = str(port)

    def start(self, wrapper=(), env=None, ready_within_s=30.0):
        """Returns when the port answers; raises when it does not in time. Seconds in `ready_s`."""
        command = [*wrapper, self.binary, "demo", "--db", self.db, "--port", self.listen, "--json"]
        began = time.monotonic()
        with open(self.log, "ab") as log:
            self.process = subprocess.Popen(
                command, stdout=subprocess.PIPE, stderr=log, env={**os.environ, **(env or {})})
        RUNNING.add(self.process)
        # When the process hangs, reading its first line must not.
        watchdog = threading.Timer(ready_within_s, self.process.kill)
        watchdog.start()
        line = self.process.stdout.readline()
        watchdog.cancel()
        if not line:
            raise RuntimeError(f"the server ended with {self.process.wait()} before it was ready")
        self.facts = json.loads(line)
        self.host, port = self.facts["baseUrl"].removeprefix("http://").rsplit(":", 1)
        self.port = int(port)
        status, _ = self.connect().call("GET", "/healthz")
        if status != 200:
            raise RuntimeError(f"/healthz answers {status}")
        self.ready_s = time.monotonic() - began
        return self

    def start_and_kill(self, after_s, env=None):
        """Kills a process that is just coming up, ready or not. True: it had not said so yet."""
        command = [self.binary, "demo", "--db", self.db, "--port", self.listen, "--json"]
        with open(self.log, "ab") as log:
            process = subprocess.Popen(
                command, stdout=subprocess.PIPE, stderr=log, env={**os.environ, **(env or {})})
        time.sleep(after_s)
        process.kill()
        said, _ = process.communicate()
        return not said

    def kill(self):
        self.process.kill()
        return self.wait()

    def wait(self, timeout_s=10.0):
        """The exit code; negative: the signal that ended it."""
        code = self.process.wait(timeout_s)
        RUNNING.discard(self.process)
        self.process.stdout.close()
        return code

    def stop(self, timeout_s=10.0):
        os.kill(self.server_pid(), signal.SIGTERM)
        return self.wait(timeout_s)

    def server_pid(self):
        """The server's own, not that of a wrapper around it."""
        with open(self.db + ".lock", encoding="ascii") as lock:
            return int(lock.readline())

    def command(self, *words):
        return command(self.binary, self.db, *words)

    def connect(self):
        return Connection(self.host, self.port)

    def login(self):
        """A connection that is allowed to pay."""
        connection = self.connect()
        status, token = connection.call(
            "POST", "/v1/auth/token",
            {"clientId": self.facts["clientId"], "clientSecret": self.facts["clientSecret"]})
        if status != 200:
            raise ConnectionError(f"token: {status}")
        connection.headers["x-svc-auth"] = self.facts["apiKey"]
        connection.headers["Authorization"] = "Bearer " + token["accessToken"]
        return connection

    def wallet(self, name):
        return next(wallet["id"] for wallet in self.facts["wallets"] if wallet["name"] == name)


class Connection:
    """One keep-alive connection. Any trouble on the way is a ConnectionError: nobody knows."""

    def __init__(self, host, port, timeout_s=10.0):
        self.http = http.client.HTTPConnection(host, port, timeout=timeout_s)
        self.headers = {"Content-Type": "application/json"}

    def call(self, method, path, body=None):
        try:
            text = None if body is None else json.dumps(body)
            self.http.request(method, path, text, self.headers)
            response = self.http.getresponse()
            content = response.read()
            self.answered = response.headers  # of the last answer
            return response.status, json.loads(content) if content else None
        except (OSError, http.client.HTTPException, ValueError) as error:
            self.http.close()
            raise ConnectionError(str(error)) from error

    def list_transactions(self, query):
        """All pages of GET /v1/transactions."""
        out, cursor = [], None
        while True:
            page = f"&cursor={cursor}" if cursor else ""
            status, answer = self.call("GET", f"/v1/transactions?limit=100&{query}{page}")
            if status != 200:
                raise ConnectionError(f"list: {status} {answer}")
            out += answer["data"]
            if not answer["hasMore"]:
                return out
            cursor = answer["nextCursor"]


def payment(gateway, transaction_id, number):
    """The number-th payment of a fixed mix: (route, body). Always the same for the same number."""
    first, second = gateway.wallet("Treasury"), gateway.wallet("Operations")
    if number % 2:
        first, second = second, first
    amount = f"{number % 97 + 1}.{number % 1000:03}"
    single = {"sourceWalletId": first, "destinationWalletId": second, "sendingAssetCode": "USDC",
              "amount": amount}
    if number % 7 == 3:
        # There and back: the second leg spends what the first brings.
        back = {**single, "sourceWalletId": second, "destinationWalletId": first, "toRef": "back"}
        return MULTI, {"transactionId": transaction_id, "transfers": [single, back, single]}
    if number % 7 == 5:
        return SWAP, {**single, "transactionId": transaction_id, "receivingAssetCode": "EURC",
                      "destinationWalletId": gateway.wallet("Euro reserve")}
    return OWN, {**single, "transactionId": transaction_id, "fromRef": f"N-{number}"}


def group(gateway, transaction_id, number):
    """The number-th multi-transfer, of 2 to 16 legs to and fro: a later leg spends what an earlier one
    brings, so a group that is applied in part cannot add up."""
    pair = [gateway.wallet("Treasury"), gateway.wallet("Operations")]
    legs = [{"sourceWalletId": pair[leg % 2], "destinationWalletId": pair[1 - leg % 2],
             "sendingAssetCode": "USDC", "amount": f"{number % 89 + 2 + leg}.{leg:03}"}
            for leg in range(number, number + 2 + number % 15)]
    return MULTI, {"transactionId": transaction_id, "transfers": legs}


def value_in(gateway, asset="USDC"):
    """(balance, held) over all wallets that are the caller's own, in units of 10^-7."""
    connection, sums = gateway.login(), [0, 0]
    for wallet in gateway.facts["wallets"]:
        status, answer = connection.call("GET", "/v1/wallets/" + wallet["id"])
        if status != 200:
            raise ConnectionError(f"wallet: {status} {answer}")
        for balance in answer["balances"]:
            if balance["assetCode"] == asset:
                sums[0] += int(Decimal(balance["balance"]) * 10**7)
                sums[1] += int(Decimal(balance["held"]) * 10**7)
    return tuple(sums)
