#!/usr/bin/env -S PYTHONPATH=tests:clients python3 -B
# ctest: waits
"""The clients in clients/ do what clients/scenarios.json says, against the real server behind a proxy that injects
faults, and never pay twice. Generated files are current, and each language's strict checks pass.

Control: a client that retries with a new transactionId fails the row `lost-response`, and the audit finds its second
payment. A changed generated file is stale."""

import concurrent.futures
import datetime
import json
import os
import shutil
import subprocess
import sys
import tempfile

from fault_proxy import FaultProxy
from generator import model
from harness.auditor import audit
from harness.machine import ROOT, binary, held_port, node_packages
from harness.report import check, fail
from harness.server import Demo
from harness.tenant import Tenant

CLIENTS = os.path.join(ROOT, "clients")
PACKAGES = os.path.join(ROOT, "tests/interop/node_modules")
# Ends a runner that hangs.
LIMIT_S = 300


def tool(name):
    return shutil.which(name) or fail(f"{name} is missing. Run ./dev setup")


def run(words, folder=CLIENTS, env=None):
    done = subprocess.run(words, cwd=folder, env={**os.environ, "NO_PROXY": "*", "no_proxy": "*", **(env or {})},
                          capture_output=True, text=True, check=False, timeout=LIMIT_S)
    return done.returncode, done.stdout + done.stderr


def must(what, words, folder=CLIENTS, env=None):
    code, said = run(words, folder, env)
    if code:
        raise AssertionError(f"{what}: {said[-2000:]}")


# --- Languages: each checks and builds its client in `scratch`, and returns the words that start its runner -----------

def python(scratch):
    must("mypy --strict", [tool("mypy"), "--strict", "--no-error-summary", "--cache-dir", os.path.join(scratch, "mypy"),
                           "coffer", "test/example.py", "test/refused.py"], os.path.join(CLIENTS, "python"))
    must("unit tests", [sys.executable, "-B", os.path.join(CLIENTS, "python/test/runtime_test.py")])
    return [sys.executable, "-B", os.path.join(CLIENTS, "python/test/scenarios.py")]


def typescript(scratch):
    place = os.path.join(scratch, "typescript")
    shutil.copytree(os.path.join(CLIENTS, "typescript"), place, ignore=shutil.ignore_patterns("node_modules", "dist*"))
    tsc = os.path.join(PACKAGES, "typescript/bin/tsc")
    must("tsc --strict", [tool("node"), tsc, "-p", os.path.join(place, "test")])
    must("unit tests", ["node", "--test", os.path.join(place, "test/runtime_test.mjs")])
    return ["node", os.path.join(place, "test/scenarios.mjs")]


def go(scratch):
    tree, runner = os.path.join(CLIENTS, "go"), os.path.join(scratch, "scenarios")
    env = {"GOFLAGS": "-mod=mod", "GOPROXY": "off", "GOTOOLCHAIN": "local"}
    must("go vet", [tool("go"), "vet", "./..."], tree, env)
    code, unformatted = run([os.path.join(os.path.dirname(os.path.realpath(tool("go"))), "gofmt"), "-l", "."], tree)
    if code or unformatted:
        raise AssertionError(f"gofmt: {unformatted}")
    must("go test", [tool("go"), "test", "./..."], tree, env)
    must("go build", [tool("go"), "build", "-o", runner, "./test/scenarios"], tree, env)
    return [runner]


def php(_):
    for folder, _, names in os.walk(os.path.join(CLIENTS, "php")):
        for name in names:
            if name.endswith(".php"):
                must("php -l", [tool("php"), "-l", os.path.join(folder, name)])
    must("unit tests", [tool("php"), os.path.join(CLIENTS, "php/test/runtime_test.php")])
    must("unit tests", [tool("php"), os.path.join(CLIENTS, "php/test/runtime_test.php")])
    return [tool("php"), os.path.join(CLIENTS, "php/test/scenarios.php")]


LANGUAGES = {"python": python, "typescript": typescript, "go": go, "php": php}


# --- Scenarios ------------------------------------------------------------------------------------------------------

class Stage:
    """A demo, the proxy in front of it, and the file for a runner."""

    def __init__(self, folder, name):
        self.folder, self.name = os.path.join(folder, name), name
        os.mkdir(self.folder)
        self.demo = Demo(binary(), self.folder, port=held_port()).start()
        self.tenant = Tenant.of_demo(self.demo)
        self.proxy = FaultProxy(self.demo, lambda path: self.tenant.ask("GET", path))
        with open(os.path.join(CLIENTS, "scenarios.json"), encoding="utf-8") as file:
            self.rows = json.load(file)
        self.issued = set()

    def given(self, run_name):
        """The path of the runner's file, with the rows to run under this name."""
        facts = self.demo.facts
        wallets = {wallet["name"]: wallet for wallet in facts["wallets"]}
        people = {each["name"]: each for each in facts["beneficiaries"]}
        connectors = {each["name"]: each["id"] for each in facts["connectors"]}
        collect = next(each["id"] for each in facts["connectors"]
                       if each["direction"] == "ON_RAMP" and each["method"] == "BANK" and each["flow"] == "QUOTED")
        virtual = next(each["id"] for each in facts["connectors"] if each["flow"] == "BESPOKE")
        today = datetime.datetime.now(datetime.timezone.utc).date()
        keys = {name: facts[name] for name in ("clientId", "clientSecret", "apiKey", "connectSecret", "publicKey",
                                               "signInSecret")}
        variables = {
            **keys, "run": run_name, "association": facts["associationId"], "application": facts["applicationId"],
            "treasury": wallets["Treasury"]["id"], "treasuryKey": wallets["Treasury"]["publicKey"],
            "operations": wallets["Operations"]["id"], "euro": wallets["Euro reserve"]["id"],
            "ada": wallets["Ada Obi"]["id"], "amina": people["Amina Njoroge"]["id"],
            "aminaBank": people["Amina Njoroge"]["destinations"][0]["id"], "partner": people["Ledger Partner Ltd"]["id"],
            "payout": connectors["Kenya bank payout"], "collect": collect, "virtual": virtual,
            "today": str(today), "tomorrow": str(today + datetime.timedelta(days=1)), "long": "x" * 400_000,
            "receiver": self.proxy.url + "/_receiver", "nowhere": f"http://127.0.0.1:{held_port()}"}
        for row in self.rows:
            for step in row["steps"]:
                if "transactionId" in step.get("body", {}):
                    self.issued.add(step["body"]["transactionId"].replace("${run}", run_name))
        path = os.path.join(self.folder, run_name + ".json")
        with open(path, "w", encoding="utf-8") as file:
            json.dump({"baseUrl": self.proxy.url, "control": self.proxy.url + "/_control", "keys": keys,
                       "vars": variables, "rows": self.rows}, file)
        return path

    def doubled(self):
        """Payments that no row asked for, and transaction IDs with several payments."""
        found = [row["transactionId"] for row in self.demo.login().list_transactions()
                 if row["type"] != "onramp_reference"]
        unknown = sorted(set(found) - self.issued)
        return unknown + sorted({each for each in found if found.count(each) > 1})

    def end(self):
        self.proxy.stop()
        if self.demo.stop(30.0):
            return ["the server did not stop cleanly"]
        return audit(self.demo.db)


