#!/usr/bin/env -S PYTHONPATH=tests python3 -B
"""coffer behind Debian's nginx and Caddy, with the shipped configuration files, as docs/tls.md describes."""

import base64
import collections
import concurrent.futures
import json
import re
import signal
import socket
import subprocess
import sys
import time

import documents
from harness.machine import binary, program
from harness.receiver import Receiver
from harness.report import check
from harness.terminal import Home, alone
from harness.tls import NAME, certificate, connect, rejected, trusting
from served import Served

MIB = 1 << 20
LOGINS_PER_MIN = 20
BULK = "/v1/beneficiaries/bulk"


# --- The proxies --------------------------------------------------------------------------------------

class Proxy:
    """Runs one of the two proxies with a configuration until the block ends."""

    def __init__(self, home, command, ready_within_s=30):
        self.log = open(home.path("proxy.log"), "ab")
        self.process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=self.log, stderr=self.log,
                                        cwd=home.folder, env=home.environment)
        end = time.monotonic() + ready_within_s
        while time.monotonic() < end and self.process.poll() is None:
            with socket.socket() as probe:
                if probe.connect_ex(("127.0.0.1", 443)) == 0:
                    return
            time.sleep(0.02)
        sys.exit("the proxy does not start: " + open(self.log.name, encoding="utf-8").read())

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.send_signal(signal.SIGTERM)
        self.process.wait(30)
        self.log.close()


