#!/usr/bin/env -S PYTHONPATH=tests python3 -B
"""No secret that was ever issued or sent appears in the database, the write-ahead log, a backup or the log, whether in
plain text, decoded, in hex or inside base64. Files have mode 0600 and folders 0700 under any umask. The binary contains
exactly one SQLite, with the fix for the WAL-reset bug. Control: each planted secret is found."""

import base64
import hashlib
import hmac
import json
import os
import re
import shutil
import sqlite3
import stat
import struct
import subprocess
import tempfile
import time
import urllib.parse

from harness import machine
from harness.auditor import audit
from harness.calls import fetch
from harness.clients import OWN, payment, wait_until_settled
from harness.report import fail, judge_faults
from harness.server import Demo

# Versions of SQLite before this day can lose committed pages (WAL-reset bug).
SQLITE_SINCE = b"2026-03-13"
SOURCE_ID = re.compile(rb"20\d\d-\d\d-\d\d \d\d:\d\d:\d\d [0-9a-f]{64}")
# Shorter secrets would match by chance.
SHORTEST = 12


# --- Forms of a secret on disk -------------------------------------------------------------------------


def decoded(text):
    """The bytes that a text secret may encode: after its prefix, as hex, base32 or base64."""
    out = []
    bare = text.split("_", 1)[1] if "_" in text[:8] else text
    for candidate in {text, bare, *text.split(".")}:
        for decode in (bytes.fromhex,
                       lambda value: base64.b32decode(value + "=" * (-len(value) % 8)),
                       lambda value: base64.b64decode(value + "=" * (-len(value) % 4), altchars=b"-_", validate=True),
                       lambda value: base64.b64decode(value + "=" * (-len(value) % 4), validate=True)):
            try:
                out.append(decode(candidate))
            except ValueError:
                pass
    return out


def forms(secret):
    """Every byte string that reveals `secret`."""
    text = secret if isinstance(secret, str) else None
    plain = [secret.encode(), *decoded(text)] if text is not None else [secret]
    if text is not None:
        plain.append(json.dumps(text)[1:-1].encode())
        if text.count(".") == 2:
            # A token: its claims are not secret, only its signature is.
            plain = [text.encode(), text.rsplit(".", 1)[1].encode(), *decoded(text.rsplit(".", 1)[1])]
    out = set()
    for data in plain:
        if len(data) < SHORTEST:
            continue
        out |= {data, data.hex().encode(), data.hex().upper().encode()}
        for shift in range(3):
            # Base64 of a text that contains it, without the letters that depend on the surrounding text.
            for encode in (base64.b64encode, base64.urlsafe_b64encode):
                cut = encode(bytes(shift) + data).rstrip(b"=")[4 if shift else 0:-3]
                if len(cut) >= SHORTEST:
                    out.add(cut)
    return out


class Secrets:
    def __init__(self):
        self.known = {}  # description -> secret

    def add(self, what, secret):
        if not secret or len(secret) < SHORTEST:
            fail(f"{what} is not a secret: {secret!r}")
        self.known[what] = secret

    def find(self, paths):
        """(description, path) of every secret in these files."""
        wanted = [(form, what) for what, secret in self.known.items() for form in forms(secret)]
        found = []
        for path in paths:
            with open(path, "rb") as file:
                content = file.read()
            found += sorted({(what, os.path.basename(path)) for form, what in wanted if form in content})
        return found


# --- Issuing -----------------------------------------------------------------------------------------


def must(status, answer, wanted=200):
    if status != wanted:
        fail(f"status {status}, expected {wanted}: {answer}")
    return answer


