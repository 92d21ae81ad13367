#!/usr/bin/env -S PYTHONPATH=tests python3 -B
"""An application restricted to TLS client certificates (docs/tls.md#client-certificates), with certificates from
openssl: its secrets and tokens work only over connections with one of these certificates, in TLS 1.2 and 1.3."""

import os
import ssl
import subprocess
import sys
import tempfile

import documents
from harness.calls import Connection
from harness.machine import binary
from harness.report import check
from harness.server import Service, command, run_command
from harness.tenant import Tenant
from harness.tls import certificate, trusting

VERSIONS = {"TLS 1.2": ssl.TLSVersion.TLSv1_2, "TLS 1.3": ssl.TLSVersion.TLSv1_3}


def openssl(*words):
    return subprocess.run(["openssl", *words], check=True, capture_output=True, text=True).stdout


def authority(folder):
    """The certificate and the key of a new authority."""
    cert, key = os.path.join(folder, "ca.pem"), os.path.join(folder, "ca.key")
    openssl("req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2", "-subj",
            "/CN=Partners", "-addext", "basicConstraints=critical,CA:TRUE", "-keyout", key, "-out", cert)
    return cert, key


def issued(folder, name, ca):
    """A client certificate of this authority, and its key."""
    cert, key, asked = (os.path.join(folder, name + end) for end in (".pem", ".key", ".csr"))
    openssl("req", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-subj", "/CN=" + name,
            "-addext", "extendedKeyUsage=clientAuth", "-keyout", key, "-out", asked)
    openssl("x509", "-req", "-in", asked, "-CA", ca[0], "-CAkey", ca[1], "-days", "2", "-copy_extensions", "copy",
            "-out", cert)
    return cert, key


class Guide:
    """The steps of docs/tls.md."""

    def __init__(self):
        mine = documents.Mine("interop/client_certificates")
        self.setting = mine.take("docs/tls.md", "tls_client_ca").partition(" = ")[0]
        self.printing, self.restricting = mine.take("docs/tls.md", "openssl x509", "sh").strip().splitlines()
        mine.end()

    def fingerprint(self, cert):
        words = [cert if word == "client.pem" else word for word in self.printing.split()]
        return openssl(*words[1:]).strip().partition("=")[2]

    def restrict(self, server, application, fingerprints):
        values = {"ID": application, "FINGERPRINTS": fingerprints}
        return server.command(*(values.get(word, word) for word in self.restricting.split()[1:]))


GUIDE = Guide()
fingerprint = GUIDE.fingerprint


class Client:
    """Connections with one TLS version, with or without a certificate."""

    def __init__(self, server, version, pair=None):
        self.server = server
        self.context = trusting(server.tls[0])
        self.context.minimum_version = self.context.maximum_version = VERSIONS[version]
        if pair:
            self.context.load_cert_chain(*pair)

    def connect(self, headers=None):
        connection = Connection(self.server.host, self.server.port, 10.0, tls=self.context)
        connection.headers |= headers or {}
        return connection

    def token(self, keys):
        return self.connect().call("POST", "/v1/auth/token", {
            "clientId": keys["clientId"], "clientSecret": keys["clientSecret"]})

    def read(self, headers):
        return self.connect(headers).call("GET", "/v1/assets")


def restricted(version, server, tenant, free, pairs):
    own, renewed, other = (Client(server, version, pairs[name]) for name in ("own", "renewed", "other"))
    bare = Client(server, version)
    GUIDE.restrict(server, tenant.keys["id"], "none")
    tenant.login()
    headers = dict(tenant.headers)
    check(f"{version}: without a restriction, no certificate is needed", bare.read(headers)[0] == 200)
    before = bare.connect(headers)
    check(f"{version}: a connection without a certificate", before.call("GET", "/v1/assets")[0] == 200)

    listed = ",".join(fingerprint(pairs[name][0]) for name in ("own", "renewed"))
    shown = GUIDE.restrict(server, tenant.keys["id"], listed)
    check(f"{version}: the list is shown", shown["certificates"] == listed.replace(":", "").lower(), shown)
    for name, client in (("one", own), ("the other", renewed)):
        check(f"{version}: {name} of two listed certificates", client.read(headers)[0] == 200)
        check(f"{version}: a token with {name}", client.token(tenant.keys)[0] == 200)
    for name, client in (("no certificate", bare), ("the certificate of another", other)):
        status, problem = client.read(headers)
        check(f"{version}: {name} is rejected", (status, problem["code"]) == (401, "unauthorized"), problem)
        check(f"{version}: {name} gets no token", client.token(tenant.keys)[0] == 401)
    check(f"{version}: the restriction applies to open connections", before.call("GET", "/v1/assets")[0] == 401)
    forged = {**headers, "X-Client-Cert": fingerprint(pairs["own"][0]), "X-SSL-Client-Verify": "SUCCESS",
              "X-Forwarded-Client-Cert": "Hash=" + fingerprint(pairs["own"][0])}
    check(f"{version}: a header does not replace a certificate", bare.read(forged)[0] == 401)
    check(f"{version}: other applications need none", bare.read(free)[0] == 200)
    check(f"{version}: a certificate does not replace a key", own.connect().call("GET", "/v1/assets")[0] == 401)


def main():
    with tempfile.TemporaryDirectory(prefix="coffer-client-certs-") as folder:
        ca = authority(folder)
        pairs = {name: issued(folder, name, ca) for name in ("own", "renewed", "other")}
        tls = certificate(os.path.join(folder, "server"))
        db = os.path.join(folder, "coffer.db")
        command(binary(), db, "init")
        server = Service(binary(), db, tls=tls,
                         settings={"COFFER_" + GUIDE.setting.upper(): ca[0]})
        server.start()
        try:
            server.command("asset", "add", "USDC", "--name", "US dollar")
            tenant = Tenant.create(server, "Acme", wallets=())
            free = Tenant.create(server, "Umbrella", wallets=())
            free.login()
            for version in VERSIONS:
                restricted(version, server, tenant, free.headers, pairs)
            for wrong in ("AB:CD", "x" * 64, fingerprint(pairs["own"][0]) + ":00"):
                done = run_command(binary(), db, "application", "certificates", tenant.keys["id"], wrong)
                check("an invalid fingerprint is rejected",
                      done.returncode != 0 and "openssl x509" in done.stderr, done.stderr)
        finally:
            server.kill()


if __name__ == "__main__":
    sys.exit(main())
