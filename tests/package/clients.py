#!/usr/bin/env -S PYTHONPATH=tests python3 -B
# ctest: cost=25
"""The archives of the clients, as their users install them: with npm, on Python's path, with a Go module proxy, and in
PHP. package/reproducible compares their bytes."""

import base64
import csv
import hashlib
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import zipfile

from harness.machine import ROOT, node_packages
from harness.report import check, fail

VERSION = json.loads(pathlib.Path(ROOT, "clients/typescript/package.json").read_text(encoding="utf-8"))["version"]
GO_PROGRAM = """package main

import (
\t"fmt"

\t"coffer.example/go/coffer"
)

func main() {
\t_, err := coffer.New(coffer.Config{BaseURL: "https://pay.example.com"})
\tfmt.Println(coffer.Version, err, coffer.OwnTransfer{Amount: AMOUNT}.Amount)
}
"""


def run(*words, folder, **environment):
    done = subprocess.run(words, cwd=folder, env={**os.environ, **environment}, capture_output=True, text=True,
                          check=False, timeout=300)
    return done.returncode, (done.stdout + done.stderr).strip()


def tool(name):
    return shutil.which(name) or fail(f"{name} is missing. Run ./dev setup")


def used(what, expected, *words, folder, **environment):
    code, said = run(*words, folder=folder, **environment)
    check(what, code == 0 and expected in said, said[-2000:])


def npm(archive, folder):
    (folder / "package.json").write_text('{"name": "shop", "private": true, "type": "module"}', encoding="utf-8")
    used("npm installs the package", "added 1 package", "npm", "install", "--offline", "--no-audit", "--no-fund",
         "--ignore-scripts", archive, folder=folder)
    (folder / "shop.mjs").write_text("import * as coffer from 'coffer-client'; console.log(typeof coffer.Client);\n",
                                     encoding="utf-8")
    used("Node imports it", "function", "node", "shop.mjs", folder=folder)
    installed = folder / "node_modules/coffer-client"
    check("it has types, a README and a licence", all((installed / name).is_file() for name in (
        "dist/index.d.ts", "README.md", "LICENSE")))


def wheel(archive, folder):
    with zipfile.ZipFile(archive) as opened:
        record = f"coffer_client-{VERSION}.dist-info/RECORD"
        rows = list(csv.reader(opened.read(record).decode().splitlines()))
        named = {name: (kind, size) for name, kind, size in rows}
        wrong = [name for name in opened.namelist() if name != record and named.get(name) != (
            "sha256=" + base64.urlsafe_b64encode(hashlib.sha256(opened.read(name)).digest()).rstrip(b"=").decode(),
            str(len(opened.read(name))))]
        check("the record of the wheel has every file", not wrong and set(named) == set(opened.namelist()), wrong)
        opened.extractall(folder)
    used("Python imports the wheel, and finds its version", VERSION, sys.executable, "-c",
         "import coffer, importlib.metadata; coffer.Client; print(importlib.metadata.version('coffer-client'))",
         folder=folder, PYTHONPATH=str(folder))


def sources(archive, folder):
    used("tar unpacks the source distribution", "", "tar", "-xzf", archive, folder=folder)
    top = folder / f"coffer_client-{VERSION}"
    check("the source distribution has its metadata", all((top / name).is_file() for name in (
        "PKG-INFO", "pyproject.toml", "README.md", "LICENSE", "coffer/py.typed")))
    used("Python imports it", "ok", sys.executable, "-c", "import coffer; print('ok')", folder=folder,
         PYTHONPATH=str(top))


def go(archive, folder):
    proxy, shop = folder / "proxy/coffer.example/go/coffer/@v", folder / "shop"
    proxy.mkdir(parents=True)
    shop.mkdir()
    shutil.copy(archive, proxy / f"v{VERSION}.zip")
    (proxy / f"v{VERSION}.info").write_text(json.dumps({"Version": f"v{VERSION}"}), encoding="utf-8")
    shutil.copy(pathlib.Path(ROOT, "clients/go/go.mod"), proxy / f"v{VERSION}.mod")
    (shop / "go.mod").write_text(f"module shop\n\ngo 1.19\n\nrequire coffer.example/go/coffer v{VERSION}\n",
                                 encoding="utf-8")
    environment = {"GOPROXY": f"file://{folder}/proxy", "GONOSUMDB": "*", "GONOSUMCHECK": "1", "GOFLAGS": "-mod=mod",
                   "GOTOOLCHAIN": "local", "GOMODCACHE": str(folder / "modules")}
    for amount, words in (('"12.50"', "<nil> 12.50"), ("12.5", "cannot use 12.5")):
        (shop / "main.go").write_text(GO_PROGRAM.replace("AMOUNT", amount), encoding="utf-8")
        code, said = run(tool("go"), "run", ".", folder=shop, **environment)
        check(f"Go runs a program with the amount {amount}" if code == 0 else f"{amount} does not compile as an amount",
              (code == 0) == (words == "<nil> 12.50") and words in said, said[-2000:])
    run(tool("go"), "clean", "-modcache", folder=shop, **environment)  # its files are read-only


def php(archive, folder):
    with zipfile.ZipFile(archive) as opened:
        opened.extractall(folder)
    package = json.loads((folder / "composer.json").read_text(encoding="utf-8"))
    check("the Composer package has the files that it loads",
          package["version"] == VERSION and all((folder / name).is_file() for name in package["autoload"]["classmap"]))
    used("PHP loads it", VERSION, tool("php"), "-r", "require 'src/autoload.php'; echo Coffer\\Client::VERSION;",
         folder=folder)


def main():
    node_packages("interop", "typescript")
    with tempfile.TemporaryDirectory() as scratch:
        made = pathlib.Path(scratch, "made")
        made.mkdir()
        used("the archives are made", "coffer-client-php", "packaging/clients.py", made, VERSION, "1790000000",
             folder=ROOT)
        for judge, name in ((npm, f"coffer-client-{VERSION}.tgz"), (wheel, f"coffer_client-{VERSION}-py3-none-any.whl"),
                            (sources, f"coffer_client-{VERSION}.tar.gz"), (go, f"coffer-client-go-{VERSION}.zip"),
                            (php, f"coffer-client-php-{VERSION}.zip")):
            folder = pathlib.Path(scratch, judge.__name__)
            folder.mkdir()
            judge(made / name, folder)


main()
