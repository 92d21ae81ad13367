"""Certificates, clients that trust one, and a name that is looked up nowhere: it is this machine, port 443."""

import hashlib
import os
import ssl
import subprocess

from harness.calls import Connection

NAME = "pay.example.com"


def certificate(folder, name="127.0.0.1", key=("ec", "-pkeyopt", "ec_paramgen_curve:P-256")):
    """A new self-signed pair in a folder, for a name or an address, named as certbot names it; both paths. `key` is
    what openssl makes of it."""
    os.makedirs(folder, exist_ok=True)
    cert, private = os.path.join(folder, "fullchain.pem"), os.path.join(folder, "privkey.pem")
    kind = "IP" if name.replace(".", "").isdigit() else "DNS"
    subprocess.run(["openssl", "req", "-x509", "-newkey", *key, "-nodes", "-days", "2", "-subj", f"/CN={name}",
                    "-addext", f"subjectAltName={kind}:{name}", "-keyout", private, "-out", cert],
                   check=True, capture_output=True)
    return cert, private


def trusting(cert):
    """What a client believes that trusts this certificate alone."""
    return ssl.create_default_context(cafile=cert)


def connect(context, headers=None, source="127.0.0.1"):
    """A connection to NAME that verifies the certificate and the name."""
    connection = Connection(NAME, 443, 30.0, tls=context, at=("127.0.0.1", 443), source=source)
    connection.headers |= headers or {}
    return connection


def fingerprint(context):
    """The fingerprint of the certificate that a new connection shows."""
    connection = connect(context)
    connection.http.connect()
    try:
        return hashlib.sha256(connection.http.sock.getpeercert(True)).hexdigest()
    finally:
        connection.http.close()


def refused(context):
    """Whether a client finds the certificate wrong."""
    try:
        return not fingerprint(context)
    except ssl.SSLCertVerificationError:
        return True
