#!/usr/bin/env -S PYTHONPATH=tests python3 -B
"""Nothing that a stranger, a neighbour or a slow machine does stops payments: under each of 21 attacks the good
clients of another tenant pay, settle and read as before (p99 at most three times that of the quiet phase, or
100 ms), /livez and /healthz respond within 250 ms, nothing is refused or lost, and memory grows by at most
64 MiB. COFFER_LANES_SECONDS (1.2) says how long each phase is; COFFER_LANES which attacks are made: names with
commas between, `all`, or none for the shorter part of them; COFFER_LANES_FIGURES=1 only measures. The judge has
to find fault with what was measured without lanes, and with a server that has one lane."""

import json
import os
import re
import resource
import subprocess
import sys
import tempfile
import time
from datetime import datetime

import lanes_attacks as attacks
from harness.calls import fetch
from harness.machine import binary, skip
from harness.report import TRIES, fail, until_in_time
from lanes_clients import Running
from lanes_control import OneLane, calm_result, recorded, recorded_text
from lanes_judge import Bounds, answered_with, few_checkpoints, judge, rows, served_in_full, stops_at_quota, table
from lanes_probe import RemoteProbe, Sampler, figures
from lanes_tls import speak_tls, tls_settings
from lanes_world import World, make_stored
from webhook_network import prepare_namespace

SETTLED_WITHIN_S = 20.0
AFTER_S = 0.5  # from the end of an attack until everything is as before
SECONDS = float(os.environ.get("COFFER_LANES_SECONDS", "1.2"))
STORED = (int(os.environ.get("COFFER_LANES_PAYMENTS", "20000")),
          int(os.environ.get("COFFER_LANES_BENEFICIARIES", "5000")))
IDLE = int(os.environ.get("COFFER_LANES_IDLE", "4096"))
# Attacks that are also made at a server with one lane; "all": each that does not go on beside a full load.
CONTROLS = os.environ.get("COFFER_LANES_CONTROLS", "documents,bodies").split(",")
FIGURES = os.environ.get("COFFER_LANES_FIGURES") == "1"


class Row:
    """`work`: the attack; `prepare(world)` before it; `meanwhile(world)`: real requests during it, (served, asked).
    `stored`: on the file with many rows. `wrapper`: what the run is started under."""

    def __init__(self, name, title, work, prepare=None, meanwhile=None, settings=None, options="", stored=False,
                 load=False, tls=False, wrapper=(), in_slice=True, **bounds):
        self.name, self.title, self.work, self.prepare, self.meanwhile = name, title, work, prepare, meanwhile
        self.settings, self.options, self.stored, self.load = settings or {}, options, stored, load
        self.tls = tls
        self.wrapper, self.in_slice, self.bounds = list(wrapper), in_slice and not load, Bounds(**bounds)


ROWS = [
    Row("pattern", "an operator's pattern that backtracks", attacks.patterned, attacks.require_pattern,
        must=(answered_with(422),)),
    Row("documents", "150 documents a second, no login", attacks.documents),
    Row("slow_exports", "70 slow readers of a statement", attacks.slow_exports, stored=True,
        must=(answered_with(200),)),
    Row("slow_provider", "70 quotes of a provider that takes 9 s", attacks.slow_quotes, attacks.start_provider),
    Row("lists", "12 list polls by time", attacks.lists, stored=True, must=(answered_with(200),)),
    Row("searches", "16 searches by free text", attacks.searches, stored=True, must=(answered_with(200),)),
    Row("passwords", "80 passwords at a time", attacks.passwords, attacks.add_user, must=(answered_with(401),)),
    Row("bodies", "64 half bodies of 1 MiB, no login", attacks.bodies, meanwhile=attacks.real_bulk,
        must=(served_in_full,)),
    Row("idlers", f"{IDLE} idle connections", attacks.idlers),
    Row("half_requests", f"{IDLE} half-sent requests", attacks.half_requests, in_slice=False),
    Row("key_set", "junk tokens, key set not reachable", attacks.junk_bearers),
    Row("names", "90 webhooks, silent name server", attacks.registrations, attacks.silence_names,
        wrapper=("unshare", "-n", "-m")),
    Row("quota", "a sandbox tenant that writes", attacks.fat_rows, attacks.keep_destinations,
        settings={"COFFER_QUOTA_SANDBOX": "beneficiaries=2000,file_bytes=8MiB"}, options="--rate-limits",
        must=(stops_at_quota,)),
    Row("unread", "200 connections that read no document, no login", attacks.unread_documents, in_slice=False),
    Row("pipelined", "2,000 connections that pipeline and read nothing, no login", attacks.pipelined, in_slice=False),
    Row("half_bodies", "2,000 half bodies of 64 KiB, no login", attacks.half_bodies, in_slice=False,
        must=(answered_with(429),)),
    Row("handshakes", "TLS handshakes by halves", attacks.handshakes, tls=True, in_slice=False),
    Row("resets", "requests for documents and resets, no login", attacks.resets, in_slice=False),
    Row("strangers", "five attacks without login at a time", attacks.strangers, attacks.add_user, in_slice=False),
    Row("verify", "verification under full load", attacks.verifications, stored=True, load=True, quiet_times=2.0,
        must=(few_checkpoints,)),
    Row("backup", "backup under full load", attacks.backups, stored=True, load=True, quiet_times=2.0,
        must=(few_checkpoints,)),
    Row("readers", "four overlapping readers under full load", attacks.overlapping, stored=True, load=True,
        must=(few_checkpoints,)),
]


