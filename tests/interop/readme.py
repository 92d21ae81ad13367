"""See readme.sh."""

import http.server
import json
import os
import re
import sys
import textwrap
import threading
import time

import documents
from checks import check
from terminal import ROOT, Home, alone, get

README = "README.md"
MINUTES_PROMISED = 5
# Which of the demo's own texts stands for which words of the README.
OWN = ((r"ak_[0-9a-f]+", "ak_..."), (r"app_[0-9a-f]+", "app_..."), (r"sk_[0-9a-f]+", "sk_..."),
       (r'"[0-9a-f]{8}-[0-9a-f-]{27}"', '"..."'), (r"demo-[0-9a-f]{8}", "first-payment"))


def commands_only(text):
    """Without comments and white space: the demo breaks lines elsewhere."""
    return "".join(re.sub(r"^ *#.*$", "", text, flags=re.M).split())


def step(calls, number):
    """One of the three, with what stands before the next."""
    return re.search(rf"# {number}\..*?(?=# {number + 1}\.|\Z)", calls, re.S)[0]


def first_payment(home, mine):
    began = time.monotonic()
    demo = home.start(mine.take(README, "./dev demo\n"), ROOT)
    demo.says(r"# 3\.(.|\n)*\n\n")
    admin = demo.says(r"admin +(http://127.0.0.1:8080/admin/) +user (\S+), password (\S+)")
    calls = textwrap.dedent(demo.printed[demo.printed.index("  # 1."):])
    shown, own = mine.take(README, "# 1. A token"), calls
    for pattern, placeholder in OWN:
        own = re.sub(pattern, placeholder, own)
    check("the demo prints the commands that the README shows", commands_only(shown) == commands_only(own),
          commands_only(own))
    token = step(calls, 1)
    answer = home.run(token + step(calls, 2))
    check("the payment is accepted", '"status":"accepted"' in answer, answer)
    while '"status":"succeeded"' not in (found := home.run(token + step(calls, 3))):
        if time.monotonic() > began + 60 * MINUTES_PROMISED:
            sys.exit("it is not settled: " + found)
    took = time.monotonic() - began
    check(f"from ./dev demo to a settled payment: {took:.1f} s without the build",
          took < 60 * MINUTES_PROMISED)
    again = home.run(token + step(calls, 2))
    check("sent again it is the same payment", '"isIdempotent":true' in again, again)
    other = home.run(token + documents.replaced(step(calls, 2), {'"12.50"': '"12.51"'}))
    check("with another amount it is a conflict that names the field",
          "transaction-id-conflict" in other and '"amount"' in other, other)
    check("the admin page is at the address it prints", get(admin[1])[0] == 200)
    check("Ctrl-C stops it", demo.stop() == 0)
    return re.search(r"ak_[0-9a-f]+", calls)[0]


class Receiver:
    """What the reader is writing: keeps the last delivery as files, as it arrived."""

    def __init__(self, folder, port):
        outer = self
        self.count = 0

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_POST(self):
                body = self.rfile.read(int(self.headers["Content-Length"]))
                lines = "".join(f"{name}: {value}\n" for name, value in self.headers.items())
                for name, content in (("saved.txt", lines.encode()), ("saved.json", body)):
                    with open(os.path.join(folder, name), "wb") as file:
                        file.write(content)
                outer.count += 1
                self.send_response(204)
                self.end_headers()

            def log_message(self, *_):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", port), Handler)
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def wait(self, count):
        end = time.monotonic() + 30
        while self.count < count and time.monotonic() < end:
            time.sleep(0.02)
        check(f"delivery {count} arrives", self.count >= count)


def events(home, mine, key):
    demo = home.start(mine.take(README, "./dev demo --json"), ROOT)
    facts = json.loads(demo.says(r'^\{"baseUrl".*\}$')[0])
    check("started again it has the same keys", facts["apiKey"] == key)
    receiver = Receiver(home.folder, 3000)
    listen, trigger, listing, verify = mine.take(README, "coffer listen").splitlines()
    listener = home.start(listen)
    secret = listener.says(r"whsec_\S+")[0]
    home.run(trigger)
    receiver.wait(1)
    shown = home.run(listing)
    check("events list shows the payment", "payment.succeeded" in shown, shown)
    resend = re.search(r"`(events resend ID)`", listing)[1]
    event = json.loads(home.run("coffer events list --json"))[-1]["id"]
    home.run("coffer " + documents.replaced(resend, {"ID": event}))
    verify = documents.replaced(verify, {"whsec_...": secret})
    shown = home.run(verify)
    check("webhook verify finds it genuine", "webhook-signature" in shown, shown)
    with open(os.path.join(home.folder, "saved.json"), "ab") as file:
        file.write(b" ")
    said = home.run(verify, code=1)
    check("and says why not, once it is changed", "differs from the signed one" in said, said)
    listener.stop()
    check("Ctrl-C stops the demo", demo.stop() == 0)


def by_hand(home, mine):
    text = documents.replaced(mine.take(README, "build/release-static/coffer init"),
                              {"/var/lib/coffer/": home.path("by-hand") + "/"})
    init, association, application, serve = text.splitlines()
    home.run(init, folder=ROOT)
    made = home.run(association, folder=ROOT)
    found = re.search(r"[0-9a-f]{8}-[0-9a-f-]{27}", made)
    check("an association has an id", found, made)
    secrets = home.run(documents.replaced(application, {"ID": found[0]}), folder=ROOT)
    check("an application has its secrets", "sk_" in secrets and "ak_" in secrets, secrets)
    server = home.start(serve, ROOT)
    link = server.says(r"http://127\.0\.0\.1:8081/admin/\S*claim=[\w-]+")[0]
    check("serve prints a link into the admin page", get(link.partition("#")[0])[0] == 200)
    check("and serves", get("http://127.0.0.1:8080/healthz")[0] == 200)
    check("Ctrl-C stops the server", server.stop() == 0)


def main(binary):
    alone()
    mine = documents.Mine("interop/readme")
    with Home(binary) as home:
        key = first_payment(home, mine)
        events(home, mine, key)
        by_hand(home, mine)
    mine.end()


main(*sys.argv[1:])
