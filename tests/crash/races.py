#!/usr/bin/env -S PYTHONPATH=tests python3 -B
"""Concurrent requests with the same transactionId create one payment; concurrent payments spend a balance once; and a
group with one bad leg applies nothing, whichever leg it is. COFFER_RACES=full: 1,000 IDs from 8 clients each, 20 times
100 payments of a whole balance, groups of 100 legs."""

import os
import tempfile
import threading
import uuid

from harness.auditor import audit
from harness.clients import MULTI, OWN, value_in, wait_until_settled
from harness.machine import binary
from harness.report import fail, judge_faults
from harness.server import Demo
from liar import Liar

TWINS = 8
SENDERS = 100
# Ways to make one leg of a group invalid: the changed members, and the expected status.
SPOILED = {"too much": ({"amount": "999999999"}, 422), "nothing": ({"amount": "0"}, 422),
           "too precise": ({"amount": "0.12345678"}, 422), "no wallet": ({"destinationWalletId": None}, 404),
           "no asset": ({"sendingAssetCode": "NOPE"}, 422),
           "to itself": ({"destinationWalletId": "source"}, 422)}


class At:
    """Connections like a Gateway's, but to another address."""

    def __init__(self, gateway, liar=None):
        self.gateway, self.liar = gateway, liar

    def login(self):
        connection = self.gateway.login()
        if self.liar:
            through = type(connection)(self.liar.host, self.liar.port)
            through.headers = connection.headers
            return through
        return connection


class Crowd:
    """Threads, each with its own connection, that act at the same moment."""

    def __init__(self, place, size):
        self.connections = [place.login() for _ in range(size)]
        self.barrier = threading.Barrier(size)

    def all_at_once(self, rounds, act):
        """Calls act(connection, number of the thread, round) in all threads at the same moment, for each round. Returns
        the results by round."""
        results = [[None] * len(self.connections) for _ in range(rounds)]

        def work(number):
            for at in range(rounds):
                self.barrier.wait(60)
                try:
                    results[at][number] = act(self.connections[number], number, at)
                except ConnectionError as error:
                    results[at][number] = 0, {"noAnswer": str(error)}
        threads = [threading.Thread(target=work, args=(number,), daemon=True)
                   for number in range(len(self.connections))]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(600)
        return results


def transfer(gateway, amount, back=False):
    pair = [gateway.wallet("Treasury"), gateway.wallet("Operations")]
    return {"sourceWalletId": pair[back], "destinationWalletId": pair[not back],
            "sendingAssetCode": "USDC", "amount": amount}


# --- Replay storm ------------------------------------------------------------------------------------


def body_of(gateway, transaction_id, at, number, differing):
    """For a differing ID, half of the twins send another amount."""
    amount = f"{at % 50 + 1}.{5 if differing and number % 2 else 0}1"
    return {"transactionId": transaction_id, **transfer(gateway, amount, bool(at % 2))}


def judge_twins(transaction_id, bodies, answers):
    """Returns the faults in the responses to one ID, and the accepted request, or None."""
    told = [(status, answer.get("transactionRecordId"), answer.get("isIdempotent"))
            for status, answer in answers]
    first = [at for at, (status, _, repeated) in enumerate(told) if status == 202 and not repeated]
    if len(first) != 1:
        return [f"{transaction_id}: {len(first)} of {len(told)} responses claim to be the first: {told}"], None
    winner, record = bodies[first[0]], told[first[0]][1]
    faults = []
    for body, (status, answer) in zip(bodies, answers):
        same = status == 202 and answer["transactionRecordId"] == record
        conflict = status == 409 and answer.get("code") == "transaction_id_conflict"
        if not (same if body == winner else conflict):
            faults.append(f"{transaction_id}: {status} {answer}")
    return faults, (winner, record)


