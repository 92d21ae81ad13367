#!/usr/bin/env -S PYTHONPATH=tests python3 -B
"""Runs tests in JavaScript: `tests/harness/node.py tests/interop/NAME.mjs` starts a demo, runs the program, and stops
the demo. COFFER_TEST passes the demo's facts (`baseUrl`, `clientId`, ...) and the path of the `binary` as JSON. The
binary is the release build, unless the script has a line `// ctest: binary=dev`."""

import json
import os
import re
import subprocess
import sys
import tempfile

from harness.machine import binary, node_packages
from harness.server import Demo


def run_node(script, facts, **options):
    """Runs a program with `facts` in COFFER_TEST, and returns the finished process."""
    environment = {**os.environ, "COFFER_TEST": json.dumps(facts), "NO_PROXY": "*", "no_proxy": "*"}
    return subprocess.run(["node", script], env=environment, stdin=subprocess.DEVNULL, check=False, **options)


def judged_by_node(script, cases):
    """Passes the cases as JSON to a program's standard input, and returns the JSON that it prints."""
    done = subprocess.run(["node", script], input=json.dumps(cases), stdout=subprocess.PIPE, text=True, check=True)
    return json.loads(done.stdout)


def run_beside_demo(script, program, folder, facts=None, env=None):
    """Starts a demo, runs the script, and stops the demo. Returns the exit code."""
    demo = Demo(program, folder).start(env=env)
    code = run_node(script, {**demo.facts, "binary": program, "folder": folder, **(facts or {})}).returncode
    ended = demo.stop(30.0)
    if code or ended:
        print("\n".join(demo.said().splitlines()[-15:]), file=sys.stderr)
        print(f"{os.path.basename(script)} exited with {code}, the demo with {ended}", file=sys.stderr)
    return code or ended


def walk_beside_demo(script, program, folder, facts=None, env=None):
    """The same for a browser test, which is repeated once with a new demo if it fails, because a browser on a busy
    machine sometimes loses a key press or a frame. A defect of the page fails both runs; the output shows both."""
    for walk in ("first", "second"):
        place = os.path.join(folder, walk)
        os.mkdir(place)
        code = run_beside_demo(script, program, place, facts, env)
        print(f"{os.path.basename(script)}: the {walk} run exited with {code}", flush=True)
        if code == 0:
            break
    return code


def main(script):
    with open(script, encoding="utf-8") as file:
        named = re.search(r"^// ctest:.*\bbinary=(\w+)", file.read(), re.M)
    node_packages(os.path.basename(os.path.dirname(os.path.abspath(script))))
    with tempfile.TemporaryDirectory() as folder:
        return run_beside_demo(script, binary(named[1] if named else "release"), folder)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
