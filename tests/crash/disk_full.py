#!/usr/bin/env -S PYTHONPATH=tests python3 -B
"""On a full disk, the server rejects every write with `storage-full` and Retry-After, keeps serving reads, and
reports 503 on /healthz. Within two seconds of space returning, the same process accepts payments again. If the
file may not grow because of a process limit, the result of the write is uncertain: the process exits with 70, and
nothing is lost. COFFER_FULL_ROUNDS (1): rounds of each kind. Needs root and a loop device; mounts are private to
this process."""

import os
import tempfile
import time

from harness.auditor import audit
from harness.clients import Clients, wait_until_settled
from harness.machine import binary, in_namespaces, program
from harness.report import Slow, fail, until_in_time
from harness.server import Demo, kill_what_is_left
from every_write import EveryWrite
from injection import EXIT_UNCERTAIN
from loop_disk import Disk, skip_without_loop_device

RESUMES_WITHIN_S = 2.0
REJECTS_WITHIN_S = 2.0
LIMIT_STEPS = (0, 100_000, 300_000, 700_000, 1_500_000)
READS = ("/v1/transactions?limit=5", "/v1/wallets", "/v1/assets", "/v1/beneficiaries", "/v1/webhooks",
         "/v1/connectors", "/livez")
FLOOR = "COFFER_DISK_FLOOR_MIB"
# (description, settings, bytes left)
WAYS = [("space falls below the floor", {}, 100 << 20),
        ("all space is used at once", {}, 0),
        ("all space is used, without a floor", {FLOOR: "0"}, 0)]


def wait_for(what, condition, within_s):
    began = time.monotonic()
    while not condition():
        if time.monotonic() - began > within_s:
            raise Slow(f"{what}: not within {within_s} s")
        time.sleep(0.01)
    return time.monotonic() - began


def is_full(status, answer, connection):
    # Business problems have a different envelope.
    named = (answer.get("code") == "storage_full"
             or str(answer.get("message")).startswith("STORAGE_FULL:"))
    return (status == 503 and named
            and int(connection.answered.get("Retry-After", "0")) > 0)


def check_writes(writes, prefix, full=is_full):
    """Every route that writes must return storage-full. Returns their number."""
    count = 0
    for operation, connection, method, path, body in writes.requests(prefix):
        status, answer = connection.call(method, path, body)
        if operation == "createBeneficiaries" and status == 200:
            # A batch returns one result per row.
            problems = [row.get("problem") or {} for row in answer["results"]]
            if all(problem.get("code") == "storage_full" for problem in problems):
                count += 1
                continue
        if not full(status, answer, connection):
            fail(f"{operation} returns {status} {answer}")
        count += 1
    return count


def use_up(writes):
    """Uses up the space in the log that a failed batch leaves and a smaller one could still use. A payment takes a
    dozen pages, a renaming one."""
    connection, path = writes.connection, "/v1/wallets/" + writes.new_wallet
    count = rejected = 0
    while rejected < 3:
        status, answer = connection.call("PUT", path, {"walletName": f"Name {count}"})
        if status != 200 and not is_full(status, answer, connection):
            fail(f"renaming returns {status} {answer}")
        count, rejected = count + 1, rejected + 1 if status != 200 else 0


def check_reads(gateway):
    connection = gateway.login()  # requesting a token must also work
    for path in READS:
        status, answer = connection.call("GET", path)
        if status != 200:
            fail(f"reading {path} returns {status} {answer}")


def health(gateway):
    return gateway.connect().call("GET", "/healthz")[0]


def accepts(gateway, clients):
    before = len(clients.acked)
    return lambda: len(clients.acked) > before


def fill_and_free(disk, gateway, clients, writes, number, leave, settings):
    """One round: fills the disk, checks, frees space. Returns the seconds until payments were accepted."""
    server = gateway.server_pid()
    disk.fill(leave)
    wait_for("/healthz returns 503", lambda: health(gateway) == 503, REJECTS_WITHIN_S)
    time.sleep(0.3)
    if FLOOR in settings:
        use_up(writes)
    tried = check_writes(writes, f"full-{number}")
    check_reads(gateway)
    acked = len(clients.acked)
    if health(gateway) != 503:
        fail("/healthz does not return 503")
    time.sleep(0.3)
    # Without a floor, a payment may still fit into log space that a larger batch allocated.
    if len(clients.acked) != acked and FLOOR not in settings:
        fail("payments are accepted though the disk is full")
    disk.make_room()
    resumed = wait_for("payments are accepted again", accepts(gateway, clients), RESUMES_WITHIN_S)
    resumed += wait_for("/healthz returns 200", lambda: health(gateway) == 200, RESUMES_WITHIN_S - resumed)
    if gateway.process.poll() is not None or gateway.server_pid() != server:
        fail("the process has exited")
    return tried, resumed


