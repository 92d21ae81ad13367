"""Runs a binary of another architecture: version, sandbox, payments, kill, verification, TLS.

    aarch64.py COFFER FOLDER

COFFER is the command that runs it in an emulator, which is slow: time limits only prevent a hang.
"""

import json
import os
import sqlite3
import subprocess
import sys
import time

from harness.auditor import audit
from harness.calls import Connection
from harness.machine import binary_path
from harness.report import check
from harness.server import Demo, Service
from harness.tenant import Tenant
from harness.tls import certificate


READY_S, SETTLED_S = 120.0, 60.0
PAYMENTS, AMOUNT = 5, "12.5000001"


def run(coffer, *words):
    return subprocess.run([coffer, *words], capture_output=True, text=True, timeout=READY_S, check=False)


def version(coffer):
    done = run(coffer, "version", "--json")
    return json.loads(done.stdout) if done.returncode == 0 else {"fault": done.stderr}


def commands(coffer):
    shown = version(coffer)
    check(f"prints its version: {shown}", "schema" in shown)
    check("rejects an unknown command", run(coffer, "nothing").returncode == 2)


def sandbox(coffer, folder):
    gateway = Demo(coffer, folder)
    gateway.connect = lambda timeout_s=READY_S: Connection(gateway.host, gateway.port, READY_S)
    gateway.start(ready_within_s=READY_S)
    check(f"serves a sandbox after {gateway.ready_s:.1f} s", True)
    tenant = Tenant.of_demo(gateway)
    connection = tenant.login()
    check("gives a token", True)
    status, document = connection.call("GET", "/v1/openapi.json")
    check("describes itself", status == 200 and "/v1/payments/p2p/own" in document["paths"], status)
    acked = {f"pay-{number}": tenant.pay(f"pay-{number}", AMOUNT) for number in range(PAYMENTS)}
    for name in acked:
        tenant.wait_settled(name, SETTLED_S)
    check(f"{PAYMENTS} payments succeed", True)

    days = [time.strftime("%Y-%m-%d", time.gmtime(time.time() + shift)) for shift in (-86400, 86400)]
    status, statement = connection.call(
        "GET", f"/v1/statements/transactions?walletId={gateway.wallet('Operations')}&assetCode=USDC"
               f"&startDate={days[0]}&endDate={days[1]}")
    listed = json.dumps(statement)
    check("the statement lists all payments",
          status == 200 and all(record in listed for record in acked.values()), (status, statement))
    check("the statement has their exact sum", AMOUNT in listed, statement)

    tenant.pay("last", AMOUNT)
    gateway.kill()
    gateway.start(ready_within_s=READY_S)
    tenant.login()
    for name in (*acked, "last"):
        tenant.wait_settled(name, SETTLED_S)
    check("after a kill and a restart, all accepted payments succeed", True)
    check("a stop exits with 0", gateway.stop(READY_S) == 0)
    return gateway.db


def proofs(coffer, database):
    done = run(coffer, "verify", "--db", database)
    check("verify passes its file", done.returncode == 0, done.stderr)
    faults = audit(database, None, True)
    check("the auditor passes its file", not faults, faults)
    native = binary_path("release")
    if os.access(native, os.X_OK) and version(native)["schema"] == version(coffer)["schema"]:
        done = run(native, "verify", "--db", database)
        check("this machine's binary passes the file as well: files are portable", done.returncode == 0, done.stderr)
    # Control: verify fails a file with a changed balance.
    with sqlite3.connect(database) as changed:
        changed.execute("UPDATE accounts SET balance = balance + 1 WHERE kind = 0 AND wallet = 1")
    changed.close()
    done = run(coffer, "verify", "--db", database)
    check("control: verify fails a file with a changed balance", done.returncode != 0, done.stdout)


def tls(coffer, folder):
    """A listener with a certificate: both protocol versions, and a client that verifies."""
    database, pair = os.path.join(folder, "tls.db"), certificate(os.path.join(folder, "tls"))
    service = Service(coffer, database, tls=pair)
    service.start("--admin-off", ready_within_s=READY_S, pause_s=0.1)
    check("serves TLS to a client that verifies", True)
    chain, address = pair[0], f"127.0.0.1:{service.port}"

    def client(*words):
        return subprocess.run(["openssl", "s_client", "-connect", address, *words],
                              input="", capture_output=True, text=True, timeout=READY_S, check=False)

    for version, flag in (("TLSv1.2", "-tls1_2"), ("TLSv1.3", "-tls1_3")):
        done = client(flag, "-CAfile", chain, "-verify_return_error", "-verify_ip", "127.0.0.1")
        check(f"{version}: the handshake succeeds with a valid certificate",
              done.returncode == 0 and f"New, {version}" in done.stdout and
              "Verify return code: 0 (ok)" in done.stdout, done.stdout + done.stderr)
    done = client("-tls1_1", "-cipher", "DEFAULT@SECLEVEL=0")
    check("control: no handshake with TLSv1.1", done.returncode != 0, done.stdout)
    check("ends well", service.stop(READY_S) == 0)


def main(coffer, folder):
    commands(coffer)
    proofs(coffer, sandbox(coffer, folder))
    tls(coffer, folder)


main(*sys.argv[1:])
