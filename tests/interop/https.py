"""Clients and certificates of tests over TLS: a name that is looked up nowhere, on this machine."""

import hashlib
import http.client
import os
import socket
import ssl
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.append(os.path.join(HERE, "..", "crash"))
from gateway import Connection  # noqa: E402

NAME = "pay.example.com"


def certificate(folder, name=NAME):
    """A new self-signed pair in a folder, named as certbot names it; the path of the certificate."""
    folder = str(folder)
    os.makedirs(folder, exist_ok=True)
    subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256",
                    "-nodes", "-days", "2", "-subj", "/CN=" + name, "-addext", "subjectAltName=DNS:" + name,
                    "-keyout", folder + "/privkey.pem", "-out", folder + "/fullchain.pem"],
                   check=True, capture_output=True)
    return folder + "/fullchain.pem"


def trusting(certificate_path):
    return ssl.create_default_context(cafile=certificate_path)


def connect(context, headers=None, source="127.0.0.1"):
    """A connection to port 443 here, that verifies the certificate and the name."""
    connection = Connection(NAME, 443)
    connection.http = http.client.HTTPSConnection(NAME, 443, timeout=30, context=context)
    connection.http._create_connection = lambda *_, **__: socket.create_connection(
        ("127.0.0.1", 443), 30, (source, 0))
    connection.headers |= headers or {}
    return connection


def shown(context):
    """Which certificate a new connection is shown."""
    connection = connect(context)
    connection.http.connect()
    try:
        return hashlib.sha256(connection.http.sock.getpeercert(True)).hexdigest()
    finally:
        connection.http.close()


def refused(context):
    """Whether a client finds the certificate wrong."""
    try:
        return not shown(context)
    except ssl.SSLCertVerificationError:
        return True
