"""Part of static_binary.sh: a name server and a TLS server, both independent of coffer.

    name_server.py CERTIFICATE KEY FILE

Names on 127.0.0.1:53: name.test and other.test are 127.0.0.1, they have no IPv6 address, and no other name exists. TLS
on a free port, which is written to FILE: /livez returns 200, every other path 503."""

import os
import ssl
import sys
import threading

from harness.names import A, Names
from harness.receiver import Receiver


def here(kind, _):
    return ["127.0.0.1"] if kind == A else []


def main(certificate, key, port_file):
    Names({"name.test": here, "other.test": here})
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)
    server = Receiver(lambda request: "ok" if request.target == "/livez" else "unavailable", tls=context)
    with open(port_file + ".part", "w", encoding="ascii") as file:
        file.write(f"{server.port}\n")
    os.rename(port_file + ".part", port_file)
    threading.Event().wait()


main(*sys.argv[1:])