def reported(words, stage, path, *names):
    """The rows that a runner reports: name -> fault, or "" if the row passed."""
    code, said = run([*words, path, *names], stage.folder)
    out = {}
    for line in said.splitlines():
        if line.startswith("{"):
            row = json.loads(line)
            out[row["row"]] = "" if row["ok"] else row["fault"]
    if code:
        out["exit code"] = f"{code}: {said[-1500:]}"
    return out


def judge(language, folder):
    """Faults of one language."""
    scratch = os.path.join(folder, "scratch-" + language)
    os.mkdir(scratch)
    try:
        words = LANGUAGES[language](scratch)
    except AssertionError as error:
        return [f"{language}: {error}"]
    stage = Stage(folder, language)
    rows = reported(words, stage, stage.given(language))
    faults = [f"{language}: {name}: {fault}" for name, fault in rows.items() if fault]
    faults += [f"{language}: {row['name']}: not reported" for row in stage.rows if row["name"] not in rows]
    faults += [f"{language}: paid twice: {each}" for each in stage.doubled()]
    if language == "python" and not faults:
        faults += control(stage)
    return faults + [f"{language}: {each}" for each in stage.end()]


def control(stage):
    """The judge must reject a client that retries with a new transactionId."""
    broken = [sys.executable, "-B", os.path.join(ROOT, "tests/interop/clients/renaming.py")]
    rows = reported(broken, stage, stage.given("control"), "pay-own-wallets", "lost-response")
    out = [] if rows.get("lost-response") and rows.get("pay-own-wallets") == "" else [f"control: {rows}"]
    return out + ([] if stage.doubled() else ["control: the audit did not find the second payment"])


def check_complete():
    """Every operation and every problem of the document is in a scenario."""
    document = subprocess.run([binary(), "openapi"], capture_output=True, text=True, check=True).stdout
    with open(os.path.join(CLIENTS, "scenarios.json"), encoding="utf-8") as file:
        rows = file.read()
    read = model.read(json.loads(document))
    missing = [each.id for each in read.operations if f'"{each.id}"' not in rows]
    missing += [slug for slug, _, _ in read.problems if f'"slug": "{slug}"' not in rows]
    check("every operation and every problem is in a scenario", not missing, missing)


def check_examples():
    """The first code of each README is in the example that the language checks, apart from indentation."""
    for example in ("python/test/example.py", "typescript/test/example.ts", "go/example_test.go", "php/test/example.php"):
        readme = os.path.join(CLIENTS, example.split("/", maxsplit=1)[0], "README.md")
        with open(os.path.join(CLIENTS, example), encoding="utf-8") as file, open(readme, encoding="utf-8") as page:
            code = "".join(page.read().split("```")[1].split("\n", 1)[1].split())
            check(f"clients/{example} has the code of the README", code in "".join(file.read().split()), code)


def check_generated(folder):
    generate = os.path.join(CLIENTS, "generate")
    code, said = run([sys.executable, "-B", generate, "--check", binary()])
    check("the generated files are current", code == 0, said)
    shutil.copytree(CLIENTS, os.path.join(folder, "clients"))
    with open(os.path.join(folder, "clients/python/coffer/types.py"), "a", encoding="utf-8") as file:
        file.write("\n")
    code, said = run([sys.executable, "-B", os.path.join(folder, "clients/generate"), "--check", binary()])
    check("control: a changed file is stale", code == 1 and "clients/python/coffer/types.py" in said, said)


def main(*languages):
    node_packages("interop", "typescript")
    with tempfile.TemporaryDirectory() as folder:
        check_generated(folder)
        check_complete()
        check_examples()
        languages = languages or tuple(LANGUAGES)
        with concurrent.futures.ThreadPoolExecutor(len(languages)) as pool:
            judged = dict(zip(languages, pool.map(lambda each: judge(each, folder), languages)))
        for language, faults in judged.items():
            for fault in faults:
                print("  " + fault)
            print(f"{'FAILED  ' if faults else 'ok      '} {language}", flush=True)
        if any(judged.values()):
            fail(f"{sum(map(len, judged.values()))} faults")


main(*sys.argv[1:])
