"""A gateway as the documents for operators leave it: served, with its own listener for the admin page."""

import json
import os
import sys
import time

from checks import check
from terminal import get
from shop import Shop


class Served:
    """`coffer serve` in a Home, with a tenant who has paid."""

    def __init__(self, home, settings):
        self.home = home
        os.makedirs(home.path("config", "coffer"))
        with open(home.path("config", "coffer", "coffer.toml"), "w", encoding="ascii") as file:
            file.write(settings)
        home.run("coffer init")
        self.serve()
        self.shop = Shop(lambda *words: json.loads(home.run(
            "coffer " + " ".join(f"'{word}'" for word in words) + " --json")))
        self.pay("first")

    def serve(self, command="coffer serve"):
        self.server = self.home.start(command)
        for _ in range(600):
            try:
                if get("http://127.0.0.1:8080/healthz")[0] == 200:
                    return
            except OSError:
                pass
            time.sleep(0.05)
        sys.exit("the server does not come up: " + self.server.printed)

    def stop(self):
        check("the server ends well", self.server.stop() == 0, self.server.printed)

    def pay(self, name):
        connection = self.shop.login()
        self.shop.pay(connection, name)
        self.settled(name)

    def settled(self, name):
        connection = self.shop.login()
        for _ in range(200):
            if self.shop.status_of(connection, name) == "succeeded":
                return
            time.sleep(0.05)
        sys.exit(name + " is not settled")