# --- One run ---------------------------------------------------------------------------------------------------


def metric(world, name):
    page = fetch(f"http://{world.gateway.host}:{world.gateway.port}/metrics", timeout_s=30.0).text
    found = re.search(rf"^coffer_{name}(?:{{[^}}]*}})? (\S+)", page, re.M)
    return float(found.group(1)) if found else 0.0


def checkpoints(world):
    """(checkpoints, commits) so far."""
    return [int(metric(world, name + "_duration_seconds_count")) for name in ("checkpoint", "commit")]


def milliseconds(record):
    created, completed = (datetime.fromisoformat(record[key].replace("Z", "+00:00"))
                          for key in ("createdAt", "completedAt"))
    return (completed - created).total_seconds() * 1000


def settlements(world, acked, prefix):
    """Number of each payment -> ms from acceptance to settlement; and what is lost, as sentences."""
    end = time.monotonic() + SETTLED_WITHIN_S
    connection = world.gateway.connect(30.0)
    connection.headers = world.good.headers
    while True:
        try:
            listed = {record["transactionId"]: record for record in connection.list_transactions("")}
            left = [one for one in acked if listed.get(one, {}).get("status") != "succeeded"]
        except ConnectionError as error:
            listed, left = {}, [str(error)]
        if not left or time.monotonic() > end:
            break
        time.sleep(0.1)
    lost = [f"{len(left)} accepted payments not settled {SETTLED_WITHIN_S:.0f} s later: {left[0]}"] if left else []
    return {int(name.removeprefix(prefix + "-")): milliseconds(record) for name, record in listed.items()
            if name.startswith(prefix + "-") and record.get("completedAt")}, lost


def attack(world, row, seconds):
    """The three phases. Everything that is judged, as a dictionary."""
    prefix = f"{row.name}-{time.time():.0f}"
    load = Running(attacks.full_load, world) if row.load else None
    if load:
        time.sleep(1.0)
    sampler, probe = Sampler(world.pid, world.gateway.port, world.gateway.db), RemoteProbe(world.good, prefix)
    time.sleep(0.5)
    marks = [time.monotonic()]
    counted = [checkpoints(world)] if row.load else []
    time.sleep(seconds)
    marks.append(time.monotonic())
    if row.load:
        counted.append(checkpoints(world))
    sizes = [world.file_mib()]
    running = Running(row.work, world)
    served = None
    if row.meanwhile:
        time.sleep(min(1.0, seconds / 2))
        served = row.meanwhile(world)
    time.sleep(max(0.0, marks[1] + seconds * 2 / 3 - time.monotonic()))
    sizes.append(world.file_mib())
    time.sleep(max(0.0, marks[1] + seconds - time.monotonic()))
    marks.append(time.monotonic())
    sizes.append(world.file_mib())
    if row.load:
        counted.append(checkpoints(world))
    counts = running.end()
    time.sleep(AFTER_S)
    marks.append(time.monotonic())
    time.sleep(seconds / 2)
    marks.append(time.monotonic())
    records, acked = probe.end()
    if load:
        counts["payments beside"] = load.end()["payments"]
    samples = sampler.end()
    settled, lost = settlements(world, acked, prefix)
    phases = {name: figures(records, samples, settled, marks[first], marks[first + 1])
              for name, first in (("quiet", 0), ("during", 1), ("after", 3))}
    for name, first in (("quiet", 0), ("during", 1)) if row.load else ():
        phases[name]["checkpoints"] = [counted[first + 1][at] - counted[first][at] for at in (0, 1)]
    return {"phases": phases, "lost": lost, "counts": {str(key): value for key, value in counts.items()},
            "served": served, "grown_mib": sizes[2] - sizes[0], "grown_after_mib": sizes[2] - sizes[1],
            "load": os.getloadavg()[0]}


