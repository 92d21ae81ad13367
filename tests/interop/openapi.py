#!/usr/bin/env -S PYTHONPATH=tests python3 -B
# ctest: cost=20
"""The served OpenAPI document is correct: valid OpenAPI 3.1 for a stock linter, and it matches every request and
response of the API tests. Reads the log that a complete run of api_tests writes next to its binary."""

import os
import subprocess
import tempfile

from harness.machine import ROOT, binary_path, node_packages
from harness.node import run_node
from harness.report import check, fail
from linter import complaints

TESTS = os.path.join(os.path.dirname(os.path.abspath(binary_path("dev"))), "tests")
API_TESTS, LOG = os.path.join(TESTS, "api_tests"), os.path.join(TESTS, "api_tests_exchanges.ndjson")


def main():
    node_packages("interop")
    # ctest runs api_tests first. In a manual run, the log may be older than the binary.
    if not os.path.exists(LOG) or os.path.getmtime(API_TESTS) > os.path.getmtime(LOG):
        if subprocess.run([API_TESTS], stdout=subprocess.DEVNULL, check=False).returncode != 0:
            fail("api_tests failed, so there is no log to check")
    with tempfile.TemporaryDirectory() as folder:
        document = os.path.join(folder, "openapi.json")
        judged = run_node(os.path.join(ROOT, "tests/interop/openapi.mjs"), {"exchanges": LOG, "document": document})
        check("every exchange matches the document", judged.returncode == 0)
        check("the linter has no complaints", not (said := complaints(document)), said)
        with open(document, encoding="utf-8") as file:
            text = file.read()
        with open(document, "w", encoding="utf-8") as file:
            file.write(text.replace('"operationId": "listWallets"', '"operationId": "getWallet"'))
        check("control: the linter detects a duplicate operationId", complaints(document))


main()
