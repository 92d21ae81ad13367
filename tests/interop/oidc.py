#!/usr/bin/env -S PYTHONPATH=tests python3 -B
"""Operators sign in with a stock OpenID provider (oidc-provider, oidc_provider.mjs): only linked operators, only from
the browser that began the sign-in, and only once. During an outage of the provider, operators can still sign in with
a password."""

import http.client
import json
import os
import subprocess
import sys
import tempfile
import time
import urllib.parse

from harness.machine import ROOT, binary, held_port, node_packages
from harness.report import check

BINARY = binary()
CLIENT = {"clientId": "coffer-admin", "clientSecret": "a secret: with + and %"}


class Provider:
    def __init__(self, port, redirect_uri):
        facts = {**CLIENT, "port": port, "redirectUri": redirect_uri}
        self.process = subprocess.Popen(
            ["node", os.path.join(ROOT, "tests/interop/oidc_provider.mjs")], stdin=subprocess.PIPE,
            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
            env={**os.environ, "COFFER_TEST": json.dumps(facts)})
        self.issuer = self.process.stdout.readline().strip()
        if not self.issuer:
            sys.exit("the provider does not start")

    def account(self, name):
        """Sets the account that signs in from now on."""
        self.process.stdin.write(name + "\n")
        self.process.stdin.flush()
        self.process.stdout.readline()

    def stop(self):
        self.process.kill()
        self.process.wait()


class Browser:
    """A browser with cookies by host and port. Follows the provider's redirects and stops at the page."""

    def __init__(self, origin):
        self.origin, self.cookies = origin, {}

    def call(self, method, url, body=None, **headers):
        at = urllib.parse.urlparse(url)
        kept = self.cookies.setdefault(at.netloc, {})
        sent = {"Host": at.netloc, "Cookie": "; ".join(f"{name}={value}" for name, value in kept.items()), **headers}
        if body is not None:
            sent["Content-Type"] = "application/json"
        connection = http.client.HTTPConnection("127.0.0.1", at.port, timeout=30)
        connection.request(method, at.path + ("?" + at.query if at.query else ""),
                           None if body is None else json.dumps(body), sent)
        answer = connection.getresponse()
        for cookie in answer.headers.get_all("Set-Cookie") or []:
            name, _, value = cookie.split(";")[0].partition("=")
            kept[name] = value
        text = answer.read()
        connection.close()
        return answer.status, answer.headers, text

    def post(self, path, body):
        return self.call("POST", f"{self.origin}/admin/api/{path}", body, Origin=self.origin)

    def begin(self):
        status, _, body = self.post("sign-in/provider/begin", {})
        return status, json.loads(body).get("url", "")

    def back_from(self, url):
        """The parameters that the provider adds to the address of the page."""
        for _ in range(10):
            status, headers, body = self.call("GET", url)
            if status not in (302, 303):
                sys.exit(f"the provider returns {status}: {body[:300]}")
            url = urllib.parse.urljoin(url, headers["Location"])
            if url.startswith(self.origin):
                return dict(urllib.parse.parse_qsl(urllib.parse.urlparse(url).query))
        sys.exit("the provider does not redirect back to the page")

    def finish(self, returned):
        status, _, body = self.post("sign-in/provider",
                                    {name: returned.get(name, "") for name in ("code", "state", "iss")})
        return status, body

    def sign_in(self):
        return self.finish(self.back_from(self.begin()[1]))

    def name(self):
        status, _, body = self.call("GET", f"{self.origin}/admin/api/session")
        return json.loads(body)["name"] if status == 200 else None


def run(database, *words):
    done = subprocess.run([BINARY, *words, "--db", database, "--json"], capture_output=True, text=True, check=False)
    return done.returncode, json.loads(done.stdout) if done.stdout else None


def audit(database, **fields):
    entries = run(database, "audit", "list", "--limit", "500")[1]
    return [entry for entry in entries if all(fields[name] in str(entry[name]) for name in fields)]


def links(provider, database, origin):
    provider.account("sub-ada")
    browser = Browser(origin)
    url = browser.begin()[1]
    query = dict(urllib.parse.parse_qsl(urllib.parse.urlparse(url).query))
    check("the address requests a code with PKCE, state and nonce",
          query["response_type"] == "code" and query["code_challenge_method"] == "S256" and
          min(map(len, (query["code_challenge"], query["state"], query["nonce"]))) >= 43, query)
    check("the address requires that the provider authenticates the visitor again",
          query["prompt"] == "login" and query["max_age"] == "0", query)
    status, body = browser.sign_in()
    check("an account without a linked operator is rejected, and its subject is shown",
          status == 401 and b"sub-ada" in body, body)
    check("the account creates no operator", len(run(database, "operator", "list")[1]) == 1)
    check("the audit log has the subject and its e-mail address",
          audit(database, details="subject sub-ada (sub-ada@example.com) is linked to no operator"))
    return browser


