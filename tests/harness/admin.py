"""An operator on the admin page of a server."""

from harness.calls import fetch


class Operator:
    """Signs in with only a password, and runs commands."""

    def __init__(self, origin, name, password):
        self.origin, self.name, self.password = origin, name, password
        self.cookie, self.token = "", ""

    def call(self, method, path, body=None):
        headers = {"Origin": self.origin, "Cookie": self.cookie, "X-CSRF-Token": self.token}
        return fetch(f"{self.origin}/admin/api/{path}", method, body, headers)

    def _begin(self, path, body):
        response = self.call("POST", path, body)
        if response.status != 204:
            raise ConnectionError(f"{path}: {response.status} {response.text}")
        self.cookie = response.headers["Set-Cookie"].split(";")[0]
        return self

    def claim(self, link):
        """Uses a one-time link, which sets the password."""
        return self._begin("claim", {"link": link.partition("#claim=")[2], "password": self.password})

    def sign_in(self):
        self._begin("sign-in", {"name": self.name, "password": self.password, "code": ""})
        self.token = self.call("GET", "session").json()["csrfToken"]
        return self

    def run(self, command, **arguments):
        return self.call("POST", "run/" + command.replace(" ", "/"), arguments)
