#!/usr/bin/env python3
"""The contents of the static binary, from third_party/manifest.cmake and the packages of this machine.

    packaging/inventory.py sbom BINARY VERSION     CycloneDX 1.5, JSON
    packaging/inventory.py copyright               all licences, for /usr/share/doc/coffer/copyright
    packaging/inventory.py built-using             the value of the field Static-Built-Using

COFFER_PACKAGE_SYSROOT  the folder from packaging/sysroot.sh, for a binary built with its packages

The same sources and packages produce the same bytes; the only time in them is SOURCE_DATE_EPOCH.
"""
import datetime
import hashlib
import json
import os
import pathlib
import subprocess
import sys
import uuid

HERE = pathlib.Path(__file__).resolve().parent
SYSROOT = os.environ.get("COFFER_PACKAGE_SYSROOT", "")


def output(*command):
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout


def gcc_release():
    return output("aarch64-linux-gnu-gcc" if SYSROOT else "gcc", "-dumpversion").strip().partition(".")[0]


def needs(package, library):
    """Whether this release's static library of `package` needs `library`."""
    return not SYSROOT and library in output("dpkg-query", "-W", "-f", "${Depends}", package)


def implied():
    """The linked libraries that the manifest does not list, because it lists only the dependencies that the sources
    request: the C and C++ libraries, and what newer releases build these dependencies with. A cross compiler includes
    its C++ library."""
    rows = [
        ("glibc", "LGPL-2.1-or-later", "https://www.gnu.org/software/libc/", "libc6-dev"),
        ("libstdc++", "GPL-3.0-or-later WITH GCC-exception-3.1", "https://gcc.gnu.org",
         f"libstdc++-{gcc_release()}-dev" + ("-arm64-cross" if SYSROOT else "")),
    ]
    if needs("libre2-dev", "libabsl-dev"):
        rows.append(("abseil", "Apache-2.0", "https://abseil.io", "libabsl-dev"))
    if not SYSROOT and "-lzstd" in output("pkg-config", "--static", "--libs-only-l", "libcrypto"):
        rows.append(("zstd", "BSD-3-Clause", "https://facebook.github.io/zstd", "libzstd-dev"))
    return rows


def sysroot_packages():
    if not SYSROOT:
        return {}
    lines = pathlib.Path(SYSROOT, "packages").read_text().splitlines()
    return {name: rest for name, *rest in (line.split("\t") for line in lines)}


def debian(package):
    """Version, source package, its version and the architecture of a package."""
    if package in sysroot_packages():
        return sysroot_packages()[package]
    form = "${Version}\t${source:Package}\t${source:Version}\t${Architecture}"
    return output("dpkg-query", "-W", "-f", form, package).split("\t")


def third_party_root():
    cache = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
    return pathlib.Path(os.environ.get("COFFER_THIRD_PARTY_DIR") or f"{cache}/coffer/third_party")


def components():
    """Dictionaries in the order of the manifest, the implied ones last."""
    found = []
    for line in output("cmake", "-P", str(HERE / "inventory.cmake")).splitlines():
        kind, name, *rest = line.split("\t")
        if kind == "archive":
            version, licence, homepage, content, address = rest
            found.append(dict(name=name, version=version, licence=licence, homepage=homepage,
                              content=content, address=address))
        else:
            licence, homepage, packages = rest
            for package in packages.split():
                found.append(dict(name=name if " " not in packages else package, licence=licence,
                                  homepage=homepage, package=package))
    for name, licence, homepage, package in implied():
        found.append(dict(name=name, licence=licence, homepage=homepage, package=package))
    for one in found:
        if "package" in one:
            one["version"], one["source"], one["source_version"], one["arch"] = debian(one["package"])
    return found


def sbom(binary, version):
    digest = hashlib.sha256(pathlib.Path(binary).read_bytes()).hexdigest()
    epoch = int(os.environ.get("SOURCE_DATE_EPOCH", "0"))
    stamp = datetime.datetime.fromtimestamp(epoch, datetime.timezone.utc)
    listed = []
    for one in components():
        licence = one["licence"]
        entry = {
            "type": "library",
            "name": one["name"],
            "version": one["version"],
            "licenses": [{"expression": licence} if " " in licence else {"license": {"id": licence}}],
            "externalReferences": [{"type": "website", "url": one["homepage"]}],
        }
        if "package" in one:
            entry["purl"] = f"pkg:deb/debian/{one['package']}@{one['version']}?arch={one['arch']}"
        else:
            address = one["address"]
            if address.startswith("npm:"):
                package, _, at = address[4:].rpartition("@")
                entry["purl"] = f"pkg:npm/{package}@{at}"
            else:
                entry["purl"] = f"pkg:generic/{one['name']}@{one['version']}?download_url={address}"
                entry["externalReferences"].append({"type": "distribution", "url": address})
            # The hash covers the compiled files with coffer's patches: see third_party/manifest.cmake.
            entry["properties"] = [{"name": "coffer:content-sha256", "value": one["content"]}]
        entry["bom-ref"] = entry["purl"]
        listed.append(entry)
    document = {
        "bomFormat": "CycloneDX",
        "specVersion": "1.5",
        "serialNumber": "urn:uuid:" + str(uuid.uuid5(uuid.NAMESPACE_OID, digest)),
        "version": 1,
        "metadata": {
            "timestamp": stamp.strftime("%Y-%m-%dT%H:%M:%SZ"),
            "component": {
                "type": "application",
                "bom-ref": "coffer",
                "name": "coffer",
                "version": version,
                "licenses": [{"license": {"id": "Apache-2.0"}}],
                "hashes": [{"alg": "SHA-256", "content": digest}],
            },
        },
        "components": listed,
        "dependencies": [{"ref": "coffer", "dependsOn": [entry["bom-ref"] for entry in listed]}],
    }
    return json.dumps(document, indent=2) + "\n"


def licence_text(one):
    if "package" in one:
        root = SYSROOT if one["package"] in sysroot_packages() else ""
        return pathlib.Path(f"{root}/usr/share/doc/{one['package']}/copyright").read_text(errors="replace")
    kept = third_party_root() / f"{one['name']}-{one['version']}-{one['content'][:8]}"
    for name in ("LICENSE", "LICENSE.txt", "COPYRIGHT"):
        if (kept / name).is_file():
            return (kept / name).read_text()
    return (HERE / "licences" / f"{one['name']}.txt").read_text()


def copyright_text():
    out = [
        "coffer, a payment gateway.\n"
        "Copyright 2026 the authors of coffer.\n\n"
        "Licensed under the Apache License, Version 2.0; on Debian systems its text is in\n"
        "/usr/share/common-licenses/Apache-2.0.\n\n"
        "coffer is statically linked. It contains the following third-party components under the\n"
        "licences below.\n"
    ]
    for one in components():
        title = f"{one['name']} {one['version']} ({one['licence']}), {one['homepage']}"
        out.append(f"\n{'=' * 98}\n{title}\n{'=' * 98}\n\n{licence_text(one).strip()}\n")
    return "".join(out)


def built_using():
    pairs = {(one["source"], one["source_version"]) for one in components() if "package" in one}
    return ", ".join(f"{name} (= {version})" for name, version in sorted(pairs)) + "\n"


def main(arguments):
    if len(arguments) == 3 and arguments[0] == "sbom":
        sys.stdout.write(sbom(arguments[1], arguments[2]))
    elif arguments == ["copyright"]:
        sys.stdout.write(copyright_text())
    elif arguments == ["built-using"]:
        sys.stdout.write(built_using())
    else:
        sys.exit(__doc__)


main(sys.argv[1:])
