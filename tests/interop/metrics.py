#!/usr/bin/env -S PYTHONPATH=tests python3 -B
"""The metrics page of the release build: promtool checks the page, the alert rules and the tests of the rules; every
metric that a rule or the dashboard uses is on the page; access is restricted, tested over the wire; and the log file
is rotated and reopened without losing a line."""

import json
import os
import re
import shutil
import signal
import stat
import subprocess
import tempfile
import time

import documents
from harness.calls import fetch
from harness.clients import payment, wait_until_settled
from harness.machine import ROOT, binary, program
from harness.provider import add_connector
from harness.report import fail
from harness.server import Demo

RULES = os.path.join(ROOT, "packaging", "prometheus", "coffer.rules.yml")
RULES_TEST = os.path.join(ROOT, "packaging", "prometheus", "coffer.rules.test.yml")
DASHBOARD = os.path.join(ROOT, "packaging", "grafana", "coffer.json")
TOKEN = "metrics-" + os.urandom(16).hex()
# Words of PromQL, and metrics that Prometheus itself creates.
NOT_OURS = {"up", "ALERTS"}
# Metrics that appear with the first call, delivery or rejection of their kind.
ON_DEMAND = {
    "coffer_connector_calls_total", "coffer_connector_call_duration_seconds", "coffer_connector_breaker",
    "coffer_rate_limited_requests_total", "coffer_sign_in_failures_total", "coffer_notification_attempts_total",
    "coffer_second_factor_failures_total"}
METRIC = re.compile(r"\b(?:coffer|process)_[a-z_]+\b")


def promtool(*words, text=None, folder=None):
    return subprocess.run([program("promtool"), *words], input=text, capture_output=True, text=True,
                          check=False, cwd=folder)


def broken_histograms(page):
    """Histograms whose buckets do not increase up to `+Inf`, or do not end at their count, which promtool does not
    check."""
    buckets = {}
    for name, labels, bound, value in re.findall(r'^(\w+)_bucket\{(.*?),?le="([^"]+)"\} (\S+)$', page, re.MULTILINE):
        buckets.setdefault((name, labels), []).append((float(bound), float(value)))
    counts = {(name, labels or ""): float(value) for name, labels, value in
              re.findall(r"^(\w+)_count(?:\{(.*?)\})? (\S+)$", page, re.MULTILINE)}
    return [key for key, rows in buckets.items()
            if rows != sorted(rows) or rows[-1] != (float("inf"), counts.get(key))
            or any(after[1] < before[1] for before, after in zip(rows, rows[1:]))]


def judge(page):
    """The complaints about a page, from promtool and this test; empty if none."""
    done = promtool("check", "metrics", text=page)
    said = (done.stdout + done.stderr).strip() if done.returncode or done.stderr.strip() else ""
    return said + "".join(f"\nno histogram: {key}" for key in broken_histograms(page))


def families(page):
    return set(re.findall(r"^# TYPE (\S+) ", page, re.MULTILINE))


def family_of(name, known):
    """The metric of a sample; a histogram's samples have other names."""
    for end in ("", "_bucket", "_sum", "_count"):
        if end and name.endswith(end) and name[:-len(end)] in known:
            return name[:-len(end)]
    return name


def expressions():
    """(where, expr) of every rule and every panel."""
    with open(RULES, encoding="utf-8") as file:
        text = file.read()
    # Without a YAML library: an expression is one line, or the indented lines after `>-`.
    for match in re.finditer(r"^ +expr: (?:>-\n((?: {10,}.*\n)+)|(.*)\n)", text, re.MULTILINE):
        yield "a rule", " ".join((match[1] or match[2]).split())
    with open(DASHBOARD, encoding="utf-8") as file:
        board = json.load(file)
    for panel in board["panels"]:
        for target in panel.get("targets", []):
            yield "panel " + panel["title"], target["expr"]
    for annotation in board["annotations"]["list"]:
        yield "annotation " + annotation["name"], annotation["expr"]


def unknown_metrics(asked, known):
    """(where, name) of every used metric that is on no page."""
    out = []
    for where, expression in asked:
        bare = re.sub(r"\{[^}]*\}", "", expression)
        for name in METRIC.findall(bare):
            if name not in NOT_OURS and family_of(name, known) not in known:
                out.append((where, name))
    return out


