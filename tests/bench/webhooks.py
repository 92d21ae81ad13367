"""Delivering events to a receiver that needs very little processor time."""

import contextlib
import time

from harness.calls import fetch
from harness.tenant import Tenant
from machine import Helper, Server, say, wrk

EVENTS = 3  # per payment between wallets: initiated, processing, succeeded
ENDPOINTS = 50
IN_FLIGHT = 16
PACED = "../crash/steady.lua"
PACE = 20  # payments a second on an almost idle machine


class Receiver(Helper):
    def __init__(self, bench):
        super().__init__(bench, "bench_receiver")
        self.url = f"http://127.0.0.1:{self.port}/hook"

    def arrived(self):
        """The receiver's figures since the last call."""
        return fetch(self.url).json()

    def drain(self, expected, seconds):
        """Waits for a number of events, or until a time limit. Returns the number and the time."""
        began = last = time.monotonic()
        count = 0
        while count < expected and time.monotonic() - began < seconds:
            time.sleep(0.05)
            came = self.arrived()["count"]
            count += came
            last = time.monotonic() if came else last
        return count, last - began


@contextlib.contextmanager
def listened(bench, name, **settings):
    """A server that can deliver to this machine, and the receiver."""
    with Receiver(bench) as receiver:
        with bench.server(name, webhook_allow_targets="127.0.0.1", **settings) as server:
            yield server, receiver


def register(connection, receiver):
    status, answer = connection.call("POST", "/v1/webhooks", {"url": receiver.url, "eventTypes": ["*"]})
    if status != 201:
        raise RuntimeError(f"registering a webhook: {status} {answer}")


def run(bench, table):
    one_endpoint(bench, table)
    many_endpoints(bench, table)
    latency(bench, table)


def one_endpoint(bench, table):
    say(f"payments without a webhook and with one, {bench.seconds} s each, and the remaining deliveries")
    with listened(bench, "one-webhook", webhook_in_flight=IN_FLIGHT) as (server, receiver):
        load, without = server.settled_load(bench.seconds, bench.connections)
        register(server.login(), receiver)
        began = time.monotonic()
        beside_load, beside = server.settled_load(bench.seconds, bench.connections)
        during, meanwhile = time.monotonic() - began, receiver.arrived()["count"]
        left, took = receiver.drain(EVENTS * beside_load.requests - meanwhile, bench.seconds)
    bench.errors += load.errors + beside_load.errors
    table.add("payments with a webhook, settled", beside, "/s")
    table.add("of those without", beside / without, "", goal=0.6)
    table.add("deliveries meanwhile", meanwhile / during, "/s")
    # If almost no deliveries remained, the rate means nothing.
    rate = max(meanwhile / during, left / took if took > 0.5 else 0)
    table.add(f"deliveries to one endpoint, {IN_FLIGHT} at a time", rate, "/s", goal=4_000)


def many_endpoints(bench, table):
    say(f"payments and deliveries with {ENDPOINTS} endpoints, {bench.seconds} s")
    with listened(bench, "many-webhooks") as (server, receiver):
        callers = []
        for i in range(ENDPOINTS):
            member = Tenant.create(server, f"member {i}")
            connection = member.login()
            register(connection, receiver)
            callers += Server.caller_of(connection, *member.wallets)
        began = time.monotonic()
        load, settled = server.settled_load(bench.seconds, bench.connections, callers=callers)
        bench.errors += load.errors
        during, count = time.monotonic() - began, receiver.arrived()["count"]
        left, took = receiver.drain(EVENTS * load.requests - count, bench.seconds)
        table.add(f"deliveries to {ENDPOINTS} endpoints, one at a time each", (count + left) / (during + took),
                  "/s", goal=2_000)
        table.add("payments meanwhile, settled", settled, "/s")


def latency(bench, table):
    say(f"latency of events, {bench.seconds} s")
    with listened(bench, "latency") as (server, receiver):
        register(server.login(), receiver)
        wrk(server.url(""), bench.seconds, 1, PACED, *server.caller, "paced", PACE)
        time.sleep(1)
        came = receiver.arrived()
        table.add(f"events, idle but for {PACE} payments a second", came["count"], "")
        table.add("event to arrival, p50", came["p50Ms"], "ms")
        table.add("event to arrival, p99", came["p99Ms"], "ms", goal=50, at_most=True)