def signs_in(provider, database, origin, admin):
    check("an operator is linked", run(database, "operator", "link", admin, "--subject", "sub-ada")[0] == 0)
    browser = Browser(origin)
    check("the linked operator signs in", browser.sign_in()[0] == 204 and browser.name() == admin)
    check("the sign-in is recorded", audit(database, actor=admin, command="sign-in", details="with the provider"))
    run(database, "operator", "add", "bob")
    check("a subject belongs to one operator", run(database, "operator", "link", "bob", "--subject", "sub-ada")[0] != 0)
    provider.account("sub-other")
    other = Browser(origin)
    check("another account of the provider does not sign in", other.sign_in()[0] == 401 and other.name() is None)
    check("an operator without password and authenticator is linked",
          run(database, "operator", "link", "bob", "--subject", "sub-other")[0] == 0)
    bob = Browser(origin)
    check("that operator signs in without any other step", bob.sign_in()[0] == 204 and bob.name() == "bob")
    status, _, _ = bob.call("GET", f"{origin}/admin/api/commands")
    check("that operator can use the page", status == 200, status)
    run(database, "operator", "unlink", "bob")
    check("unlinking ends the session and the sign-in", bob.name() is None and Browser(origin).sign_in()[0] == 401)
    run(database, "operator", "link", "bob", "--subject", "sub-other")
    run(database, "operator", "suspend", "bob")
    check("a suspended operator does not sign in", Browser(origin).sign_in()[0] == 401)


def attacks(provider, origin, admin):
    provider.account("sub-ada")
    browser = Browser(origin)
    returned = browser.back_from(browser.begin()[1])
    victim = Browser(origin)
    victim.begin()
    check("a code of another browser's sign-in is rejected", victim.finish(returned)[0] == 401)
    check("a code without the attempt's cookie is rejected", Browser(origin).finish(returned)[0] == 401)
    check("a code with another state is rejected", browser.finish({**returned, "state": "x" * 75})[0] == 401)
    check("a code of another issuer is rejected", browser.finish({**returned, "iss": "https://evil.example"})[0] == 401)
    check("the browser that began the sign-in completes it",
          browser.finish(returned)[0] == 204 and browser.name() == admin)
    again = Browser(origin)
    again.cookies = {host: dict(kept) for host, kept in browser.cookies.items()}
    check("once", again.finish(returned)[0] == 401)
    provider.account("sub-ada 1000000000")
    check("a session of the provider from 2001 is rejected", Browser(origin).sign_in()[0] == 401)
    provider.account("sub-ada")
    check("control: the same account signs in now", Browser(origin).sign_in()[0] == 204)
    invented = Browser(origin)
    state = dict(urllib.parse.parse_qsl(urllib.parse.urlparse(invented.begin()[1]).query))["state"]
    check("an invented code is rejected", invented.finish({"code": "invented", "state": state})[0] == 401)
    status, _, _ = browser.call("POST", f"{origin}/admin/api/sign-in/provider/begin", {}, Origin="https://evil.example")
    check("another site's page cannot begin a sign-in", status == 403, status)


def outage(provider, origin, given):
    browser = Browser(origin)
    returned = browser.back_from(browser.begin()[1])
    provider.stop()
    began = time.monotonic()
    status, body = browser.finish(returned)
    check("during an outage, sign-in with the provider fails", status in (502, 503, 504), body)
    local = Browser(origin)
    status, _, _ = local.post("sign-in", {"name": given["adminUser"], "password": given["adminPassword"], "code": ""})
    check("during an outage, sign-in with a password works immediately",
          status == 204 and time.monotonic() - began < 10, status)


def main():
    node_packages("interop", "oidc-provider")
    admin_port, provider_port = held_port(), held_port()
    origin = f"http://127.0.0.1:{admin_port}"
    provider = Provider(provider_port, f"{origin}/admin/")
    with tempfile.TemporaryDirectory() as folder:
        database = os.path.join(folder, "ledger.db")
        with open(os.path.join(folder, "log"), "wb") as log:
            demo = subprocess.Popen(
                [BINARY, "demo", "--db", database, "--port", str(admin_port), "--json"], stdout=subprocess.PIPE,
                stderr=log, text=True,
                env={**os.environ, "COFFER_OIDC_ISSUER": provider.issuer, "COFFER_OIDC_CLIENT_ID": CLIENT["clientId"],
                     "COFFER_OIDC_CLIENT_SECRET": CLIENT["clientSecret"]})
        try:
            given = json.loads(demo.stdout.readline())
            status, _, body = Browser(origin).call("GET", f"{origin}/admin/api/sign-in/options")
            check("the page shows the provider", status == 200 and json.loads(body)["provider"] == "127.0.0.1", body)
            links(provider, database, origin)
            signs_in(provider, database, origin, given["adminUser"])
            attacks(provider, origin, given["adminUser"])
            outage(provider, origin, given)
        finally:
            demo.terminate()
            demo.wait(60)
            provider.stop()


main()