def use(gateway):
    """Causes at least one event of every counted kind."""
    login = gateway.login()
    for number in range(40):
        route, body = payment(gateway, f"metrics-{number}", number)
        status, answer = login.call("POST", "/v1/payments/" + route, body)
        if status != 202:
            fail(f"a payment got {status}: {answer}")
    connectors = gateway.connect()
    connectors.headers = dict(login.headers)
    stranger = gateway.connect()
    for _ in range(3):
        stranger.call("POST", "/v1/auth/token", {"clientId": gateway.facts["clientId"], "clientSecret": "wrong"})
    stranger.call("GET", "/no/such/path")
    connector, _ = add_connector(gateway, "Quotes \"and\\more\"", "http://127.0.0.1:9")
    status, _ = login.call("POST", "/v1/quotes", {"connectorId": connector, "amount": "10", "transactionType": "B2C"})
    if status < 500:
        fail(f"a quote from an unreachable provider got {status}")
    wait_until_settled(gateway)
    time.sleep(1.1)  # the queues are read once a second


def check_page(page):
    said = judge(page)
    if said:
        fail(f"promtool check metrics: {said}")
    known = families(page)
    for name in ("coffer_http_requests_total", "coffer_payments_total", "coffer_commit_duration_seconds",
                 "coffer_queue_waiting", "process_cpu_seconds_total", "coffer_build_info"):
        if name not in known:
            fail(f"{name} is not on the page")
    if "/no/such/path" in page:
        fail("the page contains a requested path")
    # Control: promtool rejects an invalid page.
    for wrong in (page.replace("# TYPE coffer_ready gauge", "# TYPE coffer_ready gague"),
                  page.replace('le="+Inf"', 'le="99"'),
                  page + "coffer_payments{type=\"x\n",
                  page.replace("coffer_http_received_total", "coffer_http_received")):
        if wrong == page or not judge(wrong):
            fail("promtool accepted an invalid page")
    return known


def check_rules(known, folder):
    for words in (("check", "rules", RULES), ("test", "rules", RULES_TEST)):
        done = promtool(*words, folder=os.path.dirname(RULES))
        if done.returncode:
            fail(f"promtool {' '.join(words)}: {done.stdout}{done.stderr}")
    asked = list(expressions())
    if len(asked) < 40:
        fail(f"only {len(asked)} expressions were found")
    missing = unknown_metrics(asked, known | ON_DEMAND)
    if missing:
        fail(f"used, but on no page: {missing}")
    # The events above must have created these metrics.
    for name in ("coffer_connector_calls_total", "coffer_connector_breaker", "coffer_sign_in_failures_total"):
        if name not in known:
            fail(f"{name} is not on the page although its event occurred")
    # The dashboard's expressions are PromQL: as rules, promtool parses them.
    path = os.path.join(folder, "dashboard.rules.yml")
    with open(path, "w", encoding="utf-8") as file:
        file.write("groups:\n  - name: dashboard\n    rules:\n")
        for number, (where, expression) in enumerate(asked):
            plain = expression.replace("$__rate_interval", "5m").replace("$instance", ".*")
            file.write(f"      - record: dashboard:{number}\n        expr: {json.dumps(plain)}\n")
    done = promtool("check", "rules", path)
    if done.returncode:
        fail(f"promtool on the dashboard's expressions: {done.stdout}{done.stderr}")
    # Control: an unknown name, a wrong threshold.
    if not unknown_metrics([("control", "rate(coffer_no_such_metric_total[5m])")], known):
        fail("an unknown metric was not detected")
    for name in ("coffer.rules.yml", "coffer.rules.test.yml"):
        with open(os.path.join(os.path.dirname(RULES), name), encoding="utf-8") as source, \
                open(os.path.join(folder, name), "w", encoding="utf-8") as target:
            target.write(source.read().replace('{queue="settlement"} > 60', '{queue="settlement"} > 6000'))
    if promtool("test", "rules", "coffer.rules.test.yml", folder=folder).returncode == 0:
        fail("the tests of the rules accepted a wrong threshold")
    return len(asked)


def check_config(folder):
    """The Prometheus configuration of docs/operating.md, unchanged except for the path of the token."""
    text = documents.Mine("interop/metrics").take("docs/operating.md", "rule_files:")
    token = os.path.join(folder, "coffer.token")
    with open(token, "w", encoding="ascii") as file:
        file.write(TOKEN)
    text = documents.replaced(text, {"/etc/prometheus/coffer.token": token})
    shutil.copy(RULES, folder)
    path = os.path.join(folder, "prometheus.yml")
    for wanted, config in ((0, text), (1, text.replace("targets:", "target:"))):
        with open(path, "w", encoding="utf-8") as file:
            file.write(config)
        done = promtool("check", "config", path)
        if done.returncode != wanted:
            fail(f"promtool check config: {done.stdout}{done.stderr}")


