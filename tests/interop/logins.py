#!/usr/bin/env -S PYTHONPATH=tests python3 -B
# ctest: cost=30
"""Attacks on logins, over the wire: wrong secrets of applications, one-time links from many addresses, wrong codes
after a correct password, a stolen session, a forged Host. None succeeds, and none locks the owner out."""

import base64
import hashlib
import hmac
import http.client
import json
import os
import struct
import subprocess
import sys
import tempfile
import time
import urllib.parse

from harness.machine import binary
from harness.report import check

BINARY = binary()
LINKS = 10_400
CODES = 60
WRONG = 60


def totp(key, steps=0):
    """RFC 6238, implemented independently of coffer."""
    counter = struct.pack(">Q", int(time.time()) // 30 + steps)
    digest = hmac.new(key, counter, hashlib.sha1).digest()
    offset = digest[-1] & 15
    return f"{(struct.unpack('>I', digest[offset:offset + 4])[0] & 0x7fffffff) % 10**6:06d}"


class Demo:
    """`coffer demo` with its limits on, and a trusted proxy on this machine."""

    def __init__(self, folder):
        self.database, self.log = os.path.join(folder, "ledger.db"), os.path.join(folder, "log")
        self.start()

    def start(self):
        with open(self.log, "ab") as log:
            self.process = subprocess.Popen(
                [BINARY, "demo", "--db", self.database, "--port", "0", "--json", "--rate-limits"],
                stdout=subprocess.PIPE, stderr=log, text=True,
                env={**os.environ, "COFFER_TRUSTED_PROXIES": "127.0.0.1"})
        line = self.process.stdout.readline()
        if not line:
            sys.exit("the demo does not start: " + open(self.log, encoding="utf-8").read())
        self.given = json.loads(line)
        self.port = urllib.parse.urlparse(self.given["baseUrl"]).port
        self.connection = None

    def stop(self):
        self.process.terminate()
        self.process.wait(60)

    def call(self, method, path, body=None, client="192.0.2.1", **headers):
        """Status, headers and body, for a client address that the proxy reports."""
        sent = {"Host": f"127.0.0.1:{self.port}", "Origin": f"http://127.0.0.1:{self.port}",
                "X-Forwarded-For": client, **headers}
        if body is not None:
            sent["Content-Type"] = "application/json"
        for last in (False, True):
            if self.connection is None:
                self.connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
            try:
                self.connection.request(method, path, None if body is None else json.dumps(body), sent)
                answer = self.connection.getresponse()
                return answer.status, answer.headers, answer.read()
            except (OSError, http.client.HTTPException):
                self.connection = None
                if last:
                    raise

    def token(self, secret, client):
        return self.call("POST", "/v1/auth/token", {"clientId": self.given["clientId"], "clientSecret": secret},
                         client)[0]

    def audit(self, **filters):
        words = [word for name, value in filters.items() for word in ("--" + name, value)]
        done = subprocess.run([BINARY, "audit", "list", "--limit", "500", *words, "--db", self.database, "--json"],
                              capture_output=True, text=True, check=True)
        return json.loads(done.stdout)


class Browser:
    """A browser at one address, with the cookie and the token of its session."""

    def __init__(self, demo, client):
        self.demo, self.client, self.headers = demo, client, {}

    def sign_in(self, code=""):
        given = self.demo.given
        status, headers, _ = self.post("sign-in", {"name": given["adminUser"], "password": given["adminPassword"],
                                                   "code": code})
        if status == 204:
            self.take(headers)
        return status

    def take(self, headers):
        self.headers = {"Cookie": headers["Set-Cookie"].split(";")[0]}
        self.headers["X-CSRF-Token"] = json.loads(self.get("session")[2])["csrfToken"]

    def get(self, path):
        return self.demo.call("GET", "/admin/api/" + path, None, self.client, **self.headers)

    def post(self, path, body):
        return self.demo.call("POST", "/admin/api/" + path, body, self.client, **self.headers)

    def enrol(self):
        """Enrols an authenticator. Returns the raw key and the recovery codes."""
        status, _, body = self.post("authenticator", {"password": self.demo.given["adminPassword"]})
        check("enrolment begins with the password", status == 200, body)
        uri = json.loads(body)["otpauthUri"]
        key = base64.b32decode(urllib.parse.parse_qs(urllib.parse.urlparse(uri).query)["secret"][0])
        status, headers, body = self.post("authenticator/confirm", {"code": totp(key)})
        check("enrolment ends with a code of the new authenticator", status == 200, body)
        self.take(headers)
        return key, json.loads(body)["recoveryCodes"]


def machine_secrets(demo):
    right = demo.given["clientSecret"]
    for number in range(WRONG):
        demo.token("wrong", f"198.51.100.{number}")
    check(f"{WRONG} wrong secrets from as many addresses: the right one works from another address",
          demo.token(right, "203.0.113.1") == 200)
    statuses = [demo.token("wrong", "198.51.100.250") for _ in range(WRONG)]
    check("wrong secrets from one address have to wait", statuses[:4] == [401] * 4 and statuses[-1] == 429, statuses)
    check("the right secret does not wait, even from that address", demo.token(right, "198.51.100.250") == 200)
    for number in range(WRONG):
        demo.token("wrong", f"2001:db8:7:7::{number:x}")
    check("an IPv6 /64 is one address", demo.token("wrong", "2001:db8:7:7:ffff::1") == 429)
    check("the next /64 is another", demo.token("wrong", "2001:db8:7:8::1") == 401)


def bad_links(demo):
    statuses = {}
    for number in range(LINKS):
        client = f"10.{number // 65025}.{number // 255 % 255}.{number % 255}"
        status = demo.call("POST", "/admin/api/claim", {"link": "ol_x", "name": "x", "password": "y"}, client)[0]
        statuses[status] = statuses.get(status, 0) + 1
    check(f"{LINKS} wrong links from as many addresses are rejected", statuses == {401: LINKS}, statuses)
    check("the operator signs in", Browser(demo, "203.0.113.2").sign_in() == 204)
    recorded = len(demo.audit(command="use one-time link"))
    check("the audit log records some of the wrong links, not all", 0 < recorded < 100, recorded)


def codes(demo, home, key):
    statuses = [Browser(demo, f"198.51.100.{number}").sign_in("000000") for number in range(CODES)]
    check("sign-in pauses after five wrong codes with the right password, from any addresses",
          statuses == [401] * 5 + [429] * (CODES - 5), statuses)
    check("the pause also applies to the right code from a new address",
          Browser(demo, "203.0.113.9").sign_in(totp(key, 1)) == 429)
    check("the alarm is in the log", "wrong code after the right password" in open(demo.log, encoding="utf-8").read())
    failed = [act for act in demo.audit(command="sign-in") if act["outcome"] == "unauthorized"]
    check("the audit log has each wrong code with its address",
          len(failed) == 5 and "198.51.100.4" in failed[0]["arguments"],
          failed)
    check("the owner can sign in from a known address", Browser(demo, home).sign_in(totp(key, 1)) == 204)


def stolen_session(demo, owner):
    thief = Browser(demo, "198.51.100.77")
    thief.headers = dict(owner.headers)
    check("control: the stolen session reads", thief.get("session")[0] == 200)
    for path in ("authenticator", "recovery-codes", "password"):
        status = thief.post(path, {"next": "four other quiet words"})[0]
        check(f"the stolen session does not change the {path}", status == 401, status)
    check("nor does it with only the password", thief.post(
        "authenticator", {"password": demo.given["adminPassword"]})[0] == 401)
    check("each attempt is recorded", {act["command"] for act in demo.audit() if act["outcome"] == "unauthorized"} >= {
        "begin authenticator enrolment", "renew recovery codes", "change password"})


def sessions(demo, owner, code):
    other = Browser(demo, "192.0.2.99")
    check("a recovery code signs in", other.sign_in(code) == 204)
    check("once", Browser(demo, "192.0.2.98").sign_in(code) == 401)
    listed = json.loads(owner.get("sessions")[2])["data"]
    strange = [row for row in listed if row["address"] == "192.0.2.99"]
    check("the owner sees the session and its address", len(strange) == 1, listed)
    check("the owner ends the session", owner.post("sessions/end", {"id": strange[0]["id"]})[0] == 204)
    check("the ended session is invalid, the owner's is not",
          other.get("session")[0] == 401 and owner.get("session")[0] == 200)


def hosts(demo):
    for path in ("/admin/", "/metrics"):
        check(f"{path} rejects an unknown Host", demo.call("GET", path, Host="evil.example")[0] == 403)
    check("the page accepts a known Host", demo.call("GET", "/admin/", Host="localhost")[0] == 200)
    check("X-Forwarded-For does not make /metrics open", demo.call("GET", "/metrics")[0] == 404)


def main():
    with tempfile.TemporaryDirectory() as folder:
        demo = Demo(folder)
        try:
            hosts(demo)
            machine_secrets(demo)
            bad_links(demo)
            owner = Browser(demo, "192.0.2.1")
            check("the operator signs in with only the password", owner.sign_in() == 204)
            key, recovery = owner.enrol()
            codes(demo, "192.0.2.1", key)
            stolen_session(demo, owner)
            sessions(demo, owner, recovery[0])
            demo.stop()
            demo.start()
            for number in range(CODES):
                Browser(demo, f"198.51.100.{number}").sign_in("000000")
            check("after a restart the owner's address is still known",
                  Browser(demo, "192.0.2.1").sign_in(recovery[1]) == 204)
        finally:
            demo.stop()


main()
