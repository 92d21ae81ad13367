"""The server that lanes.py attacks: a well-behaved tenant in production, a neighbour in the sandbox, and files with
many payments and beneficiaries of the neighbour."""

import json
import os
import shutil
import subprocess

from harness.load import wrk
from harness.server import Demo
from harness.tenant import Tenant

HERE = os.path.dirname(os.path.abspath(__file__))
BULK = 500
# Numbers of rows in the large file.
LARGE = {"COFFER_QUOTA_SANDBOX": "beneficiaries=unlimited,file_bytes=unlimited"}


class World:
    """A running gateway with the well-behaved tenant and the neighbour."""

    def __init__(self, binary, folder, settings=None, options="", stored=None):
        if stored:
            shutil.copytree(stored, folder, dirs_exist_ok=True)
        self.folder = folder
        os.makedirs(folder, exist_ok=True)
        settings = {"COFFER_LOG_LEVEL": "warning", **(LARGE if stored else {}), **(settings or {})}
        self.gateway = Demo(binary, folder, options=options.split()).start(env=settings, ready_within_s=120.0)
        self.folder, self.pid, self.host_and_port = folder, self.gateway.server_pid(), None
        self.neighbour = Tenant.of_demo(self.gateway)
        self.neighbour.login()
        self.good = Tenant.create(self.gateway, "good", "production")

    @property
    def address(self):
        """The address that all clients connect to."""
        return self.host_and_port or (self.gateway.host, self.gateway.port)

    def file_mib(self):
        return sum(os.path.getsize(self.gateway.db + end) for end in ("", "-wal")
                   if os.path.exists(self.gateway.db + end)) / 2**20

    def end(self):
        """Whether the server stopped cleanly. Kills it if it does not stop in time."""
        try:
            return self.gateway.stop(30.0) == 0
        except subprocess.TimeoutExpired:
            self.gateway.kill()
            return False


# --- Files with many rows --------------------------------------------------------------------------------


def pay(gateway, caller, seconds, rate, run, connections=64):
    """Sends payments with wrk for `seconds`. Returns (accepted, errors)."""
    headers = caller.connect().headers
    result = wrk(os.path.join(HERE, "steady.lua"), gateway.facts["baseUrl"], seconds, connections, headers["x-svc-auth"],
                 headers["Authorization"].removeprefix("Bearer "), *caller.wallets[:2], run, rate, timeout_s=30)
    return int(result[3]), int(result[4])


def beneficiary(number):
    """The number-th beneficiary of a fixed list in which all texts differ."""
    return {"individual": {"firstName": f"Given{number:07}", "lastName": f"Family{number * 7919 % 10**7:07}",
                           "email": f"person.{number}@example.org"}, "clientReference": f"CR-{number:09}",
            "tags": [f"group-{number % 50}"]}


def make_stored(binary, folder, payments, beneficiaries):
    """A folder with a file of this many rows, created through the API. It is complete if it has a facts.json."""
    os.makedirs(folder, exist_ok=True)
    if os.path.exists(os.path.join(folder, "facts.json")):
        return folder
    gateway = Demo(binary, folder).start(env={"COFFER_LOG_LEVEL": "warning", **LARGE})
    caller = Tenant.of_demo(gateway)
    for first in range(0, beneficiaries, BULK):
        rows = [beneficiary(number) for number in range(first, min(first + BULK, beneficiaries))]
        answer = caller.ask("POST", "/v1/beneficiaries/bulk", {"beneficiaries": rows})
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