def run_row(row, stored, control):
    """On a server of its own, in this process; `control`: with one lane for everything before it."""
    settings = dict(row.settings)
    with tempfile.TemporaryDirectory() as folder:
        if row.wrapper:
            prepare_namespace(folder)
        silent = attacks.SilentServer() if row.name == "key_set" else None
        if silent:
            settings |= {"COFFER_OAUTH_ISSUER": attacks.ISSUER, "COFFER_OAUTH_AUDIENCE": "coffer",
                         "COFFER_OAUTH_JWKS": f"https://127.0.0.1:{silent.port}/keys"}
        if row.tls:
            settings |= tls_settings(folder)
            speak_tls(settings["COFFER_TLS_CERT"])
        world = World(binary(), os.path.join(folder, "file"), settings, row.options,
                      stored if row.stored else None)
        world.helpers, world.kept, world.idle = [], [], IDLE
        try:
            if row.prepare:
                row.prepare(world)
            if control:
                OneLane(world).stand_before(world)
            result = attack(world, row, SECONDS)
        finally:
            for helper in world.helpers:
                helper.kill()
                helper.wait()
            ended_well = world.end()
        if not ended_well:
            result["lost"].append("no clean stop after the attack")
    return result


def in_process(row, stored, control=False):
    """`run_row` in a process of its own, under the row's wrapper."""
    done = subprocess.run([*row.wrapper, sys.executable, "-B", os.path.abspath(__file__), row.name, stored,
                           str(int(control))], stdout=subprocess.PIPE, text=True, check=False)
    if done.returncode:
        fail(f"{row.name} ended with {done.returncode}")
    return json.loads(done.stdout.splitlines()[-1])


def runs_here(row):
    return not row.wrapper or not subprocess.run([*row.wrapper, "true"], check=False, capture_output=True).returncode


def check_recorded(all_rows):
    """Figures of a gateway without lanes must not pass, by what each of these attacks did to it; a calm run must."""
    for row in all_rows:
        faults = judge(row.bounds, calm_result())
        if faults:
            fail(f"a run in which nothing happened has faults by the bounds of {row.name}: {faults}")
        result, wanted = recorded(row.name)
        faults = judge(row.bounds, result)
        for text in wanted:
            if not any(text in fault for fault in faults):
                fail(f"what {row.name} did to a gateway without lanes was not noticed ({text}): {faults}")


def check_one_lane(row, stored):
    """The same attack at a server with one lane: the judge must find fault with payments or /livez. The quiet phase of
    a busy machine may be as slow as the attack, so it has three tries as well."""
    for _ in range(TRIES):
        faults = judge(row.bounds, in_process(row, stored, control=True))
        if any("payment" in fault or "livez" in fault for fault in faults):
            return
    fail(f"{row.name} at a server with one lane was not noticed: {faults}")


def main():
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    if hard < IDLE + 2000:
        skip(f"{hard} descriptors are too few")
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    by_name = {row.name: row for row in ROWS}
    if len(sys.argv) > 1:
        print(json.dumps(run_row(by_name[sys.argv[1]], sys.argv[2], sys.argv[3] == "1")))
        return
    if not FIGURES:
        check_recorded(ROWS)
    names = os.environ.get("COFFER_LANES", "")
    chosen = ([row for row in ROWS if names == "all" or row.in_slice] if names in ("", "all")
              else [by_name[name] for name in names.split(",")])
    left_out = [row.name for row in chosen if not runs_here(row)]
    chosen = [row for row in chosen if row.name not in left_out]
    with tempfile.TemporaryDirectory() as folder:
        stored = os.environ.get("COFFER_LANES_FILES") or os.path.join(folder, "stored")
        if any(row.stored for row in chosen):
            make_stored(binary(), stored, *STORED)
        lines = []

        def run(row):
            result = in_process(row, stored)
            lines.extend(rows(row, result, recorded_text(row.name)))
            faults = judge(row.bounds, result)
            # With figures only, faults are told and the run goes on.
            if FIGURES and faults:
                print("\n".join("    " + fault for fault in faults), flush=True)
            return ([], "") if FIGURES else (faults, "")

        for row in chosen:
            print(f"  {row.title}", flush=True)
            until_in_time(lambda: run(row), row.name)
        print(table(lines), flush=True)
        if FIGURES:
            return
        controls = [row for row in chosen if row.name in CONTROLS or (CONTROLS == ["all"] and not row.load)]
        for row in controls:
            check_one_lane(row, stored)
    if left_out:
        print(f"lanes: without {', '.join(left_out)}: no namespaces here")
    print(f"count: {len(chosen)} attacks of {SECONDS:.1f} s, {STORED[0]:,} payments, {STORED[1]:,} beneficiaries")
    print(f"control: {len(ROWS)} attacks by recorded figures and {len(controls)} at a server with one lane were"
          " noticed")
    print("lanes: all well")


if __name__ == "__main__":
    main()
