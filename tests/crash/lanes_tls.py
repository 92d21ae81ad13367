"""TLS for lanes.py: a server with a certificate, its clients, and the start of a handshake."""

import http.client
import ssl

from harness.tls import certificate, trusting

def tls_settings(folder):
    """Settings with an RSA certificate for 127.0.0.1, whose handshakes take the most time."""
    cert, key = certificate(folder, key=("rsa:2048",))
    return {"COFFER_TLS_CERT": cert, "COFFER_TLS_KEY": key}


def speak_tls(cert_file):
    """From now on, every connection of this process and its children uses TLS."""
    context = trusting(cert_file)

    def connect(host, port, timeout=None):
        return http.client.HTTPSConnection(host, port, timeout=timeout, context=context)

    http.client.HTTPConnection = connect


def client_hello():
    """The first bytes of a handshake."""
    incoming, outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
    try:
        ssl.create_default_context().wrap_bio(incoming, outgoing, server_hostname="localhost").do_handshake()
    except ssl.SSLWantReadError:
        pass
    return outgoing.read()
