"""The load from which the compiler learns which code is hot (cmake/Profile.cmake). ./dev release and ./dev bench
run it.

Argument: a binary that writes its counts when it exits."""

import sys
import tempfile

from machine import Server, say

# (seconds, connections, legs of a payment)
PAYMENTS = ((6, 64, 1), (3, 16, 1), (2, 1, 1), (3, 16, 100))
# (seconds, path, in which {} is a wallet)
READS = ((4, "/v1/wallets/{}"), (1, "/v1/wallets"), (1, "/v1/transactions?limit=20"),
         (1, "/v1/statements/transactions?walletId={}&assetCode=USDC&startDate=2020-01-01&endDate=2020-12-31"))


def main():
    with tempfile.TemporaryDirectory() as folder:
        server = Server(sys.argv[1], folder, "profile.db").start()
        server.rest()
        for seconds, connections, legs in PAYMENTS:
            load, settled = server.settled_load(seconds, connections, legs)
            say(f"{settled:.0f} payments of {legs} legs a second, {connections} connections, {load.errors} errors")
        for seconds, path in READS:
            load = server.load(seconds, 64, legs=0, path=path.format(server.facts["wallets"][0]["id"]))
            say(f"GET {path}: {load.rate:.0f} a second, {load.errors} errors")
        server.stop(timeout_s=60)


main()
