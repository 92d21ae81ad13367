"""A proxy in front of a demo that loses requests and responses, responds in its place, and kills the server. A runner of
the clients controls it by POST /_control (clients/README.md); /_receiver is a webhook receiver.

A fault is {"path", "method" (any by default), "times" (1), "skip" (0), "do"}, where `do` is
  drop-request    close the connection before the server gets the request
  drop-response   close it after the server has responded
  half-response   send the status and half of the response
  hold-response   send nothing until the client closes the connection
  status          respond with `status`, `headers`, and `body` as JSON or `text`
  kill-before, kill-during, kill-after
                  kill the server before it gets the request, after it got the request, or after its response
"""

import http.client
import json
import queue
import socket
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import urlsplit

TOKEN_PATHS = ("/v1/auth/token", "/v1/public/auth-connect/sign-in")
# A cursor that exists only here, so that a page of the proxy can precede those of the server.
OWN_CURSOR = "cursor=first-page"


class FaultProxy:
    """A proxy for one client at a time. `read` returns a resource by its path, without the proxy."""

    def __init__(self, demo, read):
        self.demo, self.read = demo, read
        self.lock = threading.Lock()
        self.alive = threading.Lock()  # held while the server is down
        self.payments = []  # (row, transactionId) of every request, for the audit
        self.restarts = []
        self.begin("")
        self.listener = ThreadingHTTPServer(("127.0.0.1", 0), type("Bound", (Handler,), {"proxy": self}))
        self.listener.daemon_threads = True
        threading.Thread(target=self.listener.serve_forever, daemon=True).start()
        self.url = f"http://127.0.0.1:{self.listener.server_port}"

    def begin(self, row):
        self.row, self.log, self.faults, self.deliveries = row, [], [], queue.Queue()

    def stop(self):
        self.listener.shutdown()
        for thread in self.restarts:
            thread.join()

    def control(self, asked):
        if "row" in asked:
            self.begin(asked["row"])
            return {}
        if "faults" in asked:
            self.faults = [{"times": 1, "skip": 0, **fault} for fault in asked["faults"]]
            return {}
        if "processing" in asked:
            path = "/v1/transactions/" + asked["processing"]
            return self.wait(path, lambda record: record.get("substatus") == "awaiting_provider")
        if "attempts" in asked:
            path = f"/v1/webhooks/{asked['webhook']}/deliveries/{asked['delivery']}"
            return self.wait(path, lambda delivery: len(delivery["log"]) == asked["attempts"])
        if "delivery" in asked:
            return self.deliveries.get(timeout=30)
        return self.summary()

    def wait(self, path, holds, within_s=30):
        """The resource when it has the state, or its last state."""
        end = time.monotonic() + within_s
        while not holds(found := self.read(path)) and time.monotonic() < end:
            time.sleep(0.02)
        return found

    def summary(self):
        tokens = [entry for entry in self.log if entry["path"] in TOKEN_PATHS]
        payments = [entry for entry in self.log if entry["method"] == "POST" and is_payment(entry["path"])]
        paths = {}
        for entry in self.log:
            key = f"{entry['method']} {entry['path']}"
            paths[key] = paths.get(key, 0) + 1
        return {
            "tokens": len(tokens), "requests": len(self.log) - len(tokens), "payments": len(payments), "paths": paths,
            "transactionIds": len({transaction_id(entry["body"]) for entry in payments}),
            "bodies": len({entry["body"] for entry in payments}), "retryAfterObeyed": self.obeyed()}

    def obeyed(self):
        """Whether each response with Retry-After was followed by the same request, and not too early."""
        waits = []
        for number, entry in enumerate(self.log):
            if entry["retry_after"] is not None:
                following = [later["began"] for later in self.log[number + 1:] if later["path"] == entry["path"]]
                waits.append(bool(following) and following[0] - entry["ended"] >= entry["retry_after"])
        return bool(waits) and all(waits)

    def fault_for(self, method, path):
        with self.lock:
            for fault in self.faults:
                if fault["path"] == path and fault.get("method", method) == method and fault["times"] > 0:
                    if fault["skip"] > 0:
                        fault["skip"] -= 1
                        continue
                    fault["times"] -= 1
                    return fault
        return None

    def kill(self):
        """Kills the server, and restarts it in another thread."""
        self.alive.acquire()
        self.demo.kill()

        def restart():
            try:
                self.demo.start()
            finally:
                self.alive.release()

        self.restarts.append(threading.Thread(target=restart))
        self.restarts[-1].start()

    def forward(self, method, target, headers, body, wait=True):
        """(status, headers, body) of the server's response."""
        connection = http.client.HTTPConnection(self.demo.host, self.demo.port, timeout=60)
        try:
            connection.request(method, target, body, headers)
            if not wait:
                return None
            response = connection.getresponse()
            return response.status, response.getheaders(), response.read()
        finally:
            connection.close()


