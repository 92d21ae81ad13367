"""Certificates, clients that trust one, and connections to NAME, which is port 443 of this machine without a lookup."""

import hashlib
import os
import ssl
import subprocess

from harness.calls import Connection

NAME = "pay.example.com"


def certificate(folder, name="127.0.0.1", key=("ec", "-pkeyopt", "ec_paramgen_curve:P-256")):
    """Creates a self-signed certificate and key for a name or an address, with certbot's file names, and returns both
    paths. `key`: options of openssl's -newkey."""
    os.makedirs(folder, exist_ok=True)
    cert, private = os.path.join(folder, "fullchain.pem"), os.path.join(folder, "privkey.pem")
    kind = "IP" if name.replace(".", "").isdigit() else "DNS"
    subprocess.run(["openssl", "req", "-x509", "-newkey", *key, "-nodes", "-days", "2", "-subj", f"/CN={name}",
                    "-addext", f"subjectAltName={kind}:{name}", "-keyout", private, "-out", cert],
                   check=True, capture_output=True)
    return cert, private


def trusting(cert):
    """The context of a client that trusts only this certificate."""
    return ssl.create_default_context(cafile=cert)


def connect(context, headers=None, source="127.0.0.1"):
    """A connection to NAME that verifies the certificate and the name."""
    connection = Connection(NAME, 443, 30.0, tls=context, at=("127.0.0.1", 443), source=source)
    connection.headers |= headers or {}
    return connection


def fingerprint(context):
    """The fingerprint of the certificate that a new connection presents."""
    connection = connect(context)
    connection.http.connect()
    try:
        return hashlib.sha256(connection.http.sock.getpeercert(True)).hexdigest()
    finally:
        connection.http.close()


def rejected(context):
    """Whether a client rejects the certificate."""
    try:
        return not fingerprint(context)
    except ssl.SSLCertVerificationError:
        return True
