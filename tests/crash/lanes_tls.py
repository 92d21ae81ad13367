"""TLS for lanes.py: a server with a certificate, clients that speak to it, and the start of a handshake."""

import http.client
import os
import ssl
import subprocess

def certificate(folder):
    """Settings with a certificate for 127.0.0.1, of an RSA key: its handshakes take the most time."""
    files = os.path.join(folder, "cert.pem"), os.path.join(folder, "key.pem")
    subprocess.run(["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=127.0.0.1",
                    "-addext", "subjectAltName=IP:127.0.0.1", "-out", files[0], "-keyout", files[1]],
                   capture_output=True, check=True)
    return {"COFFER_TLS_CERT": files[0], "COFFER_TLS_KEY": files[1]}


def speak_tls(cert_file):
    """From now on every connection of this process and of its children's speaks TLS."""
    trusting = ssl.create_default_context(cafile=cert_file)

    def connect(host, port, timeout=None):
        return http.client.HTTPSConnection(host.removeprefix("https://"), port, timeout=timeout, context=trusting)

    http.client.HTTPConnection = connect


def client_hello():
    """The first bytes of a handshake."""
    incoming, outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
    try:
        ssl.create_default_context().wrap_bio(incoming, outgoing, server_hostname="localhost").do_handshake()
    except ssl.SSLWantReadError:
        pass
    return outgoing.read()
