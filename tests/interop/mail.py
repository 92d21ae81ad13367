#!/usr/bin/env -S PYTHONPATH=tests python3 -B
# ctest: waits
"""E-mail of the release build to stock mail servers, in each way that a provider offers it, and what an operator
reads when a server or a program refuses it."""

import base64
import contextlib
import email
import email.policy
import email.utils
import json
import os
import socket
import subprocess
import tempfile
import threading
import time

from harness.machine import binary, in_namespaces, node_packages
from harness.report import check
from harness.server import Demo, run_command
from harness.tls import certificate

HOST = "mail.test"
USER, PASSWORD = "coffer@bank.example", "correct horse: battery"
RECIPIENT = "ops@bank.example"
DRAIN_S = 2


def own_hosts(folder):
    """The name resolves to this machine, but is not a name of it."""
    hosts = os.path.join(folder, "hosts")
    with open(hosts, "w", encoding="ascii") as file:
        file.write(f"127.0.0.1 localhost {HOST}\n")
    subprocess.run(["mount", "--bind", hosts, "/etc/hosts"], check=True)


class Servers:
    def __init__(self, cert, key):
        facts = {"cert": cert, "key": key, "user": USER, "password": PASSWORD}
        self.process = subprocess.Popen(["node", "tests/interop/mail_servers.mjs"], stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, text=True,
                                        env={**os.environ, "COFFER_TEST": json.dumps(facts)})
        self.ports = json.loads(self.process.stdout.readline())

    def message(self):
        return json.loads(self.process.stdout.readline())

    def stop(self):
        self.process.stdin.close()
        check("no other message arrived", self.process.stdout.read() == "")
        self.process.wait()


def alert_test(folder, settings):
    """The result of `coffer alert test` with these settings, and the log."""
    with tempfile.TemporaryDirectory(dir=folder) as place:
        demo = Demo(binary(), place)
        demo.start(env={"COFFER_ALERT_EMAIL": RECIPIENT, "COFFER_NOTIFY_FROM": "gateway@bank.example", **settings})
        rows = json.loads(run_command(demo.binary, demo.db, "alert", "test").stdout)
        demo.stop()
        return rows[0], demo.said()


def accepted(folder, servers, cert, names):
    for server, url, secure, user in names:
        settings = {"COFFER_NOTIFY_SMTP": url, "COFFER_CA_BUNDLE": cert}
        if user:
            settings |= {"COFFER_NOTIFY_SMTP_USER": USER, "COFFER_NOTIFY_SMTP_PASSWORD": PASSWORD}
        row, _ = alert_test(folder, settings)
        check(f"{server}: the message is accepted", row["sent"] is True, row)
        told = servers.message()
        check(f"{server}: as it should arrive", (told["server"], told["secure"], told["user"], told["from"], told["to"])
              == (server, secure, USER if user else None, "gateway@bank.example", [RECIPIENT]), told)
        raw = base64.b64decode(told["message"])
        message = email.message_from_bytes(raw, policy=email.policy.default)
        check(f"{server}: a message of RFC 5322", not message.defects and b"\n" not in raw.replace(b"\r\n", b"")
              and email.utils.parsedate_to_datetime(message["Date"]) and message["To"] == RECIPIENT
              and message["Message-ID"], raw)


def refused(folder, cases):
    for name, settings, reason in cases:
        row, log = alert_test(folder, settings)
        check(f"{name}: the reason is shown", row["sent"] is False and reason in row["result"], row)
        check(f"{name}: and logged", "alert could not be sent" in log and reason in log, log[-2000:])
        check(f"{name}: without the recipient and the password",
              RECIPIENT not in row["result"] and PASSWORD not in row["result"] + log, row)


def answering(greeting):
    """The port of a server that sends this to each client, and then nothing."""
    server = socket.create_server(("127.0.0.1", 0))

    def serve():
        kept = []
        while True:
            kept.append(server.accept()[0])
            with contextlib.suppress(OSError):
                kept[-1].sendall(greeting)
    threading.Thread(target=serve, daemon=True).start()
    return server.getsockname()[1]


