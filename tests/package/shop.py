"""Clients of an installed service."""

import time

from harness.clients import Crowd


class Newcomers(Crowd):
    """Clients that open a connection for every payment, and detect every connection that is not served. Slow enough
    for the limits of a sandbox application."""

    PAUSE_S = 0.2

    def __init__(self, shop, count=4):
        super().__init__(count)
        self.shop = shop
        self.paid, self.trouble, self.cut = [], [], 0
        shop.login()  # one login for all: a token stays valid after a restart
        self.start()

    def work(self, number):
        turn = 0
        while not self.stopping.is_set():
            turn += 1
            time.sleep(self.PAUSE_S)
            name = f"crowd-{number}-{turn}"
            for _ in range(3):
                connection = self.shop.connect(30.0)
                try:
                    self.shop.pay(name, connection=connection)
                    self.paid.append(name)
                    break
                except ConnectionError as error:
                    if "refused" in str(error):
                        self.trouble.append(f"{name}: {error}")
                    self.cut += 1  # sent without a response: the client retries
                except AssertionError as error:
                    self.trouble.append(f"{name}: {error}")
                    break
                finally:
                    connection.http.close()
