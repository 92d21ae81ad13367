#!/usr/bin/env -S PYTHONPATH=tests python3 -B
# ctest: cost=100
"""The admin page of the release build in a real browser: every screen and every action, by keyboard, in light and dark
themes, on wide and narrow screens, checked by axe; scripts in free texts stay text; permissions are enforced. admin.mjs
is the browser part. This part starts the demo, and a provider and a webhook receiver whose responses contain scripts in
every text. COFFER_SHOTS=folder keeps a screenshot of every screen."""

import itertools
import json
import os
import sys
import tempfile

from harness.machine import ROOT, binary, chromium, node_packages
from harness.node import walk_beside_demo
from harness.receiver import Receiver, Reply

SCRIPT = '<img src=x onerror="window.owned=true"><script>window.owned=true</script>'


def as_json(status, body):
    return Reply(status, "Content-Type: application/json\r\n", json.dumps(body).encode())


def provider(request):
    """Quotes one to one. Rejects payouts to 1102 with a script as the reason, and leaves others pending with a script
    as the reference."""
    asked = json.loads(request.body or "{}")
    if request.target == "/quotes":
        return as_json("200 OK", {"sendAmount": asked["amount"], "receiveAmount": asked["amount"], "rate": "1",
                                  "fee": "0.00"})
    if request.target == "/payouts" and asked["recipient"]["accountNumber"].endswith("1102"):
        return as_json("422 Unprocessable Content", {"code": "account_closed", "message": SCRIPT})
    return as_json("202 Accepted", {"id": asked.get("id") or request.target.split("/")[2], "status": "pending",
                                    "providerReference": SCRIPT})


def failing_receiver():
    reasons = itertools.cycle(("Internal Server Error", SCRIPT))
    return Receiver(lambda _: Reply(f"500 {next(reasons)}", f"Content-Type: text/html\r\nX-Answer: {SCRIPT}\r\n",
                                    SCRIPT.encode()))


def main():
    program = binary()
    node_packages("browser")
    with tempfile.TemporaryDirectory() as folder:
        facts = {"browser": chromium(), "script": SCRIPT, "provider": f"http://127.0.0.1:{Receiver(provider).port}",
                 "receiver": f"http://127.0.0.1:{failing_receiver().port}"}
        return walk_beside_demo(os.path.join(ROOT, "tests/browser/admin.mjs"), program, folder, facts,
                                {"COFFER_BACKUP_DIR": os.path.join(folder, "backups"),
                                 # This sendmail accepts every message, so that a test of alerts succeeds.
                                 "COFFER_NOTIFY_SENDMAIL": "/bin/true", "COFFER_NOTIFY_FROM": "demo@bank.example",
                                 "COFFER_ALERT_EMAIL": "ops@bank.example"})


sys.exit(main())
