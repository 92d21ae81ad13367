#!/usr/bin/env -S PYTHONPATH=tests python3 -B
"""The document that coffer serves is true: valid OpenAPI 3.1 for a stock linter, and every exchange of the api tests is
what it says, both ways. Reads what a whole run of api_tests wrote beside its binary."""

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
    # ctest runs api_tests first; by hand, an older log than the binary would be judged.
    if not os.path.exists(LOG) or os.path.getmtime(API_TESTS) > os.path.getmtime(LOG):
        if subprocess.run([API_TESTS], stdout=subprocess.DEVNULL, check=False).returncode != 0:
            fail("api_tests failed: nothing to judge")
    with tempfile.TemporaryDirectory() as folder:
        document = os.path.join(folder, "openapi.json")
        judged = run_node(os.path.join(ROOT, "tests/interop/openapi.mjs"), {"exchanges": LOG, "document": document})
        check("every exchange is what the document says", judged.returncode == 0)
        check("the linter has no complaint", not (said := complaints(document)), said)
        with open(document, encoding="utf-8") as file:
            text = file.read()
        with open(document, "w", encoding="utf-8") as file:
            file.write(text.replace('"operationId": "listWallets"', '"operationId": "getWallet"'))
        check("control: it notices an operationId that is there twice", complaints(document))


main()