def cut_at_the_end(folder):
    """A target that hangs does not delay the end of the server beyond drain_s."""
    silent = answering(b"")
    sender = {"COFFER_ALERT_EMAIL": RECIPIENT, "COFFER_NOTIFY_FROM": "gateway@bank.example"}
    for name, settings in (
            ("webhook", {"COFFER_ALERT_WEBHOOK_URL": f"http://127.0.0.1:{silent}/",
                         "COFFER_ALERT_WEBHOOK_SECRET": "whsec_" + base64.b64encode(bytes(32)).decode()}),
            ("mail server", {**sender, "COFFER_NOTIFY_SMTP": f"smtp://localhost:{silent}"}),
            ("sendmail", {**sender, "COFFER_NOTIFY_SENDMAIL": program(folder, "sleep 60 & wait")})):
        with tempfile.TemporaryDirectory(dir=folder) as place:
            demo = Demo(binary(), place)
            demo.start(env={"COFFER_DRAIN_S": str(DRAIN_S), **settings})
            with subprocess.Popen([demo.binary, "alert", "test", "--db", demo.db], stdout=subprocess.DEVNULL,
                                  stderr=subprocess.DEVNULL) as test:
                time.sleep(1)
                began = time.monotonic()
                check(f"{name} hangs: the server exits with 0", demo.stop(60.0) == 0)
                took = time.monotonic() - began
                test.wait(10)
            check(f"{name} hangs: after {took:.1f} s, with drain_s = {DRAIN_S}", took < DRAIN_S + 3)


def program(folder, text):
    path = os.path.join(folder, "program")
    with open(path, "w", encoding="ascii") as file:
        file.write("#!/bin/sh\n" + text)
    os.chmod(path, 0o755)
    return path


def main():
    in_namespaces("mount")
    node_packages("interop", "smtp-server")
    with tempfile.TemporaryDirectory() as folder:
        own_hosts(folder)
        cert, key = certificate(folder, HOST)
        other, _ = certificate(os.path.join(folder, "other"), HOST)
        servers = Servers(cert, key)
        at = servers.ports
        accepted(folder, servers, cert, [
            ("plain", f"smtp://127.0.0.1:{at['plain']}", False, False),
            ("starttls", f"smtp://{HOST}:{at['starttls']}", True, True),
            ("smtps", f"smtps://{HOST}:{at['smtps']}", True, True)])
        wrong = {"COFFER_NOTIFY_SMTP_USER": USER, "COFFER_NOTIFY_SMTP_PASSWORD": PASSWORD + "?"}
        refused(folder, [
            ("a wrong password", {"COFFER_NOTIFY_SMTP": f"smtps://{HOST}:{at['smtps']}", "COFFER_CA_BUNDLE": cert,
                                  **wrong}, "535"),
            ("another certificate", {"COFFER_NOTIFY_SMTP": f"smtps://{HOST}:{at['smtps']}", "COFFER_CA_BUNDLE": other},
             "certificate"),
            ("no TLS", {"COFFER_NOTIFY_SMTP": f"smtp://{HOST}:{at['withoutTls']}", "COFFER_CA_BUNDLE": cert}, "STARTTLS"),
            ("a refused recipient", {"COFFER_NOTIFY_SMTP": f"smtp://localhost:{at['refusing']}"},
             "550 5.1.1 <(recipient)>: no such mailbox here"),
            ("no server", {"COFFER_NOTIFY_SMTP": "smtp://localhost:1"}, "localhost:1: Connection refused."),
            ("no server, by another spelling", {"COFFER_NOTIFY_SMTP": "SMTP://LOCALHOST.:1"},
             "localhost:1: Connection refused."),
            ("a greeting without an end", {"COFFER_NOTIFY_SMTP": f"smtp://localhost:{answering(b'220 ' + bytes(200_000))}"},
             "larger than allowed"),
            ("a program that explains itself", {"COFFER_NOTIFY_SENDMAIL": program(
                folder, f"echo 'postdrop: warning: {RECIPIENT}: unable to queue' >&2; exit 75")},
             "sendmail exited with 75. It reported: postdrop: warning: (recipient): unable to queue.")])
        servers.stop()
        cut_at_the_end(folder)


main()