def check_access(gateway):
    """Access on the demo's only port, and on the separate listener."""
    url = f"http://{gateway.host}:{gateway.port}/metrics"
    status, headers, page = fetch(url)
    if status != 200 or headers["Content-Type"] != "text/plain; version=0.0.4; charset=utf-8":
        fail(f"/metrics: {status} {headers['Content-Type']}")
    proxied = {"X-Forwarded-For": "127.0.0.1"}
    for wanted, given in ((401, proxied), (401, {**proxied, "Authorization": "Bearer x"}),
                          (200, {**proxied, "Authorization": "Bearer " + TOKEN})):
        status = fetch(url, headers=given).status
        if status != wanted:
            fail(f"/metrics with {given} returns {status}, expected {wanted}")
    return page


# --- The log file ------------------------------------------------------------------------------------


def log_lines(folder):
    """Every line of every file, oldest first. A broken line fails the test."""
    names = sorted((name for name in os.listdir(folder) if name.startswith("coffer.log")),
                   key=lambda name: -int(name.removeprefix("coffer.log").strip(".") or 0))
    out = []
    for name in names:
        path = os.path.join(folder, name)
        if stat.S_IMODE(os.stat(path).st_mode) != 0o600:
            fail(f"{name} has mode {stat.S_IMODE(os.stat(path).st_mode):o}")
        if os.path.getsize(path) > 2**20:
            fail(f"{name} has {os.path.getsize(path)} bytes")
        with open(path, encoding="utf-8") as file:
            text = file.read()
        if text and not text.endswith("\n"):
            fail(f"{name} ends with an incomplete line")
        out += [json.loads(line) for line in text.splitlines()]
    return len(names), out


def check_log(gateway, folder):
    """Every request is in the files with its id, across rotations and a move by another program."""
    wanted = set()
    connection = gateway.connect()
    for number in range(9_000):
        name = f"log-{number}-" + "x" * 50
        connection.headers["X-Request-Id"] = name
        connection.call("GET", "/livez")
        wanted.add(name)
        if number == 4_000:
            os.rename(os.path.join(folder, "coffer.log"), os.path.join(folder, "coffer.log.900"))
            os.kill(gateway.server_pid(), signal.SIGHUP)
    if gateway.stop() != 0:
        fail("the server did not stop cleanly")
    files, lines = log_lines(folder)
    seen = [line["request_id"] for line in lines if line["message"] == "request" and line["path"] == "/livez"
            and line.get("request_id", "").startswith("log-")]
    if len(seen) != len(set(seen)) or set(seen) != wanted:
        fail(f"the log has {len(set(seen))} of {len(wanted)} requests, in {len(seen)} lines")
    if files < 3:
        fail(f"only {files} log files")
    if lines[-1]["message"] != "stopped":
        fail(f"the last line is {lines[-1]}")
    for line in lines:
        if line["component"] in ("api", "http") and "request_id" not in line:
            fail(f"a line about a request lacks its id: {line}")
    with open(gateway.log, encoding="utf-8") as file:
        if '"message"' in file.read():
            fail("log lines also went to standard error")
    return files, len(lines)


def main():
    program("promtool")
    with tempfile.TemporaryDirectory() as folder:
        logs = os.path.join(folder, "logs")
        os.mkdir(logs)
        gateway = Demo(binary(), folder).start(env={
            "COFFER_METRICS_TOKEN": TOKEN, "COFFER_LOG_LEVEL": "debug", "COFFER_LOG_FILE": os.path.join(logs, "coffer.log"),
            "COFFER_LOG_MAX_MIB": "1", "COFFER_LOG_KEEP": "50"})
        use(gateway)
        page = check_access(gateway)
        known = check_page(page)
        check_config(folder)
        asked = check_rules(known, folder)
        files, lines = check_log(gateway, logs)
        print(f"count: {len(known)} families, {len(page.splitlines())} lines; {asked} expressions; "
              f"{lines} log lines in {files} files")
        print("control: promtool rejected four invalid pages and a wrong threshold; an unknown metric was detected")
        print("metrics: the page, the rules, the dashboard and the log file are correct")


if __name__ == "__main__":
    main()
