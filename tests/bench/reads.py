"""Reading one wallet, compared with the HTTP library returning the same bytes."""

import ceilings
from machine import say


def run(bench, table):
    say(f"GET of one wallet, {bench.seconds} s each")
    http = ceilings.http_library(bench, "/v1/wallets/one", 0)
    with bench.server("reads") as server:
        wallet = server.facts["wallets"][0]["id"]
        load = server.load(bench.seconds, bench.connections, legs=0, path="/v1/wallets/" + wallet)
        bench.errors += load.errors
        table.add("GET /v1/wallets/{id}", load.rate, "/s")
        table.add("its p99", load.p99, "ms")
        table.add("the HTTP library alone, same bytes", http.rate, "/s")
        table.add("coffer, of that", load.rate / http.rate, "", goal=0.5)
