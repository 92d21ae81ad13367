"""Payout providers: the shipped simulator as a separate process, and the connector and beneficiary for a payout."""

import os
import subprocess
import sys

from harness.calls import fetch
from harness.machine import held_port
from harness.server import RUNNING

RATE = "129.5"
# The simulator option for this rate.
RATES = f"USDC:KES={RATE}"


def add_connector(server, name, url, *words):
    """Registers a provider at `url` for mobile money in Kenya, and returns its id and secret."""
    made = server.command("connector", "add", name, "--driver", "http", "--method", "MOMO", "--country", "KE",
                          "--currency", "KES", "--asset", "USDC", "--min", "1", "--max", "1000",
                          "--base-url", url, *words)
    return made["id"], made["secret"]


def beneficiary(connection, ending):
    """Adds a mobile money beneficiary in Kenya, and returns its id. The last four digits of the number determine
    the simulator's result."""
    status, answer = connection.call("POST", "/v1/beneficiaries", {
        "individual": {"firstName": "Amina", "lastName": "Otieno"},
        "paymentDestinations": [{
            "method": "MOBILE_MONEY", "countryIsoCode2": "KE", "currencyIsoCode3": "KES",
            "mobileMoney": {"provider": "M-PESA", "phoneNumber": "+25471234" + ending}}]})
    if status != 201:
        sys.exit(f"beneficiary: {status} {answer}")
    return answer["id"]


def purpose(connection):
    """The members of a payout that describe its purpose."""
    enums = connection.call("GET", "/v1/payments/enums")[1]
    return {name: enums[name][0]["code"] for name in ("purposeOfPayment", "sourceOfFunds", "relationship")}


class Simulator:
    """`coffer provider-sim`, always on the same port, also after a restart. `words`: its options."""

    def __init__(self, binary, log=os.devnull):
        self.binary, self.log, self.port = binary, log, held_port()
        self.url, self.process = f"http://127.0.0.1:{self.port}", None

    def configure(self, secret, *words):
        self.command = [self.binary, "provider-sim", "--listen", f"127.0.0.1:{self.port}", "--secret", secret,
                        "--json", *words]
        return self

    def start(self):
        with open(self.log, "ab") as log:
            self.process = subprocess.Popen(self.command, stdout=subprocess.PIPE, stderr=log)
        RUNNING.add(self.process)
        if not self.process.stdout.readline():
            raise RuntimeError(f"the provider exited with {self.process.wait()}")
        return self

    def kill(self):
        self.process.kill()
        return self.wait()

    def stop(self):
        self.process.terminate()
        return self.wait()

    def wait(self):
        code = self.process.wait(30)
        RUNNING.discard(self.process)
        self.process.stdout.close()
        return code

    def control(self, method, path, body=None):
        """Calls the simulator's control routes, which are not part of the provider protocol."""
        return fetch(self.url + "/control" + path, method, body).json()

    def payouts(self):
        return self.control("GET", "/payouts")["data"]
