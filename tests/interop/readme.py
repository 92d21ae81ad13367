#!/usr/bin/env -S PYTHONPATH=tests python3 -B
"""A new user with only the README: from the demo to the first settled payment, the admin page, events on their own
machine, and a gateway set up by hand. Every command comes from the README."""

import json
import os
import re
import sys
import textwrap
import time

import documents
from harness.calls import fetch
from harness.machine import ROOT, binary
from harness.receiver import Receiver
from harness.report import check
from harness.terminal import Home, alone

README = "README.md"
MINUTES_PROMISED = 5
# Texts of the demo, and the placeholders of the README that stand for them.
OWN = ((r"ak_[0-9a-f]+", "ak_..."), (r"app_[0-9a-f]+", "app_..."), (r"sk_[0-9a-f]+", "sk_..."),
       (r'"[0-9a-f]{8}-[0-9a-f-]{27}"', '"..."'), (r"demo-[0-9a-f]{8}", "first-payment"))

# A numbered command of the demo's text, which is indented below its sentence.
STEP = re.compile(r"(?m)^\d\. .*\n\n((?:  .*\n)+)")


def commands_only(text):
    """The commands without white space, because the demo breaks lines at other places."""
    return "".join(text.split())


def pasted(home, shell, *calls):
    """What a terminal with this shell shows after the commands were pasted."""
    path = home.path("pasted")
    with open(path, "w", encoding="utf-8") as file:
        file.write("".join(calls))
    return home.run(f"{shell} -i < {path} 2>&1")


def first_payment(home, mine):
    began = time.monotonic()
    demo = home.start(mine.take(README, "./dev demo\n"), ROOT)
    demo.says(r"\n3\. (.|\n)*\n\n.*\n")
    admin = demo.says(r"admin +(http://127.0.0.1:8080/admin/) +user (\S+), password (\S+)")
    calls = [textwrap.dedent(block) for block in STEP.findall(demo.printed)]
    shown = [mine.take(README, start) for start in ("KEY=", "curl -s http", "curl -s 'http")]
    own = list(calls)
    for pattern, placeholder in OWN:
        own = [re.sub(pattern, placeholder, call) for call in own]
    check("the demo prints the commands that the README shows", list(map(commands_only, shown))
          == list(map(commands_only, own)), own)
    check("without comments", not documents.comments_in("".join(calls)), calls)
    token, send, look = calls
    answer = home.run(token + send)
    check("the payment is accepted", '"status":"accepted"' in answer, answer)
    for shell in ("bash --norc", "dash", "zsh -f"):
        said = pasted(home, shell, token, send)
        check(f"pasted into {shell}, too", '"isIdempotent":true' in said, said)
    while '"status":"succeeded"' not in (found := home.run(token + look)):
        if time.monotonic() > began + 60 * MINUTES_PROMISED:
            sys.exit("it is not settled: " + found)
    took = time.monotonic() - began
    check(f"from ./dev demo to a settled payment: {took:.1f} s without the build",
          took < 60 * MINUTES_PROMISED)
    again = home.run(token + send)
    check("a repeated request returns the same payment", '"isIdempotent":true' in again, again)
    other = home.run(token + documents.replaced(send, {'"12.50"': '"12.51"'}))
    check("a repeated request with another amount is a conflict that names the field",
          "transaction-id-conflict" in other and '"amount"' in other, other)
    check("the admin page is at the printed address", fetch(admin[1]).status == 200)
    check("Ctrl-C stops it", demo.stop() == 0)
    return re.search(r"ak_[0-9a-f]+", token)[0]


def keep(folder, delivery):
    """The reader's own receiver: stores the last delivery in files."""
    for name, content in (("saved.txt", delivery.head), ("saved.json", delivery.body)):
        with open(os.path.join(folder, name), "wb") as file:
            file.write(content)
    return "ok"


