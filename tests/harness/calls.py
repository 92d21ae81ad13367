"""HTTP clients: a keep-alive connection, a single request, logins."""

import collections
import http.client
import json
import socket
import urllib.error
import urllib.request

# A well-formed ID that no record has.
UNKNOWN_ID = "0190a5a0-0000-7000-8000-000000000000"


class Response(collections.namedtuple("Response", "status headers text")):
    """The response to one request."""

    def json(self):
        return json.loads(self.text) if self.text else None


class Connection:
    """One keep-alive connection that sends and reads JSON. Raises ConnectionError for any failure, after which
    the result of the request is unknown. `tls`: an ssl.SSLContext. `at`: the (host, port) to connect to, if it
    differs from the name; `source`: the local address."""

    def __init__(self, host, port, timeout_s=10.0, tls=None, at=None, source=""):
        if tls:
            self.http = http.client.HTTPSConnection(host, port, timeout=timeout_s, context=tls)
        else:
            self.http = http.client.HTTPConnection(host, port, timeout=timeout_s)
        if at:
            self.http._create_connection = lambda *_, **__: socket.create_connection(at, timeout_s, (source, 0))
        self.headers = {"Content-Type": "application/json"}
        self.answered = None  # the headers of the last response

    def call(self, method, path, body=None):
        """(status, body of the response)"""
        try:
            text = None if body is None else json.dumps(body)
            self.http.request(method, path, text, self.headers)
            response = self.http.getresponse()
            content = response.read()
            self.answered = response.headers
            return response.status, json.loads(content) if content else None
        except (OSError, http.client.HTTPException, ValueError) as error:
            self.http.close()
            raise ConnectionError(str(error)) from error

    def pages(self, path):
        """The rows of all pages of a list."""
        out, cursor = [], None
        while True:
            page = f"&cursor={cursor}" if cursor else ""
            status, answer = self.call("GET", f"{path}{'&' if '?' in path else '?'}limit=100{page}")
            if status != 200:
                raise ConnectionError(f"GET {path}: {status} {answer}")
            out += answer["data"]
            if not answer["hasMore"]:
                return out
            cursor = answer["nextCursor"]

    def list_transactions(self, query=""):
        return self.pages("/v1/transactions" + (query and "?" + query))

    def log_in(self, keys):
        """Requests a token with an application's credentials and sends it with each later call. Returns self."""
        status, token = self.call("POST", "/v1/auth/token", {
            "clientId": keys["clientId"], "clientSecret": keys["clientSecret"]})
        if status != 200:
            raise ConnectionError(f"token: {status} {token}")
        self.headers["x-svc-auth"] = keys["apiKey"]
        self.headers["Authorization"] = "Bearer " + token["accessToken"]
        return self


def fetch(url, method="GET", body=None, headers=None, tls=None, timeout_s=10.0):
    """The response to one request on a new connection, with any status. A body that is not text is sent as JSON."""
    headers = dict(headers or {})
    if body is not None and not isinstance(body, (bytes, str)):
        body = json.dumps(body)
        headers.setdefault("Content-Type", "application/json")
    data = body.encode() if isinstance(body, str) else body
    request = urllib.request.Request(url, data, headers, method=method)
    handlers = [urllib.request.ProxyHandler({})] + ([urllib.request.HTTPSHandler(context=tls)] if tls else [])
    try:
        with urllib.request.build_opener(*handlers).open(request, timeout=timeout_s) as response:
            return Response(response.status, response.headers, response.read().decode())
    except urllib.error.HTTPError as error:
        return Response(error.code, error.headers, error.read().decode())