def nginx(home, certificates, **changes):
    """The shipped file, where Debian's nginx.conf includes it."""
    site = documents.read("packaging/examples/nginx.conf").replace("/etc/ssl/coffer", certificates)
    site = documents.replaced(site, changes.get("changed", {}))
    with open(home.path("site.conf"), "w", encoding="utf-8") as file:
        file.write(site)
    folders = "".join(f"{kind}_temp_path {home.path(kind)}; "
                      for kind in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi"))
    with open(home.path("nginx.conf"), "w", encoding="utf-8") as file:
        file.write(f"user root; daemon off; pid {home.path('nginx.pid')}; events {{}}\n"
                   f"http {{ access_log off; {folders} include {home.path('site.conf')}; }}\n")
    return Proxy(home, [program("nginx"), "-e", "stderr", "-c", home.path("nginx.conf")])


def caddy(home, certificates, text):
    """With a local certificate, because fetching one requires a public name."""
    own = f"tls {certificates}/fullchain.pem {certificates}/privkey.pem"
    text = "{\n\tadmin off\n}\n" + documents.replaced(text, {NAME + " {\n": f"{NAME} {{\n\t{own}\n"})
    with open(home.path("Caddyfile"), "w", encoding="utf-8") as file:
        file.write(text)
    return Proxy(home, [program("caddy"), "run", "--adapter", "caddyfile", "--config", home.path("Caddyfile")])


# --- In front of coffer -------------------------------------------------------------------------------

def pays(gateway, context, name):
    """Pays over one connection, which stays open."""
    check("a certificate of another authority is rejected", rejected(trusting(
        certificate(gateway.home.path("other"), NAME)[0])))
    connection = connect(context, gateway.shop.login().headers)
    gateway.shop.pay(name, connection=connection)
    kept = connection.http.sock
    gateway.shop.wait_settled(name, connection=connection)
    check("pays over TLS, and sees it settled, on one connection",
          gateway.shop.status_of(name, connection) == "succeeded" and connection.http.sock is kept)
    said = gateway.home.run(f"curl --silent --fail --http2 --write-out ' %{{http_version}}' --cacert "
                            f"{gateway.home.path('tls', 'fullchain.pem')} --resolve {NAME}:443:127.0.0.1 "
                            f"https://{NAME}/livez")
    check("HTTP/2 is spoken", said.endswith(" 2"), said)
    return connection


def bulk(connection, size):
    """The status of a bulk request of exactly `size` bytes, and whether coffer itself responded."""
    text = json.dumps({"beneficiaries": [{"individual": {"firstName": "Amina", "lastName": "Otieno"}}]})
    try:
        connection.http.request("POST", BULK, text.ljust(size), connection.headers)
        answer = connection.http.getresponse()
        answer.read()
    except OSError:  # the proxy closed the connection instead of responding
        connection.http.close()
        return 413, False
    return answer.status, answer.getheader("X-Request-Id") is not None


def carries_bulk(connection):
    check("a bulk request of 1 MiB passes", bulk(connection, MIB) == (200, True))
    check("coffer itself rejects a larger one", bulk(connection, MIB + 1) == (413, True))


def hides_the_admin_page(connection):
    for path in ("/admin/", "/admin/api/session", "/metrics"):
        status, _ = connection.call("GET", path)
        check(f"{path} is not reachable through the proxy", status == 404, status)
    upgrade = {**connection.headers, "Connection": "Upgrade", "Upgrade": "websocket",
               "Sec-WebSocket-Version": "13", "Sec-WebSocket-Key": base64.b64encode(b"k" * 16).decode()}
    connection.http.request("GET", "/v1/wallets", headers=upgrade)
    answer = connection.http.getresponse()
    answer.read()
    check("the proxy does not switch protocols", answer.status == 200, answer.status)


def signs_for_the_name(context, gateway):
    key = gateway.shop.keys["publicKey"]
    status, challenge = connect(context).call("GET", "/v1/public/auth-connect?account=" + key)
    check("the challenge login signs for the name that clients use", status == 200
          and (NAME + " auth").encode() in base64.b64decode(challenge["transaction"]), challenge)


def guess(context, source, count, mark):
    """Statuses of failed logins, each with a different client, from one address that claims to be others."""
    return [connect(context, {"X-Forwarded-For": f"192.0.2.{number}"}, source).call("POST", "/v1/auth/token", {
        "clientId": f"app_{mark}{number:021x}", "clientSecret": "sk_" + "0" * 64})[0]
            for number in range(count)]


def held_against(context, gateway, marks, paused):
    """docs/tls.md, "What a proxy changes": whether failed logins from one address pause those of another. The right
    secret is never paused."""
    right, status = {name: gateway.shop.keys[name] for name in ("clientId", "clientSecret")}, 401
    for mark in marks:  # the pause is a second, and may be over by then on a busy machine
        statuses = guess(context, "127.0.1.1", LOGINS_PER_MIN + 2, mark)
        if 429 not in statuses:
            return False, statuses
        status = guess(context, "127.0.2.1", 1, mark + "f")[0]
        if (status == 429) == paused:
            break
    accepted, _ = connect(context, source="127.0.1.1").call("POST", "/v1/auth/token", right)
    return (status == 429) == paused and status in (401, 429) and accepted == 200, (status, accepted)


PAUSES_S = (0.5, 1.9, 2.0, 2.1, 2.9, 3.0, 3.1, 3.5)  # on both sides of 2 s in the proxy and 3 s in coffer


def pays_after_pauses(gateway, context, name):
    """Eight clients pay at once after each pause, each over a connection of its own, which stays open."""
    connections = [connect(context, gateway.shop.login().headers) for _ in range(8)]
    statuses = collections.Counter()
    body = {"sendingAssetCode": "USDC", "amount": "1", "sourceWalletId": gateway.shop.wallets[0],
            "destinationWalletId": gateway.shop.wallets[1]}

    def pay(number):
        status, _ = connections[number % 8].call("POST", "/v1/payments/p2p/own", {
            **body, "transactionId": f"pause-{name}-{number}"})
        statuses[status] += 1
    for round_number, pause_s in enumerate((0, *PAUSES_S)):
        time.sleep(pause_s)
        with concurrent.futures.ThreadPoolExecutor(8) as pool:
            list(pool.map(pay, range(round_number * 8, round_number * 8 + 8)))
    check(f"{name}: payments after pauses around both idle times are all accepted",
          dict(statuses) == {202: 8 * (len(PAUSES_S) + 1)}, dict(statuses))


def closes_before_coffer():
    """The shipped idle times are shorter than coffer's own."""
    idle_s = int(re.search(r"`idle_timeout_s` \|[^|]*\| (\d+)", documents.read("docs/configuration.md")).group(1))
    for file, pattern in (("nginx.conf", r"keepalive_timeout (\d+)(s);"), ("Caddyfile", r"\tkeepalive (\d+)(m)\n")):
        number, unit = re.search(pattern, documents.read("packaging/examples/" + file)).groups()
        shipped_s = int(number) * (60 if unit == "m" else 1)
        check(f"{file} closes idle connections after {shipped_s} s, before coffer does after {idle_s} s",
              shipped_s + 60 <= idle_s)


# --- In front of a dying backend ----------------------------------------------------------------------

class Dying(Receiver):
    """Replaces coffer: responds to GET, and reads a payment completely and hangs up. Counts requests."""

    def __init__(self):
        super().__init__(lambda delivery: "ok" if delivery.method == "GET" else "hang_up", port=8080)

    def judge(self, context):
        """Returns (connections for 20 requests, how often one payment was sent, its status)."""
        connections, requests = len(self.accepted), len(self.snapshot())
        connection = connect(context)
        for _ in range(20):
            connection.http.request("GET", "/livez")
            connection.http.getresponse().read()
        took = len(self.accepted) - connections
        # On a reused connection, where proxies tend to retry.
        connection.http.request("POST", "/v1/payments/p2p/own", '{"amount":"1"}', connection.headers)
        answer = connection.http.getresponse()
        answer.read()
        sent = sum(one.method == "POST" for one in self.snapshot()[requests:])
        return took, sent, answer.status


def never_twice(context, start_nginx, start_caddy, shipped):
    dying = Dying()
    for name, proxy in (("nginx", start_nginx), ("Caddy", lambda: start_caddy(shipped))):
        with proxy():
            took, sent, status = dying.judge(context)
        check(f"{name}: 20 requests over {took} connection", took == 1, took)
        check(f"{name}: if coffer dies, a payment is sent once and gets {status}",
              (sent, status) == (1, 502), sent)
    # Controls: without the setting in the file, the test detects each difference.
    with start_nginx({"proxy_next_upstream off": "proxy_next_upstream error non_idempotent"}):
        _, sent, _ = dying.judge(context)
    check(f"control: with retries, nginx sends the payment {sent} times", sent > 1, sent)
    with start_nginx({"keepalive 64;": ""}):
        took, _, _ = dying.judge(context)
    check(f"control: without keepalive, 20 requests use {took} connections", took == 20, took)
    dying.stop()


# --- All ----------------------------------------------------------------------------------------------

def main():
    for name in ("nginx", "caddy"):
        program(name)
    alone()
    mine = documents.Mine("interop/proxies")
    short, shipped = mine.take("docs/tls.md", NAME + " {"), documents.read("packaging/examples/Caddyfile")
    with Home(binary()) as home:
        context = trusting(certificate(home.path("tls"), NAME)[0])

        def start_nginx(changed=None):
            return nginx(home, home.path("tls"), changed=changed or {})

        def start_caddy(text):
            return caddy(home, home.path("tls"), text)

        gateway = Served(home, f'home_domain = "{NAME}"\nrate_limit_login_per_min = {LOGINS_PER_MIN}\n'
                               + mine.take("docs/tls.md", "trusted_proxies"))
        for name, proxy in (("nginx", start_nginx), ("Caddy", lambda: start_caddy(shipped)),
                            ("Caddy, in short", lambda: start_caddy(short))):
            print("         behind " + name)
            with proxy():
                connection = pays(gateway, context, name.replace(" ", "-").replace(",", ""))
                carries_bulk(connection)
                hides_the_admin_page(connection)
                signs_for_the_name(context, gateway)
                check("failed logins count for the caller's real address, whatever it claims",
                      *held_against(context, gateway, "ab", False))
        print("         behind nginx")
        with start_nginx({"client_max_body_size 2m;": "client_max_body_size 512k;"}):
            check("control: with a smaller limit, the proxy rejects the bulk request",
                  bulk(connect(context, connection.headers), MIB) == (413, False))
        with start_nginx({"proxy_set_header X-Forwarded-For $remote_addr;": "proxy_set_header X-Forwarded-For '';"}):
            check("control: if the proxy does not forward the client's address, failed logins pause all clients",
                  *held_against(context, gateway, "bcdef", True))
        gateway.stop()
        closes_before_coffer()
        with open(home.path("config", "coffer", "coffer.toml"), "a", encoding="ascii") as file:
            file.write("idle_timeout_s = 3\n")
        gateway.serve()
        with start_nginx({"keepalive_timeout 60s;": "keepalive_timeout 2s;"}):
            pays_after_pauses(gateway, context, "nginx")
        with start_caddy(documents.replaced(shipped, {"keepalive 2m": "keepalive 2s"})):
            pays_after_pauses(gateway, context, "Caddy")
        gateway.stop()
        never_twice(context, start_nginx, start_caddy, shipped)
    mine.end()


main()
