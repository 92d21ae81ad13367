"""The served file that lanes.py attacks: a good tenant in production, a neighbour in the sandbox, and files
with many payments and beneficiaries of the neighbour."""

import json
import os
import shutil
import subprocess

from gateway import OWN, Connection, Gateway

HERE = os.path.dirname(os.path.abspath(__file__))
BULK = 500
# Of a file with many rows.
LARGE = {"COFFER_QUOTA_SANDBOX": "beneficiaries=unlimited,file_bytes=unlimited"}


class Caller:
    """One application: its keys, its wallets, and the headers of its requests."""

    def __init__(self, gateway, keys, wallets=()):
        self.host, self.port, self.keys, self.wallets = gateway.host, gateway.port, keys, list(wallets)
        self.headers = {"Content-Type": "application/json"}
        status, token = self.connect().call("POST", "/v1/auth/token", {
            "clientId": keys["clientId"], "clientSecret": keys["clientSecret"]})
        if status != 200:
            raise ConnectionError(f"token: {status} {token}")
        self.headers["x-svc-auth"] = keys["apiKey"]
        self.headers["Authorization"] = "Bearer " + token["accessToken"]

    def connect(self, timeout_s=10.0):
        connection = Connection(self.host, self.port, timeout_s)
        connection.headers = dict(self.headers)
        return connection

    def call(self, method, path, body=None):
        return self.connect(30.0).call(method, path, body)

    def need(self, wanted, method, path, body=None):
        """The body of the response; any other status ends the run."""
        status, answer = self.call(method, path, body)
        if status != wanted:
            raise RuntimeError(f"{method} {path}: {status} {answer}")
        return answer

    def payment(self, transaction_id):
        return "/v1/payments/" + OWN, {
            "transactionId": transaction_id, "sourceWalletId": self.wallets[0],
            "destinationWalletId": self.wallets[1], "sendingAssetCode": "USDC", "amount": "0.25"}


class World:
    """A gateway that is served, the good tenant and the neighbour in it."""

    def __init__(self, binary, folder, settings=None, options="", stored=None):
        if stored:
            shutil.copytree(stored, folder, dirs_exist_ok=True)
        self.folder = folder
        os.makedirs(folder, exist_ok=True)
        wrapped = os.path.join(folder, "coffer")
        # The gateway of the other tests knows no options; a script of ours in its place does.
        with open(wrapped, "w", encoding="ascii") as file:
            file.write(f'#!/bin/sh\nif [ "$1" = demo ]; then exec "{binary}" "$@" {options}; fi\n'
                       f'exec "{binary}" "$@"\n')
        os.chmod(wrapped, 0o755)
        settings = {"COFFER_LOG_LEVEL": "warning", **(LARGE if stored else {}), **(settings or {})}
        self.gateway = Gateway(wrapped, folder).start(env=settings, ready_within_s=120.0)
        self.gateway.host = self.gateway.host.removeprefix("https://")
        self.folder, self.pid, self.host_and_port = folder, self.gateway.server_pid(), None
        self.neighbour = Caller(self.gateway, self.gateway.facts,
                                [self.gateway.wallet("Treasury"), self.gateway.wallet("Operations")])
        self.good = self.register("good", "production")
        for number in range(2):
            wallet = self.good.need(201, "POST", "/v1/wallets", {
                "walletName": f"Good {number}", "assetCode": "USDC", "ownAccount": True})["id"]
            # The same reason and id for each would be a replay.
            self.gateway.command("wallet", "fund", wallet, "--asset", "USDC", "--amount", "1000000",
                                 "--transaction-id", "fund-" + wallet, "--reason", "a test of lanes")
            self.good.wallets.append(wallet)

    def register(self, name, environment):
        association = self.gateway.command("association", "create", name)["id"]
        keys = self.gateway.command("application", "register", "--name", name, "--association", association,
                                    "--environment", environment)
        return Caller(self.gateway, {**keys, "associationId": association})

    @property
    def address(self):
        """Where everybody connects to."""
        return self.host_and_port or (self.gateway.host, self.gateway.port)

    def file_mib(self):
        return sum(os.path.getsize(self.gateway.db + end) for end in ("", "-wal")
                   if os.path.exists(self.gateway.db + end)) / 2**20

    def end(self):
        """True for a clean stop; a server that does not end is killed."""
        try:
            return self.gateway.stop(30.0) == 0
        except subprocess.TimeoutExpired:
            self.gateway.kill()
            return False


# --- Files with many rows --------------------------------------------------------------------------------


def pay(gateway, caller, seconds, rate, run, connections=64):
    """Payments by wrk for so many seconds: (accepted, errors)."""
    headers = caller.headers
    done = subprocess.run(
        ["wrk", "-t1", f"-c{connections}", f"-d{seconds}s", "--timeout", "30s", "-s",
         os.path.join(HERE, "steady.lua"), gateway.facts["baseUrl"], "--", headers["x-svc-auth"],
         headers["Authorization"].removeprefix("Bearer "), *caller.wallets[:2], run, str(rate)],
        capture_output=True, text=True, check=True)
    line = next(line for line in done.stdout.splitlines() if line.startswith("RESULT "))
    return int(line.split()[4]), int(line.split()[5])


def beneficiary(number):
    """The number-th of a fixed list, in which all texts differ."""
    return {"individual": {"firstName": f"Given{number:07}", "lastName": f"Family{number * 7919 % 10**7:07}",
                           "email": f"person.{number}@example.org"}, "clientReference": f"CR-{number:09}",
            "tags": [f"group-{number % 50}"]}


def make_stored(binary, folder, payments, beneficiaries):
    """A folder with a file of so many rows, made through the API. facts.json beside it says that it is complete."""
    os.makedirs(folder, exist_ok=True)
    if os.path.exists(os.path.join(folder, "facts.json")):
        return folder
    gateway = Gateway(binary, folder).start(env={"COFFER_LOG_LEVEL": "warning", **LARGE})
    caller = Caller(gateway, gateway.facts, [gateway.wallet("Treasury"), gateway.wallet("Operations")])
    for first in range(0, beneficiaries, BULK):
        rows = [beneficiary(number) for number in range(first, min(first + BULK, beneficiaries))]
        answer = caller.need(200, "POST", "/v1/beneficiaries/bulk", {"beneficiaries": rows})
        if answer["failed"]:
            raise RuntimeError(f"bulk: {answer['failed']} rows failed: {answer['results'][0]}")
    there, turn = 0, 0
    while there < payments:
        turn += 1
        there += pay(gateway, caller, 2 if payments < 100_000 else 10, 1_000_000, f"stored-{turn}")[0]
    gateway.stop(120.0)
    with open(os.path.join(folder, "facts.json"), "w", encoding="ascii") as file:
        json.dump({"payments": there, "beneficiaries": beneficiaries}, file)
    return folder
