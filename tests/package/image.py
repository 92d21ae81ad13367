#!/usr/bin/env python3
# ctest: cost=40
"""The container image, built without an engine: an OCI image layout that this test checks against the specification
(https://github.com/opencontainers/image-spec) and that umoci unpacks. The image is reproducible, and its binary serves
as its user, without any other file."""

import gzip
import hashlib
import io
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tarfile
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))

from harness.machine import binary, program, skip
from harness.report import check, wait_for

VERSION = "1.2.3"
EPOCH = 1_700_000_000
MEDIA = "application/vnd.oci.image."
FILES = {"etc/ssl/certs/ca-certificates.crt": 0o644, "usr/bin/coffer": 0o755, "usr/bin/coffer-provider-sim": 0o755,
         **{"usr/share/doc/coffer/webhook-consumers/consumer." + ending: 0o644 for ending in ("go", "mjs", "php", "py")}}
LEDGER = "var/lib/coffer"
USER = 65532


def made(folder, name, umask, epoch=EPOCH, version=VERSION):
    """Builds the image. Returns the archive, and the digest of its manifest."""
    files, archive = os.path.join(folder, name), os.path.join(folder, name + ".tar")
    environment = {**os.environ, "COFFER_PACKAGE_BIN": binary()}
    if not os.path.isdir(files):
        subprocess.run(["bash", "-c", f"umask {umask}; packaging/image.sh {files}"], env=environment, check=True)
    digest = subprocess.run(
        [sys.executable, "-B", "packaging/oci.py", files, "amd64", version, str(epoch), archive],
        stdout=subprocess.PIPE, text=True, check=True).stdout.strip()
    return archive, digest


def content(archive):
    with tarfile.open(archive) as tar:
        return {one.name: tar.extractfile(one).read() for one in tar if one.isfile()}


def packed(files, folder, name):
    """Unpacks a layout into a folder, for umoci."""
    top = os.path.join(folder, name)
    for path, data in files.items():
        os.makedirs(os.path.dirname(os.path.join(top, path)), exist_ok=True)
        with open(os.path.join(top, path), "wb") as file:
            file.write(data)
    return top


def blob(files, descriptor, media, faults):
    digest = descriptor["digest"]
    data = files.get("blobs/" + digest.replace(":", "/"))
    if descriptor["mediaType"] != MEDIA + media:
        faults.append(f"{digest} has the type {descriptor['mediaType']}")
    if data is None:
        faults.append(f"{digest} is missing")
        return b"{}"
    if len(data) != descriptor["size"]:
        faults.append(f"{digest} has {len(data)} bytes instead of {descriptor['size']}")
    if "sha256:" + hashlib.sha256(data).hexdigest() != digest:
        faults.append(f"{digest} has other content")
    return data


def judge_layer(data, faults):
    with tarfile.open(fileobj=io.BytesIO(data)) as tar:
        entries = tar.getmembers()
    names = [one.name for one in entries]
    if names != sorted(names):
        faults.append("the layer is not sorted")
    for one in entries:
        is_ledger = one.name == LEDGER
        expected = FILES.get(one.name, 0o700 if is_ledger else 0o755)
        if one.isfile() != (one.name in FILES) or not (one.isfile() or one.isdir()):
            faults.append(f"{one.name} does not belong in the image")
        if one.mode != expected or one.mtime != EPOCH:
            faults.append(f"{one.name} has mode {one.mode:o} and time {one.mtime}")
        if (one.uid, one.gid) != ((USER, USER) if is_ledger else (0, 0)):
            faults.append(f"{one.name} belongs to {one.uid}:{one.gid}")
    if not set(FILES) | {LEDGER} <= set(names):
        faults.append(f"the layer has only {names}")


def judge(files):
    """Returns (faults, config) of a layout."""
    faults = []
    if json.loads(files["oci-layout"]) != {"imageLayoutVersion": "1.0.0"}:
        faults.append("oci-layout")
    index = json.loads(files["index.json"])
    (entry,) = index["manifests"]
    if index["schemaVersion"] != 2 or index["mediaType"] != MEDIA + "index.v1+json":
        faults.append("the index has another format")
    if entry["platform"] != {"architecture": "amd64", "os": "linux"}:
        faults.append(f"the platform is {entry['platform']}")
    if entry["annotations"]["org.opencontainers.image.ref.name"] != VERSION:
        faults.append("the image has no name")
    manifest = json.loads(blob(files, entry, "manifest.v1+json", faults))
    if manifest.get("schemaVersion") != 2 or manifest.get("mediaType") != MEDIA + "manifest.v1+json":
        return faults + ["the manifest has another format"], {}
    described = json.loads(blob(files, manifest["config"], "config.v1+json", faults))
    (layer,) = manifest["layers"]
    packed_layer = blob(files, layer, "layer.v1.tar+gzip", faults)
    try:
        data = gzip.decompress(packed_layer)
    except (OSError, EOFError) as error:
        return faults + [f"the layer is not compressed data: {error}"], {}
    if described["rootfs"] != {"type": "layers", "diff_ids": ["sha256:" + hashlib.sha256(data).hexdigest()]}:
        faults.append("the config names another layer")
    if (described["architecture"], described["os"]) != ("amd64", "linux"):
        faults.append("the config is for another platform")
    if len(files) != 5:
        faults.append(f"the layout has {len(files)} files; expected 2 and 3 blobs")
    judge_layer(data, faults)
    return faults, described["config"]


