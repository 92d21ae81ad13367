#!/usr/bin/env -S PYTHONPATH=tests python3 -B
"""Tests in JavaScript: `tests/harness/node.py tests/interop/NAME.mjs` starts a demo, runs the program beside it, and
stops it. The program finds the demo's facts (`baseUrl`, `clientId`, ...) and the path of the `binary` as JSON in
COFFER_TEST. The binary is what ships, or that of the line `// ctest: binary=dev`."""

import json
import os
import re
import subprocess
import sys
import tempfile

from harness.machine import binary, node_packages
from harness.server import Demo


def run_node(script, facts, **options):
    """The finished process of a program, to which COFFER_TEST gives the facts."""
    environment = {**os.environ, "COFFER_TEST": json.dumps(facts), "NO_PROXY": "*", "no_proxy": "*"}
    return subprocess.run(["node", script], env=environment, stdin=subprocess.DEVNULL, check=False, **options)


def judged_by_node(script, cases):
    """What a program prints as JSON that is given the cases as JSON on its standard input."""
    done = subprocess.run(["node", script], input=json.dumps(cases), stdout=subprocess.PIPE, text=True, check=True)
    return json.loads(done.stdout)


def run_beside_demo(script, program, folder, facts=None, env=None):
    """Starts a demo, runs the script beside it, and stops it; the exit code."""
    demo = Demo(program, folder).start(env=env)
    code = run_node(script, {**demo.facts, "binary": program, "folder": folder, **(facts or {})}).returncode
    ended = demo.stop(30.0)
    if code or ended:
        print("\n".join(demo.said().splitlines()[-15:]), file=sys.stderr)
        print(f"{os.path.basename(script)} ended with {code}, the demo with {ended}", file=sys.stderr)
    return code or ended


def walk_beside_demo(script, program, folder, facts=None, env=None):
    """The same for a walk in a browser, which is walked once more, beside a new demo, if it fails: a browser on a busy
    machine loses a key or a frame now and then. A fault of the page fails both, and the output has both."""
    for walk in ("first", "second"):
        place = os.path.join(folder, walk)
        os.mkdir(place)
        code = run_beside_demo(script, program, place, facts, env)
        print(f"{os.path.basename(script)}: the {walk} walk ended with {code}", flush=True)
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
