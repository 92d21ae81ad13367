"""A gateway set up by the operator documents: served, with a separate listener for the admin page."""

import json
import os
import sys
import time

from harness.calls import fetch
from harness.report import check
from harness.server import Elsewhere
from harness.tenant import Tenant


class Served:
    """`coffer serve` in a Home, with a tenant that has made payments."""

    def __init__(self, home, settings):
        self.home = home
        os.makedirs(home.path("config", "coffer"))
        with open(home.path("config", "coffer", "coffer.toml"), "w", encoding="ascii") as file:
            file.write(settings)
        home.run("coffer init")
        self.serve()
        self.command("asset", "add", "USDC", "--name", "US dollar")
        self.shop = Tenant.create(Elsewhere("127.0.0.1", 8080, self.command), "Acme Ltd")
        self.pay("first")

    def command(self, *words):
        return json.loads(self.home.run("coffer " + " ".join(f"'{word}'" for word in words) + " --json"))

    def serve(self, command="coffer serve"):
        self.server = self.home.start(command)
        for _ in range(600):
            try:
                if fetch("http://127.0.0.1:8080/healthz").status == 200:
                    return
            except OSError:
                pass
            time.sleep(0.05)
        sys.exit("the server does not start: " + self.server.printed)

    def stop(self):
        check("the server exits with 0", self.server.stop() == 0, self.server.printed)

    def pay(self, name):
        self.shop.pay(name)
        self.shop.wait_settled(name)