def changed(files, find):
    """A copy of the layout with one changed byte in the blob that `find` accepts."""
    name = next(name for name, data in files.items() if name.startswith("blobs/") and find(data))
    data = bytearray(files[name])
    data[len(data) // 2] ^= 1
    return {**files, name: bytes(data)}


def is_layer(data):
    return data[:2] == b"\x1f\x8b"


def as_volume_of_group(folder, group):
    """Prepares the volume as a platform does before each start of a pod with `fsGroup`."""
    for place, _, names in os.walk(folder):
        os.chown(place, -1, group)
        os.chmod(place, 0o2770)
        for path in (os.path.join(place, name) for name in names):
            os.chown(path, -1, group)
            os.chmod(path, os.stat(path).st_mode & 0o777 | 0o660)


def serve(root, config, group=USER):
    """Runs the image like an engine: with only its files, and its user, variables and command. Only the address
    differs: a free port on loopback."""
    variables = dict(one.split("=", 1) for one in config["Env"])
    check("the image listens on all addresses of the container", variables["COFFER_LISTEN_HTTP"] == "0.0.0.0:8080")
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    variables |= {"COFFER_LISTEN_HTTP": f"0.0.0.0:{port}", "COFFER_ADMIN_LISTEN": "127.0.0.1:0"}
    (name,) = config["Entrypoint"]
    chroot = [shutil.which("chroot"), "--userspec=" + config["User"], f"--groups={group}", root, f"{variables['PATH']}/{name}"]

    def run(*words):
        return subprocess.run([*chroot, *words], env=variables, capture_output=True, text=True, timeout=120)

    log = os.path.join(os.path.dirname(root), "log")

    def url():
        with open(log, encoding="utf-8") as file:
            lines = [json.loads(line) for line in file if line.startswith("{")]
        return next((line["url"] for line in lines if line.get("msg", line.get("message")) == "listening"), None)

    with open(log, "w", encoding="utf-8") as out:
        server = subprocess.Popen([*chroot, *config["Cmd"]], env=variables, stdout=out, stderr=out)
    try:
        wait_for("the image serves", lambda: server.poll() is not None or url(), 60)
        check("the image serves as its user", url() is not None, open(log, encoding="utf-8").read())
        command = config["Healthcheck"]["Test"][2:]
        wait_for("its health check finds the configured port", lambda: run(*command).returncode == 0, 20)
        listed = run("association", "list")
        check("commands find the server", listed.returncode == 0, listed.stderr)
        owner = os.stat(os.path.join(root, LEDGER, "coffer.db"))
        check("the ledger belongs to the user of the image", owner.st_uid == USER)
        server.send_signal(signal.SIGTERM)
        check("the image exits with 0 on SIGTERM", server.wait(60) == 0)
    finally:
        if server.poll() is None:
            server.kill()
            server.wait()


def main():
    if not os.path.isfile("/etc/ssl/certs/ca-certificates.crt"):
        skip("this machine has no root certificates")
    with tempfile.TemporaryDirectory() as folder:
        os.chmod(folder, 0o755)
        one, digest = made(folder, "one", "022")
        two, again = made(folder, "two", "077")
        check("two builds have the same bytes", open(one, "rb").read() == open(two, "rb").read())
        check("two builds have the same digest", digest == again and digest.startswith("sha256:"))
        _, other = made(folder, "two", "022", epoch=EPOCH + 60)
        check("control: another time gives another digest", other != digest)
        _, other = made(folder, "two", "022", version="1.2.4")
        check("control: another version gives another digest", other != digest)

        files = content(one)
        faults, config = judge(files)
        check("the layout follows the specification", not faults, faults)
        check("the index names the digest", digest in files["index.json"].decode())
        check("the user is not root", config["User"] == f"{USER}:{USER}")
        check("the ledger is a volume", config["Volumes"] == {"/" + LEDGER: {}})
        check("the port is declared", config["ExposedPorts"] == {"8080/tcp": {}})
        for what, find in (("layer", is_layer), ("config", lambda data: b"diff_ids" in data)):
            check(f"control: a changed {what} is detected", judge(changed(files, find))[0])

        root = os.path.join(folder, "unpacked")
        with tarfile.open(fileobj=io.BytesIO(gzip.decompress(next(filter(is_layer, files.values()))))) as tar:
            if os.geteuid() == 0:
                tar.extractall(root, numeric_owner=True)
        if os.geteuid() != 0:
            skip("only root can use the image's user and folder as its root")
        serve(root, config)
        group = 2000
        as_volume_of_group(os.path.join(root, LEDGER), group)
        serve(root, config, group)

        umoci = program("umoci")
        layout = packed(files, folder, "layout")
        bundle = os.path.join(folder, "bundle")
        said = subprocess.run([umoci, "unpack", "--image", f"{layout}:{VERSION}", bundle], capture_output=True, text=True)
        check("umoci unpacks the image", said.returncode == 0, said.stderr)
        with open(os.path.join(bundle, "config.json"), encoding="utf-8") as file:
            process = json.load(file)["process"]
        check("umoci reads the command", process["args"] == ["coffer", "serve", "--init"], process["args"])
        check("umoci reads the user", (process["user"]["uid"], process["user"]["gid"]) == (USER, USER))
        check("umoci reads the variables", set(config["Env"]) <= set(process["env"]))
        for path in FILES:
            there, here = (os.path.join(top, path) for top in (os.path.join(bundle, "rootfs"), os.path.join(folder, "one")))
            check(f"and {path}", open(there, "rb").read() == open(here, "rb").read())
        broken = packed(changed(files, is_layer), folder, "broken")
        said = subprocess.run([umoci, "unpack", "--image", f"{broken}:{VERSION}", bundle + "2"], capture_output=True)
        check("control: umoci rejects a changed layer", said.returncode != 0)


main()
