"""Quotes, payouts on them, and challenge logins. No goals."""

import os
import subprocess
import time

import ceilings
from machine import FOLDER, PAY, say, wrk

LOGINS = 16


def cash_out(bench, server, words, mode):
    """Quotes and payouts a second, and milliseconds at 50 and 99 %."""
    words_of_result = wrk(server.url(""), bench.seconds, bench.connections, "offramp.lua", *server.caller[:3],
               server.facts["connectors"][0]["id"], server.facts["beneficiaries"][0]["id"], *words, mode, mode)
    quotes, payments, p50, p99, errors = map(float, words_of_result)
    bench.errors += int(errors)
    return quotes, payments, p50, p99


def run(bench, table):
    say(f"quotes, payouts and logins, {bench.seconds} s each")
    http = ceilings.http_library(bench, PAY, 1)
    with bench.server("providers") as server:
        _, enums = server.login().call("GET", "/v1/payments/enums")
        words = [enums[name][0]["code"] for name in ("purposeOfPayment", "sourceOfFunds", "relationship")]
        quotes, _, _, p99 = cash_out(bench, server, words, "quote")
        table.add("quotes", quotes, "/s")
        table.add("their p99", p99, "ms")
        table.add("of the HTTP library alone", quotes / http.rate, "")
        began = time.monotonic()
        _, payments, _, p99 = cash_out(bench, server, words, "cash")
        server.wait_until_settled()
        table.add("quote, cash-out, settled (each)", payments * bench.seconds / (time.monotonic() - began), "/s")
        table.add("their p99", p99, "ms")
        table.add("complete challenge logins, from one node process", logins(bench, server), "/s")


def logins(bench, server):
    facts = server.facts
    done = subprocess.run(["node", os.path.join(FOLDER, "login.mjs"), facts["baseUrl"], facts["publicKey"],
                           facts["secretSeed"], str(bench.seconds), str(LOGINS)], capture_output=True, text=True,
                          check=True)
    rate, errors = done.stdout.removeprefix("RESULT ").split()
    bench.errors += int(errors)
    return float(rate)
