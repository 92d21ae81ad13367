#!/usr/bin/env python3
"""The binary where it was not built: roots of an older and a newer release, with their own libraries,
name services and certificates.

    distributions.py BINARY [RELEASE ...]

Without COFFER_PACKAGE_ROOTS=make it is skipped where the roots are not there yet: they take minutes.
"""

import json
import os
import pathlib
import subprocess
import sys
import time

import roots

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "crash"))
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "interop"))
import gateway as crash_gateway  # noqa: E402
from checks import check  # noqa: E402

PORT = 8080


def pay(facts):
    connection = crash_gateway.Connection("127.0.0.1", PORT)
    status, token = connection.call("POST", "/v1/auth/token", {
        "clientId": facts["clientId"], "clientSecret": facts["clientSecret"]})
    assert status == 200, (status, token)
    connection.headers |= {"x-svc-auth": facts["apiKey"], "Authorization": "Bearer " + token["accessToken"]}
    own = [wallet["id"] for wallet in facts["wallets"] if wallet["name"] in ("Treasury", "Operations")]
    status, answer = connection.call("POST", "/v1/payments/p2p/own", {
        "transactionId": "first", "sendingAssetCode": "USDC", "amount": "12.50",
        "sourceWalletId": own[0], "destinationWalletId": own[1]})
    assert status == 202, (status, answer)
    for _ in range(100):
        _, page = connection.call("GET", "/v1/transactions?transactionId=first")
        if page["data"][0]["status"] == "succeeded":
            return "succeeded"
        time.sleep(0.05)
    return page["data"][0]["status"]


def try_on(release, binary, folder):
    root = roots.Root(release, folder)
    coffer = root.bring(binary)
    name = (root.path / "etc/debian_version").read_text().strip()
    done = root.run(coffer, "version", "--json")
    check(f"Debian {name}: version", done.returncode == 0, done.stderr)
    server = subprocess.Popen(["chroot", root.path, coffer, "demo", "--json", "--port", str(PORT), "--db",
                               "/root/demo.db"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        facts = json.loads(server.stdout.readline())
        check(f"Debian {name}: a payment settles", pay(facts) == "succeeded")
        done = root.run(coffer, "verify", "--db", "/root/demo.db")
        check(f"Debian {name}: the file proves", done.returncode == 0, done.stderr)
    finally:
        server.terminate()
        server.communicate(timeout=30)
    check(f"Debian {name}: ends well", server.returncode == 0, server.returncode)


def main(binary, *releases):
    releases = releases or ("bullseye", "trixie")
    if os.environ.get("COFFER_PACKAGE_ROOTS") != "make" and not all(map(roots.kept, releases)):
        roots.skip("the roots are not there; COFFER_PACKAGE_ROOTS=make makes them")
    roots.alone(*releases)
    for release in releases:
        with roots.memory() as folder:
            try_on(release, binary, folder)


main(*sys.argv[1:])
