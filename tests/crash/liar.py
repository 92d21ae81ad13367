"""A deliberately faulty server, for controls: a proxy before the real one. `ask` may change requests, and `answer`
responses."""

import http.client
import http.server
import json
import threading


class Liar:
    """`ask(body) -> body` and `answer(status, body) -> (status, body)` apply to POST requests only, as objects."""

    def __init__(self, gateway, ask=lambda body: body, answer=lambda status, body: (status, body)):
        outer = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def setup(self):
                super().setup()
                self.upstream = http.client.HTTPConnection(gateway.host, gateway.port)

            def finish(self):
                self.upstream.close()
                super().finish()

            def pass_on(self):
                content = self.rfile.read(int(self.headers.get("Content-Length", 0)))
                lies = self.command == "POST" and self.path.startswith("/v1/payments/")
                if lies:
                    content = json.dumps(outer.ask(json.loads(content))).encode()
                kept = {name: value for name, value in self.headers.items()
                        if name.lower() not in ("host", "content-length", "connection")}
                self.upstream.request(self.command, self.path, content or None, kept)
                response = self.upstream.getresponse()
                status, content = response.status, response.read()
                if lies:
                    status, told = outer.answer(status, json.loads(content))
                    content = json.dumps(told).encode()
                self.send_response(status)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(content)))
                self.end_headers()
                self.wfile.write(content)

            do_GET = do_POST = pass_on

            def log_message(self, *_):
                pass

        self.ask, self.answer = ask, answer
        class Server(http.server.ThreadingHTTPServer):
            request_queue_size = 256  # many clients connect at once

        self.server = Server(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        self.host, self.port = self.server.server_address
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def stop(self):
        self.server.shutdown()
        self.server.server_close()