def end_and_audit(gateway, clients):
    clients.stop()
    clients.replay_waiting()
    wait_until_settled(gateway)
    gateway.stop()
    faults = clients.surprises + audit(gateway.db, clients.facts(), settled=True)
    if faults or set(clients.acked) != set(clients.sent):
        fail(f"{len(faults)} faults, {len(clients.sent) - len(clients.acked)} unanswered: {faults[:5]}")


def run_way(number, rounds):
    """One of the ways, on a separate disk. Returns no faults, and (rejected writes, slowest recovery, payments)."""
    what, settings, leave = WAYS[number]
    tried, slowest = 0, 0.0
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as place:
        disk = Disk(place)
        gateway = Demo(binary(), disk.mount_point)
        gateway.log = os.path.join(place, "server.log")
        try:
            gateway.start(env=settings)
            writes = EveryWrite(gateway)
            clients = Clients(gateway, prefix=f"w{number}").start()
            with clients.lock:
                clients.sent.update(writes.sent)
                clients.acked.update(writes.acked)
            for turn in range(1, rounds + 1):
                wait_for("payments are accepted", accepts(gateway, clients), 5.0)
                writes.renew()
                count, resumed = fill_and_free(disk, gateway, clients, writes, turn, leave, settings)
                tried, slowest = tried + count, max(slowest, resumed)
            end_and_audit(gateway, clients)
        finally:
            kill_what_is_left()
            disk.unmount()
    print(f"  {what}: {rounds} times, slowest recovery {slowest:.2f} s", flush=True)
    return [], (tried, slowest, len(clients.acked))


def size_limit(folder, step, limited=True):
    """No file may grow by more than `step` bytes: the write fails, and it is unknown how much of it was stored."""
    gateway = Demo(binary(), folder)
    gateway.start().stop()
    limit = os.path.getsize(gateway.db) + step
    gateway.start(wrapper=("prlimit", f"--fsize={limit}:{limit}") if limited else ())
    clients = Clients(gateway, count=4, prefix=f"l{step}").start()
    try:
        code = gateway.wait(20.0 if limited else 2.0)
    except Exception:
        clients.stopping.set()
        gateway.kill()
        return None
    faults = audit(gateway.db, clients.facts_now())
    gateway.start()
    time.sleep(0.1)
    clients.stop()
    clients.replay_waiting()
    wait_until_settled(gateway)
    gateway.stop()
    faults += clients.surprises + audit(gateway.db, clients.facts(), settled=True)
    if faults or code != EXIT_UNCERTAIN or set(clients.acked) != set(clients.sent):
        fail(f"file-size limit at {limit}: the process exited with {code}, {len(faults)} faults: {faults[:5]}")
    return len(clients.acked)


def control(folder):
    """With free space, the same requests must not count as rejected; and a server without a limit must not count
    as exited."""
    gateway = Demo(binary(), folder).start()
    writes = EveryWrite(gateway)
    writes.renew()
    passed = 0
    for operation, connection, method, path, body in writes.requests("room"):
        status, answer = connection.call(method, path, body)
        if status // 100 != 2 and status != 402:
            fail(f"with free space, {operation} returns {status} {answer}")
        passed += 1
        if is_full(status, answer or {}, connection):
            fail(f"with free space, {operation} counts as rejected")
    gateway.stop()
    if size_limit(os.path.join(folder, "free"), 0, limited=False) is not None:
        fail("a server without a limit exited")
    print(f"control: with free space, all {passed} requests succeed and none counts as rejected; without a limit,"
          " the server keeps running")


def main():
    in_namespaces("mount")
    program("mkfs.ext4")
    skip_without_loop_device()
    rounds = int(os.environ.get("COFFER_FULL_ROUNDS", "1"))
    print(f"disk_full: {rounds} rounds of each way", flush=True)
    ways = [until_in_time(lambda: run_way(number, rounds)) for number in range(len(WAYS))]
    tried, slowest, acked = sum(way[0] for way in ways), max(way[1] for way in ways), sum(way[2] for way in ways)
    limited = 0
    for step in LIMIT_STEPS[::1 if rounds > 1 else 2]:
        with tempfile.TemporaryDirectory() as folder:
            limited += size_limit(folder, step)
    with tempfile.TemporaryDirectory() as folder:
        os.mkdir(os.path.join(folder, "free"))
        control(folder)
    print(f"count: {rounds * len(WAYS)} times full, {tried} writes rejected over all routes, recovered"
          f" within {slowest:.2f} s, {acked} payments acknowledged; file-size limit reached, exit code 70, {limited}"
          " payments, 0 lost")


main()