def replay_storm(gateway, place, ids, prefix):
    """Returns (faults, the clients' facts)."""
    crowd = Crowd(place, TWINS)
    names = [f"{prefix}-{at}" for at in range(ids)]

    def act(connection, number, at):
        return connection.call("POST", "/v1/payments/" + OWN,
                               body_of(gateway, names[at], at, number, at % 2 == 1))
    faults, sent, acked = [], {}, {}
    for at, answers in enumerate(crowd.all_at_once(ids, act)):
        bodies = [body_of(gateway, names[at], at, number, at % 2 == 1) for number in range(TWINS)]
        wrong, accepted = judge_twins(names[at], bodies, answers)
        faults += wrong
        sent[names[at]] = bodies[0]
        if accepted:
            sent[names[at]], acked[names[at]] = accepted
    return faults, {"sent": sent, "acked": acked}


# --- Double spend ------------------------------------------------------------------------------------


def balance_of(connection, wallet, asset="USDC"):
    status, answer = connection.call("GET", "/v1/wallets/" + wallet)
    if status != 200:
        fail(f"wallet: {status} {answer}")
    return next(row for row in answer["balances"] if row["assetCode"] == asset)


class Watcher:
    """Reads a wallet repeatedly during the payments."""

    def __init__(self, gateway, wallet):
        self.connection, self.wallet = gateway.login(), wallet
        self.looks, self.below = 0, []
        self.ended = threading.Event()
        self.thread = threading.Thread(target=self.work, daemon=True)
        self.thread.start()

    def work(self):
        while not self.ended.is_set():
            row = balance_of(self.connection, self.wallet)
            self.looks += 1
            if any(row[key].startswith("-") for key in ("balance", "available", "held")):
                self.below.append(row)

    def stop(self):
        self.ended.set()
        self.thread.join()


def double_spend(gateway, place, rounds, prefix):
    """Returns (faults, the clients' facts, number of balance reads)."""
    wallet = gateway.wallet("Treasury")
    watcher = Watcher(gateway, wallet)
    crowd = Crowd(place, SENDERS)
    faults, facts = [], {"sent": {}, "acked": {}, "rejected": []}
    back = gateway.login()
    wait_until_settled(gateway)
    for at in range(rounds):
        whole = balance_of(back, wallet)["available"]
        body = transfer(gateway, whole)

        def act(connection, number, _, at=at, body=body):
            return connection.call("POST", "/v1/payments/" + OWN,
                                   {**body, "transactionId": f"{prefix}-{at}-{number}"})
        (answers,) = crowd.all_at_once(1, act)
        for number, (status, answer) in enumerate(answers):
            name = f"{prefix}-{at}-{number}"
            facts["sent"][name] = body
            if status == 202:
                facts["acked"][name] = answer["transactionRecordId"]
            elif status == 422 and answer["code"] == "insufficient_funds":
                facts["rejected"].append(name)
            else:
                faults.append(f"{name}: {status} {answer}")
        won = sum(status == 202 for status, _ in answers)
        if won != 1:
            faults.append(f"{won} of {SENDERS} spent the same balance")
        wait_until_settled(gateway)
        left = balance_of(back, wallet)
        if float(left["balance"]) != 0 or float(left["held"]) != 0:
            faults.append(f"the wallet still has {left}")
        name = f"{prefix}-{at}-back"
        facts["sent"][name] = transfer(gateway, whole, True)
        status, answer = back.call("POST", "/v1/payments/" + OWN,
                                   {**facts["sent"][name], "transactionId": name})
        if status == 202:
            facts["acked"][name] = answer["transactionRecordId"]
        wait_until_settled(gateway)
    watcher.stop()
    return faults + watcher.below, facts, watcher.looks


# --- A bad leg -----------------------------------------------------------------------------------------


def spoil(leg, change):
    out = {**leg, **change}
    if out["destinationWalletId"] is None:
        out["destinationWalletId"] = str(uuid.uuid4())
    elif out["destinationWalletId"] == "source":
        out["destinationWalletId"] = leg["sourceWalletId"]
    return out


