#!/usr/bin/env -S PYTHONPATH=tests python3 -B
# ctest: cost=100 timeout=300
"""A server is stopped while the store of its archive accepts requests and never responds: to an object of the log, a
part of a snapshot, what a proof reads, a checkpoint, or everything. The stop takes a few seconds, and what a killed proof
has left is gone after the next start. With a store that responds again, the archive has everything."""

import os
import subprocess
import tempfile
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, urlsplit
from xml.sax.saxutils import escape

from harness.machine import binary
from harness.report import judge_faults, wait_for
from harness.server import Service
from harness.tenant import Tenant

BINARY = binary("faults")
STOPS_WITHIN_S = 6.0
# Method and part of the target of the requests that get no response.
PHASES = {"write": ("PUT", "/log/"), "snapshot": ("PUT", "/parts/"), "proof": ("GET", "/parts/"),
          "head": ("PUT", "/heads/"), "everything": ("", "/")}
LATE = ("write", "everything")  # after the first snapshot
HEAD_WITHIN_S = 150.0  # a checkpoint is made a minute after the start


class Store:
    """A bucket in memory. `hangs`: which requests get no response."""

    def __init__(self):
        self.objects, self.hangs, self.waiting = {}, None, 0
        self.goes_on = threading.Event()
        store = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def answer(self, status, body=b""):
                self.send_response(status)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def take(self):
                body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
                if store.hangs and store.hangs[0] in ("", self.command) and store.hangs[1] in self.path:
                    store.waiting += 1
                    store.goes_on.wait(120)
                name = urlsplit(self.path).path.removeprefix("/bucket/")
                if self.command == "PUT":
                    return self.answer(200 if store.objects.setdefault(name, body) is body else 412)
                if self.command == "DELETE":
                    store.objects.pop(name, None)
                    return self.answer(204)
                if name:
                    return self.answer(*((200, store.objects[name]) if name in store.objects else (404,)))
                asked = {key: value[0] for key, value in parse_qs(urlsplit(self.path).query).items()}
                found = sorted(each for each in store.objects if each.startswith(asked.get("prefix", ""))
                               and each > asked.get("start-after", ""))
                rows = "".join(f"<Contents><Key>{escape(each)}</Key><Size>1</Size></Contents>" for each in found)
                return self.answer(200, f"<ListBucketResult>{rows}<IsTruncated>false</IsTruncated></ListBucketResult>"
                                   .encode())

            do_GET = do_PUT = do_DELETE = take

            def log_message(self, *_):
                pass

        class Quiet(ThreadingHTTPServer):
            daemon_threads = True

            def handle_error(self, *_):
                pass  # a client that has closed the connection

        self.http = Quiet(("127.0.0.1", 0), Handler)
        threading.Thread(target=self.http.serve_forever, daemon=True).start()
        self.url = f"http://127.0.0.1:{self.http.server_address[1]}"

    def hang(self, phase):
        self.goes_on.clear()
        self.waiting, self.hangs = 0, PHASES[phase]

    def go_on(self):
        self.hangs = None
        self.goes_on.set()


def stop_in(phase, folder, faults):
    os.mkdir(folder, 0o700)
    store = Store()
    with open(os.path.join(folder, "secret"), "w", encoding="ascii", opener=lambda path, flags: os.open(
            path, flags, 0o600)) as secret:
        secret.write("secret")
    machine = Service(BINARY, os.path.join(folder, "ledger.db"), settings={
        "COFFER_ARCHIVE": "s3://bucket", "COFFER_ARCHIVE_ENDPOINT": store.url, "COFFER_ARCHIVE_ACCESS_KEY": "KEY",
        "COFFER_ARCHIVE_SECRET_KEY_FILE": os.path.join(folder, "secret"), "COFFER_ADMIN_OFF": "true",
        "COFFER_ARCHIVE_PROVE_EVERY_H": "24" if phase == "proof" else "0"})
    if phase not in LATE:
        store.hang(phase)
    machine.start("--init", ready="/readyz")
    machine.command("asset", "add", "USDC", "--name", "US dollar")
    Tenant.create(machine, "Box")
    if phase in LATE:
        wait_for("a snapshot", lambda: any("snapshots/" in each for each in store.objects), 60.0)
        store.hang(phase)
        machine.command("association", "create", "Late")
    wait_for(f"the store hangs: {phase}", lambda: store.waiting > 0, HEAD_WITHIN_S)
    began = time.monotonic()
    machine.stop(60.0)
    took = time.monotonic() - began
    print(f"  {phase}: stopped in {took:.1f} s", flush=True)
    if took > STOPS_WITHIN_S:
        faults.append(f"{phase}: the stop took {took:.1f} s")
    store.go_on()
    left = machine.db + ".copy-proof.coffer.partial"
    with open(left, "wb") as file:
        file.write(b"what a killed proof leaves")
    machine.start(ready="/readyz")
    if os.path.exists(left):
        faults.append(f"{phase}: {left} is still there")
    wait_for("the archive has everything", lambda: is_complete(machine), 60.0)
    machine.stop(30.0)
    target = os.path.join(folder, "restored", "ledger.db")
    done = subprocess.run([BINARY, "restore", "--from", "s3://bucket", "--db", target, "--master-key-file",
                           os.path.join(folder, "master.key")], capture_output=True, text=True, check=False,
                          env={**os.environ, **machine.settings})
    if done.returncode:
        faults.append(f"{phase}: coffer restore: {done.returncode} {done.stderr}")


def in_thread(phase, folder, faults):
    try:
        stop_in(phase, folder, faults)
    except (SystemExit, subprocess.TimeoutExpired) as failed:
        faults.append(f"{phase}: {failed}")


def is_complete(machine):
    found = machine.command("archive", "status")
    return found["snapshots"] and found["problem"] is None


def main():
    faults = []
    with tempfile.TemporaryDirectory() as folder:
        threads = [threading.Thread(target=in_thread, args=(phase, os.path.join(folder, phase), faults))
                   for phase in PHASES]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    judge_faults(faults)


if __name__ == "__main__":
    main()