def events(home, mine, key):
    demo = home.start(mine.take(README, "./dev demo --json"), ROOT)
    facts = json.loads(demo.says(r'^\{"baseUrl".*\}$')[0])
    check("after a restart, the demo has the same keys", facts["apiKey"] == key)
    receiver = Receiver(lambda delivery: keep(home.folder, delivery), port=3000)
    listener = home.start(mine.take(README, "coffer listen").rstrip())
    trigger, listing, verify = mine.take(README, "coffer trigger").splitlines()
    secret = listener.says(r"whsec_\S+")[0]
    home.run(trigger)
    receiver.wait_for(1)
    shown = home.run(listing)
    check("events list shows the payment", "payment.succeeded" in shown, shown)
    show = re.search(r"`(events show ID)`", documents.read(README))[1]
    event = json.loads(home.run("coffer events list --json"))["data"][-1]["id"]
    shown = home.run("coffer " + documents.replaced(show, {"ID": event}))
    check("events show prints the body", '"test":true' in shown.replace(" ", ""), shown)
    verify = documents.replaced(verify, {"whsec_...": secret})
    shown = home.run(verify)
    check("webhook verify accepts the delivery", "webhook-signature" in shown, shown)
    with open(os.path.join(home.folder, "saved.json"), "ab") as file:
        file.write(b" ")
    said = home.run(verify, code=1)
    check("webhook verify explains why it rejects a changed delivery", "differs from the signed one" in said, said)
    listener.stop()
    check("Ctrl-C stops the demo", demo.stop() == 0)


def production_payment(home, mine, secrets):
    """docs/install.md, from the credentials of the application on: in every shell, the last command prints that a
    payment of production money succeeded."""
    INSTALL = "docs/install.md"
    check("the asset is the one of the README", "coffer " + mine.take(INSTALL, "coffer asset add").split(" ", 1)[1].rstrip()
          in documents.read(README))
    login, fund, pay = (mine.take(INSTALL, start) for start in ("BASE=", "coffer wallet fund", "RECORD="))
    values = {text: re.search(text.replace("...", r"[0-9a-f]+"), secrets)[0] for text in ("ak_...", "app_...", "sk_...")}
    for number, shell in enumerate(("bash", "dash", "zsh")):
        script = documents.replaced(login, values) + fund + pay
        for once in ("first-payment", "BANK-2026-11-20-881"):
            script = documents.replaced(script, {once: f"{once}-{number}"})
        path = home.path("payment.sh")
        with open(path, "w", encoding="utf-8") as file:
            file.write(script)
        said = home.run(f"COFFER_DB={home.path('by-hand', 'coffer.db')} {shell} {path}")
        check(f"in {shell}, the production payment succeeds", said.rstrip().endswith("\nsucceeded"), said)
    for block in mine.take_all(documents.INLINE, INSTALL):
        check(f"{block.text} is a command", block.text in ("coffer serve --init", "coffer serve", "coffer init"), block.text)


def by_hand(home, mine):
    text = documents.replaced(mine.take(README, "build/release-static/coffer init"),
                              {"/var/lib/coffer/": home.path("by-hand") + "/"})
    init, asset, association, application, serve = text.replace("\\\n", "").splitlines()
    home.run(init, folder=ROOT)
    home.run(asset, folder=ROOT)
    made = home.run(association, folder=ROOT)
    found = re.search(r"[0-9a-f]{8}-[0-9a-f-]{27}", made)
    check("an association has an id", found, made)
    secrets = home.run(documents.replaced(application, {"ID": found[0]}), folder=ROOT)
    check("an application has secrets", "sk_" in secrets and "ak_" in secrets, secrets)
    server = home.start(serve, ROOT)
    link = server.says(r"http://127\.0\.0\.1:8081/admin/\S*claim=[\w-]+")[0]
    check("serve prints a link to the admin page", fetch(link.partition("#")[0]).status == 200)
    check("and serves", fetch("http://127.0.0.1:8080/healthz").status == 200)
    production_payment(home, mine, secrets)
    check("Ctrl-C stops the server", server.stop() == 0)


def main():
    alone()
    mine = documents.Mine("interop/readme")
    with Home(binary()) as home:
        key = first_payment(home, mine)
        events(home, mine, key)
        by_hand(home, mine)
    mine.end()


main()