def is_payment(path):
    return path.startswith(("/v1/payments/", "/v1/connect-onramp", "/v1/connect-cashin")) and not path.endswith("/validate")


def transaction_id(body):
    try:
        return json.loads(body).get("transactionId")
    except (ValueError, AttributeError):
        return None


class Handler(BaseHTTPRequestHandler):
    proxy = None
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def log_message(self, *_):
        pass

    def respond(self, status, headers, body):
        self.send_response(status)
        for name, value in headers:
            if name.lower() not in ("content-length", "connection", "date", "server", "transfer-encoding"):
                self.send_header(name, value)
        if status != 204:
            self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def cut(self):
        self.close_connection = True
        try:
            self.connection.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass

    def handle_one_request(self):
        try:
            super().handle_one_request()
        except OSError:
            self.close_connection = True

    def serve(self):
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        path = urlsplit(self.path).path
        if path == "/_control":
            return self.respond(200, [], json.dumps(self.proxy.control(json.loads(body))).encode())
        if path == "/_receiver":
            self.proxy.deliveries.put({
                "id": self.headers["webhook-id"], "timestamp": self.headers["webhook-timestamp"],
                "signature": self.headers["webhook-signature"], "body": body.decode()})
            return self.respond(204, [], b"")
        entry = {"method": self.command, "path": path, "body": body, "began": time.monotonic(), "ended": None,
                 "retry_after": None}
        self.proxy.log.append(entry)
        if self.command == "POST" and is_payment(path):
            self.proxy.payments.append((self.proxy.row, transaction_id(body)))
        return self.answer(entry, self.proxy.fault_for(self.command, path) or {"do": ""})

    def answer(self, entry, fault):
        do = fault["do"]
        if do == "status":
            return self.answer_alone(entry, fault)
        if do == "drop-request":
            return self.cut()
        if do == "kill-before":
            self.proxy.kill()
            return self.cut()
        headers = {name: value for name, value in self.headers.items() if name.lower() not in ("host", "connection")}
        target = self.path.replace(OWN_CURSOR, "cursor=")
        try:
            found = self.proxy.forward(self.command, target, headers, entry["body"], wait=do != "kill-during")
        except (OSError, http.client.HTTPException):
            return self.cut()  # the server is down
        if do in ("kill-during", "kill-after"):
            self.proxy.kill()
            return self.cut()
        if do == "drop-response":
            return self.cut()
        if do == "hold-response":
            self.connection.settimeout(60)
            self.connection.recv(1)
            return self.cut()
        if do == "half-response":
            status, _, content = found
            self.wfile.write(f"HTTP/1.1 {status} OK\r\nContent-Type: application/json\r\nContent-Length: {len(content)}"
                             "\r\n\r\n".encode() + content[:len(content) // 2])
            return self.cut()
        return self.respond(*found)

    def answer_alone(self, entry, fault):
        headers = fault.get("headers", {})
        text = json.dumps(fault["body"]) if "body" in fault else fault.get("text", "")
        media = "text/html" if "text" in fault else "application/json" if fault["status"] < 300 else "application/problem+json"
        if "Retry-After" in headers:
            entry["retry_after"], entry["ended"] = int(headers["Retry-After"]), time.monotonic()
        return self.respond(fault["status"], [("Content-Type", media), *headers.items()], text.encode())

    do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = serve