def one_time_code(key):
    """RFC 6238 with the defaults of every authenticator app."""
    raw = base64.b32decode(key + "=" * (-len(key) % 8))
    digest = hmac.new(raw, struct.pack(">Q", int(time.time()) // 30), hashlib.sha1).digest()
    at = digest[-1] & 15
    return f"{(struct.unpack('>I', digest[at:at + 4])[0] & 0x7fffffff) % 1_000_000:06}"


def base64url(data):
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


class Issuer:
    """An external token issuer, made with openssl."""

    def __init__(self, folder):
        self.key = os.path.join(folder, "issuer.pem")
        self.jwks = os.path.join(folder, "issuer.jwks")
        self.openssl("genrsa", "-out", self.key, "2048")
        modulus = self.openssl("rsa", "-in", self.key, "-noout", "-modulus").decode().strip().split("=")[1]
        with open(self.jwks, "w", encoding="ascii") as file:
            json.dump({"keys": [{"kty": "RSA", "kid": "one", "use": "sig", "alg": "RS256", "e": "AQAB",
                                 "n": base64url(bytes.fromhex(modulus))}]}, file)

    def openssl(self, *words, data=None):
        return subprocess.run(["openssl", *words], input=data, capture_output=True, check=True).stdout

    def token(self):
        now = int(time.time())
        claims = {"iss": "https://issuer.example", "aud": "coffer", "sub": "alice", "iat": now, "exp": now + 600}
        text = ".".join(base64url(json.dumps(part).encode())
                        for part in ({"alg": "RS256", "typ": "JWT", "kid": "one"}, claims))
        return text + "." + base64url(self.openssl("dgst", "-sha256", "-sign", self.key, data=text.encode()))


def log_in(gateway, secrets):
    connection = gateway.connect()
    facts = gateway.facts
    for name in ("clientSecret", "apiKey", "connectSecret", "secretSeed", "signInSecret"):
        secrets.add("the demo's " + name, facts[name])
    login = gateway.login()
    secrets.add("an access token", login.headers["Authorization"].removeprefix("Bearer "))
    session = must(*connection.call("POST", "/v1/public/auth-connect/sign-in",
                                    {"publicKey": facts["publicKey"], "secret": facts["signInSecret"]}))
    for round_ in ("first", "second"):
        secrets.add(f"the {round_} id token", session["idToken"])
        secrets.add(f"the {round_} refresh token", session["refreshToken"])
        if round_ == "first":
            session = must(*connection.call("POST", "/v1/public/auth/refresh", {"refreshToken": session["refreshToken"]}))
    user = gateway.command("user", "add", "alice", "--association", facts["associationId"])
    key = urllib.parse.parse_qs(urllib.parse.urlparse(user["otpauthUri"]).query)["secret"][0]
    secrets.add("a password", user["password"])
    secrets.add("a key of one-time codes", key)
    session = must(*connection.call("POST", "/v1/public/auth/verify-otp", {
        "username": "alice", "password": user["password"], "otp": one_time_code(key)}))
    for name, value in session.items():
        if name.lower().endswith("token") and isinstance(value, str):
            secrets.add("a user's " + name, value)
    return login


def administer(gateway, secrets):
    application = gateway.command("application", "register", "--name", "Second", "--association",
                          gateway.facts["associationId"])
    rotated = gateway.command("application", "rotate", application["id"])
    for what, source in (("registered", application), ("rotated", rotated)):
        for name in ("clientSecret", "apiKey", "connectSecret", "secretSeed", "signInSecret"):
            if source.get(name):
                secrets.add(f"a {what} {name}", source[name])
    connector = gateway.command("connector", "add", "Provider", "--driver", "http", "--method", "MOMO", "--country", "KE",
                        "--currency", "KES", "--asset", "USDC", "--min", "1", "--max", "1000",
                        "--base-url", "http://127.0.0.1:9")
    secrets.add("a provider's secret", connector["secret"])
    rotated = gateway.command("connector", "rotate-secret", connector["id"])
    secrets.add("a provider's new secret", rotated["secret"])


def register_webhooks(gateway, secrets, login):
    facts = gateway.facts
    hook = must(*login.call("POST", "/v1/webhooks", {"url": "http://127.0.0.1:9/hooks",
                                                     "eventTypes": ["wallet.status_changed"]}), 201)
    secrets.add("a webhook's secret", hook["secret"])
    again = must(*login.call("POST", f"/v1/webhooks/{hook['id']}/rotate-secret", {"gracePeriodSeconds": 60}))
    secrets.add("a webhook's new secret", again["secret"])
    must(*login.call("POST", f"/v1/webhooks/{hook['id']}/test"), 202)
    hook = must(*login.call("POST", f"/v1/application/{facts['applicationId']}/webhook", {
        "url": "http://127.0.0.1:9/hooks", "method": "POST", "eventTypes": ["webhook.disabled"]}), 201)
    secrets.add("an application's webhook secret", hook["secret"])


def fail_logins(gateway, secrets):
    """Secrets that a caller sends by mistake, which often belong to another system."""
    wrong = {what: f"{what.replace(' ', '-')}-{os.urandom(12).hex()}" for what in
             ("a wrong secret", "a wrong password", "a wrong key", "a wrong bearer", "a secret in a query",
              "a wrong refresh token")}
    for what, secret in wrong.items():
        secrets.add(what, secret)
    connection = gateway.connect()
    connection.call("POST", "/v1/auth/token", {"clientId": gateway.facts["clientId"], "clientSecret": wrong["a wrong secret"]})
    connection.call("POST", "/v1/public/auth/verify-otp", {
        "username": "alice", "password": wrong["a wrong password"], "otp": "000000"})
    connection.call("POST", "/v1/public/auth/refresh", {"refreshToken": wrong["a wrong refresh token"]})
    connection.headers.update({"x-svc-auth": wrong["a wrong key"], "Authorization": "Bearer " + wrong["a wrong bearer"]})
    connection.call("GET", "/v1/wallets?access_token=" + urllib.parse.quote(wrong["a secret in a query"]))


def pay(gateway, login, secrets):
    for number in range(50):
        route, body = payment(gateway, f"secret-{number}", number)
        must(*login.call("POST", "/v1/payments/" + route, body), 202)
    # Rejected requests may be logged, but without their content.
    login.call("POST", "/v1/payments/" + OWN, {"amount": "x"})
    misplaced = "misplaced-" + os.urandom(12).hex()
    secrets.add("a secret in a wrong member", misplaced)
    login.call("POST", "/v1/payments/" + OWN, {"amount": "1", "fromRef": {"password": misplaced}, "password": misplaced})


def read_metrics(gateway, token):
    """Requests the metrics with the right and a wrong token, as from another machine."""
    url = f"http://{gateway.host}:{gateway.port}/metrics"
    for given, wanted in (("wrong-" + token, 401), (token, 200)):
        status, _, text = fetch(url, headers={"X-Forwarded-For": "192.0.2.1", "Authorization": "Bearer " + given})
        if status != wanted:
            fail(f"/metrics returned {status}, expected {wanted}")
    return text


# --- Searching ---------------------------------------------------------------------------------------


def modes(folder, allowed):
    """Files and folders with more rights than `allowed`, {kind: mode}."""
    faults = []
    for where, _, names in os.walk(folder):
        for path in [where, *(os.path.join(where, name) for name in names)]:
            mode = os.lstat(path).st_mode
            kind = "directory" if stat.S_ISDIR(mode) else "file"
            if stat.S_IMODE(mode) & ~allowed[kind]:
                faults.append(f"{os.path.relpath(path, folder)} has mode {stat.S_IMODE(mode):o}")
    return faults


def sqlite_faults(content):
    found = set(SOURCE_ID.findall(content))
    if len(found) != 1:
        return [f"{len(found)} copies of SQLite: {sorted(found)}"]
    return [f"SQLite of {date[:10].decode()}" for date in found if date[:10] < SQLITE_SINCE]


def request_log_faults(path):
    """The request log must contain the requests of this test, with request and response bodies."""
    with sqlite3.connect(f"file:{path}?mode=ro", uri=True) as log:
        rows, asked, answered = log.execute(
            "SELECT count(*), count(request_body), count(response_body) FROM requests").fetchone()
        hidden, = log.execute("SELECT count(*) FROM requests WHERE response_body LIKE '%[redacted]%'").fetchone()
    if rows < 60 or asked < 50 or answered < 50 or hidden < 2:
        return [f"the request log has {rows} requests, {asked} and {answered} bodies, {hidden} redacted"]
    return []


def back_up(gateway, folder):
    """A backup by coffer and one by SQLite itself."""
    made = []
    path = os.path.join(folder, "sqlite.backup")
    with sqlite3.connect(f"file:{gateway.db}?mode=ro", uri=True) as source, sqlite3.connect(path) as target:
        source.backup(target)
    made.append(path)
    text = subprocess.run([gateway.binary, "--help"], capture_output=True, text=True, check=False).stdout
    if re.search(r"^\s+backup\s", text, re.MULTILINE):
        path = os.path.join(folder, "coffer.backup")
        done = subprocess.run([gateway.binary, "backup", path, "--db", gateway.db], capture_output=True, text=True,
                              check=False)
        if done.returncode:
            fail(f"coffer backup: {done.stderr}")
        if stat.S_IMODE(os.stat(path).st_mode) & 0o077:
            fail(f"the backup has mode {stat.S_IMODE(os.stat(path).st_mode):o}")
        made.append(path)
    return made


def control(secrets, data, folder, binary):
    """Plants each kind of leak, which must be found."""
    database = os.path.join(data, "ledger.db")
    for what, secret in secrets.known.items():
        raw = secret.encode() if isinstance(secret, str) else secret
        token = raw.rsplit(b".", 1)[-1] if raw.count(b".") == 2 else raw
        for form, text in {"plain": token, "hex": token.hex().encode(), "inside base64": base64.b64encode(b"{" + token + b"}"),
                           "inside base64url": base64.urlsafe_b64encode(b"ab" + token)}.items():
            path = os.path.join(folder, "planted")
            with open(path, "wb") as file:
                file.write(b"something before " + text + b" something behind")
            if (what, "planted") not in secrets.find([path]):
                fail(f"{what} in {form} was not found")
    # In a table of the database itself.
    path = os.path.join(folder, "planted.db")
    shutil.copy(database, path)
    key = next(secret for what, secret in secrets.known.items() if "apiKey" in what)
    db = sqlite3.connect(path)
    with db:
        db.execute("CREATE TABLE planted (a BLOB)")
        db.execute("INSERT INTO planted VALUES (?)", (bytes.fromhex(key.split("_", 1)[1]),))
    db.close()
    if not secrets.find([path]):
        fail("a decoded key in a table was not found")
    os.chmod(path, 0o640)
    if not modes(folder, {"directory": 0o700, "file": 0o600}):
        fail("mode 0640 was not reported")
    with open(binary, "rb") as file:
        content = file.read()
    own = SOURCE_ID.search(content).group()
    for wrong in (content + b"2026-10-16 00:00:00 " + b"a" * 64, content.replace(own, b"2022" + own[4:]), b""):
        if not sqlite_faults(wrong):
            fail("a second, an old or a missing SQLite was not reported")


def main():
    os.umask(0)  # so that only coffer itself can make files private
    binary = machine.binary()
    secrets = Secrets()
    with tempfile.TemporaryDirectory() as folder:
        issuer = Issuer(folder)
        gateway_token = os.urandom(24).hex()
        secrets.add("the token of the message gateway", gateway_token)
        token_file = os.path.join(folder, "token")
        with open(token_file, "w", encoding="ascii") as file:
            file.write(gateway_token)
        os.chmod(token_file, 0o600)
        metrics_token = os.urandom(24).hex()
        secrets.add("the token of the metrics page", metrics_token)
        logs = os.path.join(folder, "logs")
        os.mkdir(logs)
        gateway = Demo(binary, folder, db="data/ledger.db").start(env={
            "COFFER_METRICS_TOKEN": metrics_token, "COFFER_REQUEST_LOG": "bodies", "COFFER_LOG_FILE": os.path.join(logs, "coffer.log"),
            "COFFER_LOG_LEVEL": "debug", "COFFER_LOG_FORMAT": "json", "COFFER_OAUTH_ISSUER": "https://issuer.example",
            "COFFER_OAUTH_AUDIENCE": "coffer", "COFFER_OAUTH_JWKS": issuer.jwks,
            "COFFER_NOTIFY_GATEWAY_URL": "http://127.0.0.1:9/", "COFFER_NOTIFY_GATEWAY_TOKEN_FILE": token_file})
        data = os.path.dirname(gateway.db)
        login = log_in(gateway, secrets)
        administer(gateway, secrets)
        register_webhooks(gateway, secrets, login)
        fail_logins(gateway, secrets)
        external = issuer.token()
        secrets.add("a token of an external issuer", external)
        stranger = gateway.connect()
        stranger.headers["Authorization"] = "Bearer " + external
        stranger.call("GET", "/v1/business/association/all")
        pay(gateway, login, secrets)
        page = os.path.join(folder, "metrics.page")
        with open(page, "w", encoding="utf-8") as file:
            file.write(read_metrics(gateway, metrics_token))
        with open(os.path.join(data, "master.key"), encoding="ascii") as file:
            secrets.add("the master key", file.read().strip())
        wait_until_settled(gateway)
        faults = modes(data, {"directory": 0o700, "file": 0o600})
        # Search while the server runs: the write-ahead log contains the latest writes.
        kept = os.path.join(folder, "kept")
        os.mkdir(kept)
        for name in os.listdir(data):
            path = os.path.join(data, name)
            if os.path.isdir(path):  # the demo's backups
                shutil.copytree(path, os.path.join(kept, name))
            elif not stat.S_ISSOCK(os.lstat(path).st_mode):
                shutil.copy(path, kept)
        backups = back_up(gateway, folder)
        with open(f"/proc/{gateway.server_pid()}/cmdline", "rb") as source, \
                open(os.path.join(kept, "cmdline"), "wb") as target:
            target.write(source.read())
        if gateway.stop() != 0:
            faults.append("the server did not stop cleanly")
        faults += audit(gateway.db, settled=True)
        # Stored on purpose: the master key, and the credentials that the demo shows again at its next start.
        private = ("master.key", "ledger.db.demo.json")
        paths = [os.path.join(where, name) for top in (kept, data) for where, _, names in os.walk(top)
                 for name in sorted(names) if name not in private]
        paths += [*backups, gateway.log, page, *(os.path.join(logs, name) for name in sorted(os.listdir(logs)))]
        faults += request_log_faults(os.path.join(data, "ledger.requests.db"))
        if os.path.getsize(os.path.join(logs, "coffer.log")) < 10_000:
            faults.append("there was no log to search")
        faults += [f"{what} is in {path}" for what, path in secrets.find(paths)]
        for where in (kept, data):
            if not any(os.path.getsize(os.path.join(where, name)) > 100_000 for name in os.listdir(where)):
                faults.append("there were no files to search")
        with open(binary, "rb") as file:
            faults += sqlite_faults(file.read())
        judge_faults(faults)
        planted = os.path.join(folder, "control")
        os.mkdir(planted, 0o700)
        control(secrets, data, planted, binary)
        looked = sum(os.path.getsize(path) for path in paths)
        print(f"count: searched {len(paths)} files ({looked / 2**20:.1f} MiB) for {len(secrets.known)} secrets")
        print("control: each planted secret was found in four forms, and so were a wrong mode and a wrong SQLite")
        print("leaked_secrets: none found; correct modes; one SQLite, with its fixes")


if __name__ == "__main__":
    main()
