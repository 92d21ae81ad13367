#!/usr/bin/env python3
"""Writes the archives of the client libraries, and prints their names:

    packaging/clients.py FOLDER VERSION EPOCH

    coffer-client-<version>.tgz                    npm package
    coffer_client-<version>-py3-none-any.whl       Python wheel
    coffer_client-<version>.tar.gz                 Python source distribution
    coffer-client-go-<version>.zip                 Go module
    coffer-client-php-<version>.zip                Composer package

COFFER_TSC  the TypeScript compiler; by default the one that `./dev setup` installs for the tests

The same files, version and time produce the same bytes in any folder.
"""
import base64
import gzip
import hashlib
import io
import json
import os
import pathlib
import subprocess
import sys
import tarfile
import tempfile
import time
import tomllib
import zipfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
CLIENTS = ROOT / "clients"
LICENCE = (ROOT / "LICENSE").read_bytes()


def collected(folder, *patterns):
    """The bytes of the files that match, by their path below `folder`; every pattern matches a file."""
    found = {}
    for pattern in patterns:
        paths = sorted(folder.glob(pattern))
        if not paths:
            sys.exit(f"clients: no file {folder / pattern}")
        found |= {path.relative_to(folder).as_posix(): path.read_bytes() for path in paths if path.is_file()}
    return found


def tar(files, top, epoch):
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w", format=tarfile.USTAR_FORMAT) as archive:
        for name in sorted(files):
            entry = tarfile.TarInfo(f"{top}/{name}")
            entry.size, entry.mode, entry.mtime = len(files[name]), 0o644, epoch
            archive.addfile(entry, io.BytesIO(files[name]))
    out = io.BytesIO()
    with gzip.GzipFile("", "wb", 9, out, epoch) as compressed:
        compressed.write(packed.getvalue())
    return out.getvalue()


def zipped(files, top, epoch):
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        for name in sorted(files):
            entry = zipfile.ZipInfo(top + name, time.gmtime(epoch)[:6])
            entry.create_system, entry.external_attr = 3, 0o100644 << 16
            archive.writestr(entry, files[name], zipfile.ZIP_DEFLATED, 9)
    return out.getvalue()


def require_version(place, found, version):
    if found != version:
        sys.exit(f"clients: {place} has version {found}, but the product has {version}; correct it")


def typescript(version, epoch):
    folder = CLIENTS / "typescript"
    package = json.loads((folder / "package.json").read_text())
    require_version("clients/typescript/package.json", package["version"], version)
    compiler = pathlib.Path(os.environ.get("COFFER_TSC", ROOT / "tests/interop/node_modules/typescript/bin/tsc"))
    if not compiler.exists():
        sys.exit(f"clients: {compiler} is missing; run ./dev setup")
    with tempfile.TemporaryDirectory() as scratch:
        built = pathlib.Path(scratch) / "dist"
        subprocess.run(["node", compiler, "-p", folder, "--outDir", built], check=True, stdout=sys.stderr)
        files = {f"dist/{name}": text for name, text in collected(built, "*.js", "*.d.ts").items()}
    files |= collected(folder, "package.json", "README.md", "src/*.ts") | {"LICENSE": LICENCE}
    yield f"{package['name']}-{version}.tgz", tar(files, "package", epoch)


def python(version, epoch):
    folder = CLIENTS / "python"
    project = tomllib.loads((folder / "pyproject.toml").read_text())["project"]
    require_version("clients/python/pyproject.toml", project["version"], version)
    name = project["name"].replace("-", "_")
    modules = collected(folder, "coffer/*.py", "coffer/py.typed")
    metadata = (f"Metadata-Version: 2.1\nName: {project['name']}\nVersion: {version}\n"
                f"Summary: {project['description']}\nLicense: {project['license']['text']}\n"
                f"Requires-Python: {project['requires-python']}\nDescription-Content-Type: text/markdown\n\n"
                ).encode() + (folder / "README.md").read_bytes()

    information = f"{name}-{version}.dist-info"
    wheel = {**modules, f"{information}/METADATA": metadata, f"{information}/LICENSE": LICENCE,
             f"{information}/WHEEL":
             b"Wheel-Version: 1.0\nGenerator: coffer\nRoot-Is-Purelib: true\nTag: py3-none-any\n"}
    record = "".join(f"{path},sha256={digest(wheel[path])},{len(wheel[path])}\n" for path in sorted(wheel))
    wheel[f"{information}/RECORD"] = f"{record}{information}/RECORD,,\n".encode()
    yield f"{name}-{version}-py3-none-any.whl", zipped(wheel, "", epoch)

    sources = {**modules, **collected(folder, "pyproject.toml", "README.md"), "LICENSE": LICENCE, "PKG-INFO": metadata}
    yield f"{name}-{version}.tar.gz", tar(sources, f"{name}-{version}", epoch)


def digest(data):
    return base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()


def go(version, epoch):
    folder = CLIENTS / "go"
    module = (folder / "go.mod").read_text().split()[1]
    files = collected(folder, "*.go", "go.mod", "README.md") | {"LICENSE": LICENCE}
    if f'const Version = "{version}"'.encode() not in files["types.go"]:
        sys.exit(f"clients: clients/go/types.go does not have version {version}; run clients/generate")
    yield f"coffer-client-go-{version}.zip", zipped(files, f"{module}@v{version}/", epoch)


def php(version, epoch):
    folder = CLIENTS / "php"
    require_version("clients/php/composer.json", json.loads((folder / "composer.json").read_text())["version"], version)
    files = collected(folder, "src/*.php", "composer.json", "README.md") | {"LICENSE": LICENCE}
    yield f"coffer-client-php-{version}.zip", zipped(files, "", epoch)


def main(folder, version, epoch):
    for language in (typescript, python, go, php):
        for name, data in language(version, int(epoch)):
            (pathlib.Path(folder) / name).write_bytes(data)
            print(pathlib.Path(folder) / name)


if len(sys.argv) != 4:
    sys.exit(__doc__)
main(*sys.argv[1:])
