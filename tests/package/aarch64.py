#!/usr/bin/env python3
"""A binary of another architecture at work: version, sandbox, payments, kill, proof, TLS.

    aarch64.py COFFER FOLDER

COFFER is what runs it, under an emulator. That is slow: times here are only there so that nothing hangs.
"""

import json
import os
import pathlib
import sqlite3
import ssl
import subprocess
import sys
import time
import urllib.request

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "crash"))
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "interop"))
import auditor  # noqa: E402
import gateway as crash_gateway  # noqa: E402
from checks import check  # noqa: E402

READY_S, SETTLED_S = 120.0, 60.0
PAYMENTS = 5


def run(coffer, *words):
    return subprocess.run([coffer, *words], capture_output=True, text=True, timeout=READY_S, check=False)


def pay(gateway, connection, name):
    status, answer = connection.call("POST", "/v1/payments/p2p/own", {
        "transactionId": name, "sendingAssetCode": "USDC", "amount": "12.5000001",
        "sourceWalletId": gateway.wallet("Treasury"), "destinationWalletId": gateway.wallet("Operations")})
    assert status == 202, (status, answer)
    return answer["transactionRecordId"]


def ending(connection, name):
    """The payment's status, once it has ended."""
    until = time.monotonic() + SETTLED_S
    while True:
        status, page = connection.call("GET", f"/v1/transactions?transactionId={name}")
        assert status == 200, (status, page)
        state = page["data"][0]["status"] if page["data"] else None
        if state in ("succeeded", "failed") or time.monotonic() > until:
            return state
        time.sleep(0.1)


def version(coffer):
    done = run(coffer, "version", "--json")
    return json.loads(done.stdout) if done.returncode == 0 else {"fault": done.stderr}


def commands(coffer):
    shown = version(coffer)
    check(f"says its version: {shown}", "schema" in shown)
    check("refuses a command that is none", run(coffer, "nothing").returncode == 2)


def sandbox(coffer, folder):
    gateway = crash_gateway.Gateway(coffer, folder)
    gateway.connect = lambda: crash_gateway.Connection(gateway.host, gateway.port, READY_S)
    gateway.start(ready_within_s=READY_S)
    check(f"serves a sandbox after {gateway.ready_s:.1f} s", True)
    connection = gateway.login()
    check("gives a token", True)
    status, document = connection.call("GET", "/v1/openapi.json")
    check("describes itself", status == 200 and "/v1/payments/p2p/own" in document["paths"], status)
    acked = {f"pay-{number}": pay(gateway, connection, f"pay-{number}") for number in range(PAYMENTS)}
    states = {ending(connection, name) for name in acked}
    check(f"{PAYMENTS} payments succeed", states == {"succeeded"}, states)

    days = [time.strftime("%Y-%m-%d", time.gmtime(time.time() + shift)) for shift in (-86400, 86400)]
    status, statement = connection.call(
        "GET", f"/v1/statements/transactions?walletId={gateway.wallet('Operations')}&assetCode=USDC"
               f"&startDate={days[0]}&endDate={days[1]}")
    listed = json.dumps(statement)
    check("the statement lists them all",
          status == 200 and all(record in listed for record in acked.values()), (status, statement))
    check("and has their sum to the last digit", "12.5000001" in listed, statement)

    acked["last"] = pay(gateway, connection, "last")
    gateway.kill()
    gateway.start(ready_within_s=READY_S)
    connection = gateway.login()
    states = {ending(connection, name) for name in acked}
    check("killed once a payment was accepted, started again: all succeed", states == {"succeeded"}, states)
    check("ends well when told to", gateway.stop(READY_S) == 0)
    return gateway.db


def proofs(coffer, database):
    done = run(coffer, "verify", "--db", database)
    check("proves its file", done.returncode == 0, done.stderr)
    faults = auditor.audit(database, None, True)
    check("and so does the auditor", not faults, faults)
    native = os.environ.get("COFFER_RELEASE_BIN", "")
    if os.access(native, os.X_OK) and version(native)["schema"] == version(coffer)["schema"]:
        done = run(native, "verify", "--db", database)
        check("and the binary of this machine: a file can move", done.returncode == 0, done.stderr)
    # The control: a file with one amount changed is proved by none.
    with sqlite3.connect(database) as changed:
        changed.execute("UPDATE accounts SET balance = balance + 1 WHERE kind = 0 AND wallet = 1")
    changed.close()
    done = run(coffer, "verify", "--db", database)
    check("the control: with one balance changed it does not", done.returncode != 0, done.stdout)


def tls(coffer, folder):
    """A listener with a certificate: both versions of the protocol, and a client that checks."""
    folder = pathlib.Path(folder)
    key, chain = folder / "tls.key", folder / "tls.pem"
    subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256",
                    "-nodes", "-keyout", key, "-out", chain, "-days", "2", "-subj", "/CN=localhost",
                    "-addext", "subjectAltName=IP:127.0.0.1"], check=True, capture_output=True)
    key.chmod(0o600)
    with open(folder / "tls.log", "wb") as log:
        server = subprocess.Popen(
            [coffer, "serve", "--db", folder / "tls.db", "--listen-http", "127.0.0.1:0", "--admin-off",
             "--tls-cert", chain, "--tls-key", key, "--log-format", "json"], stdout=log, stderr=log)
    crash_gateway.RUNNING.add(server)
    until = time.monotonic() + READY_S
    url = None
    while url is None and time.monotonic() < until and server.poll() is None:
        for line in (folder / "tls.log").read_text().splitlines():
            said = json.loads(line) if line.startswith("{") else {}
            url = said.get("url") if said.get("message") == "listening" else url
        time.sleep(0.1)
    check("listens with TLS", url is not None and url.startswith("https:"), (folder / "tls.log").read_text())

    def client(*words):
        return subprocess.run(["openssl", "s_client", "-connect", url.removeprefix("https://"), *words],
                              input="", capture_output=True, text=True, timeout=READY_S, check=False)

    for version, flag in (("TLSv1.2", "-tls1_2"), ("TLSv1.3", "-tls1_3")):
        done = client(flag, "-CAfile", chain, "-verify_return_error", "-verify_ip", "127.0.0.1")
        check(f"{version}: handshake, the certificate is good",
              done.returncode == 0 and f"New, {version}" in done.stdout and
              "Verify return code: 0 (ok)" in done.stdout, done.stdout + done.stderr)
    done = client("-tls1_1", "-cipher", "DEFAULT@SECLEVEL=0")
    check("the control: TLSv1.1 gets none", done.returncode != 0, done.stdout)
    with urllib.request.urlopen(url + "/livez", timeout=READY_S, context=ssl.create_default_context(
            cafile=str(chain))) as answer:
        check("answers over it", answer.status == 200)
    server.terminate()
    check("ends well", server.wait(READY_S) == 0)
    crash_gateway.RUNNING.discard(server)


def main(coffer, folder):
    commands(coffer)
    proofs(coffer, sandbox(coffer, folder))
    tls(coffer, folder)


main(*sys.argv[1:])