def bad_legs(gateway, place, legs, prefix):
    """Makes each leg of a group invalid in each way, one at a time: nothing of the group may be applied."""
    connection = place.login()
    before = value_in(gateway), [balance_of(connection, gateway.wallet(name))["balance"]
                                 for name in ("Treasury", "Operations")]
    whole = [transfer(gateway, f"{at + 1}.5", bool(at % 2)) for at in range(legs)]
    faults, rejected = [], []
    for at in range(legs):
        for what, (change, expected) in SPOILED.items():
            name = f"{prefix}-{at}-{what.replace(' ', '-')}"
            spoiled = whole[:at] + [spoil(whole[at], change)] + whole[at + 1:]
            body = {"transactionId": name, "transfers": spoiled}
            status, answer = connection.call("POST", "/v1/payments/" + MULTI, body)
            fields = [error["field"] for error in answer.get("errors", [])]
            if status != expected or not any(field.startswith(f"transfers[{at}]") for field in fields):
                faults.append(f"{name}: {status} {answer}")
            rejected.append(name)
    after = value_in(gateway), [balance_of(connection, gateway.wallet(name))["balance"]
                                for name in ("Treasury", "Operations")]
    if before != after:
        faults.append(f"the state was {before} before and {after} after")
    return faults, {"sent": {}, "acked": {}, "rejected": rejected}


# --- Running ---------------------------------------------------------------------------------------------


def finish(gateway, faults, parts):
    wait_until_settled(gateway)
    gateway.stop()
    facts = {"sent": {}, "acked": {}, "rejected": []}
    for part in parts:
        facts["sent"] |= part["sent"]
        facts["acked"] |= part["acked"]
        facts["rejected"] += part.get("rejected", [])
    return faults + audit(gateway.db, facts, settled=True)


def run(ids, rounds, legs):
    with tempfile.TemporaryDirectory() as folder:
        gateway = Demo(binary(), folder).start()
        place = At(gateway)
        faults, storm = replay_storm(gateway, place, ids, "twin")
        wrong, spent, looks = double_spend(gateway, place, rounds, "spend")
        faults += wrong
        wrong, groups = bad_legs(gateway, place, legs, "leg")
        faults = finish(gateway, faults + wrong, (storm, spent, groups))
    judge_faults(faults)
    print(f"count: {ids} IDs from {TWINS} clients at once, one record each, 409 for half with other bodies;"
          f" {rounds} times {SENDERS} payments of a whole balance, one succeeds, never below zero in {looks}"
          f" reads; {len(groups['rejected'])} groups of {legs} legs with one bad leg, none applied")


def control():
    """A faulty server for each promise."""
    def other_id(body):  # no idempotency
        return {**body, "transactionId": uuid.uuid4().hex}

    def never_conflict(status, body):
        if status == 409:
            return 202, {"transactionRecordId": str(uuid.uuid4()), "isIdempotent": True}
        return status, body

    def always_accept(status, body):
        if status in (404, 422):
            return 202, {"transactionRecordId": str(uuid.uuid4()), "isIdempotent": False}
        return status, body

    def second_half_only(body):  # applies only a part of a group
        good = [leg for leg in body["transfers"] if "e" not in leg["amount"] and float(leg["amount"]) < 1000
                and float(leg["amount"]) > 0 and leg["destinationWalletId"] != leg["sourceWalletId"]]
        return {**body, "transfers": good}

    tries = [("no idempotency", {"ask": other_id}, lambda g, p: replay_storm(g, p, 4, "c"), True),
             ("no conflicts", {"answer": never_conflict}, lambda g, p: replay_storm(g, p, 4, "c"), False),
             ("overspending", {"answer": always_accept}, lambda g, p: double_spend(g, p, 1, "c")[:2], True),
             ("half a group", {"ask": second_half_only}, lambda g, p: bad_legs(g, p, 3, "c"), True)]
    found = []
    for what, lies, act, in_file in tries:
        with tempfile.TemporaryDirectory() as folder:
            gateway = Demo(binary(), folder).start()
            liar = Liar(gateway, **lies)
            told, facts = act(gateway, At(gateway, liar))
            liar.stop()
            stored = finish(gateway, [], (facts,))
        if not told or (in_file and not stored):
            fail(f"a server with {what} passes: {len(told)} faults in responses, {len(stored)} in the file")
        found.append(f"{what} {len(told)}+{len(stored)}")
    print("control: faulty servers are detected (faults in responses and in the file): " + ", ".join(found))


def main():
    full = os.environ.get("COFFER_RACES") == "full"
    ids, rounds, legs = (1000, 20, 100) if full else (100, 2, 6)
    run(ids, rounds, legs)
    control()


main()
