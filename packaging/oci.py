#!/usr/bin/env python3
"""Writes the container image as one file, an OCI image layout in a tar archive, without a container engine.

  packaging/oci.py FOLDER ARCHITECTURE VERSION EPOCH FILE

FOLDER has the files from packaging/image.sh. ARCHITECTURE is Debian's name, which OCI uses too. The last stage of
packaging/Dockerfile defines everything else. The same files, version and time produce the same bytes; the root
certificates are those of the machine.
"""
import gzip
import hashlib
import io
import json
import os
import re
import sys
import tarfile
import time

DOCKERFILE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "Dockerfile")
MEDIA = "application/vnd.oci.image."


def instructions():
    """(name, text) of the last stage, in order."""
    text = open(DOCKERFILE).read().replace("\\\n", " ")
    lines = [line for line in text.splitlines() if line and not line.startswith("#")]
    first = max(at for at, line in enumerate(lines) if line.startswith("FROM "))
    assert lines[first] == "FROM scratch", lines[first]
    return [tuple(line.split(None, 1)) for line in lines[first + 1 :]]


def seconds(options, name):
    return int(re.search(rf"--{name}=(\d+)s", options)[1]) * 1_000_000_000


def run_config():
    """The `config` of the image. Healthcheck is Docker's extension, which other engines ignore."""
    out = {}
    for name, text in instructions():
        if name == "COPY":
            continue
        elif name == "USER":
            out["User"] = text
        elif name == "ENV":
            out["Env"] = text.split()
        elif name == "VOLUME":
            out["Volumes"] = {text: {}}
        elif name == "EXPOSE":
            out["ExposedPorts"] = {f"{text}/tcp": {}}
        elif name == "HEALTHCHECK":
            options, command = text.split(" CMD ")
            out["Healthcheck"] = {
                "Test": ["CMD", *json.loads(command)],
                "Interval": seconds(options, "interval"),
                "Timeout": seconds(options, "timeout"),
                "StartPeriod": seconds(options, "start-period"),
            }
        elif name in ("ENTRYPOINT", "CMD"):
            out[name.capitalize()] = json.loads(text)
        else:
            sys.exit(f"oci: packaging/Dockerfile uses {name}, which this script does not support; add it to run_config")
    return out


def entry(name, mode, epoch, kind=tarfile.REGTYPE, size=0, owner=0):
    info = tarfile.TarInfo(name)
    info.mode, info.type, info.mtime, info.size = mode, kind, epoch, size
    info.uid = info.gid = owner
    return info


def layer(folder, epoch, config):
    """The files as a tar archive. The user of the image owns the volumes; the rest belongs to root."""
    owner = int(config["User"].split(":")[0])
    volumes = [path.strip("/") for path in config["Volumes"]]
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w", format=tarfile.USTAR_FORMAT) as tar:
        paths = []
        for parent, folders, files in os.walk(folder):
            paths += [os.path.relpath(os.path.join(parent, name), folder) for name in folders + files]
        for name in sorted(paths):
            path = os.path.join(folder, name)
            mode = os.stat(path).st_mode & 0o777
            if os.path.isdir(path):
                is_volume = name in volumes
                tar.addfile(
                    entry(name, 0o700 if is_volume else 0o755, epoch, tarfile.DIRTYPE, 0, owner if is_volume else 0)
                )
                continue
            with open(path, "rb") as file:
                tar.addfile(entry(name, mode, epoch, size=os.path.getsize(path)), file)
    return out.getvalue()


def as_json(value):
    return json.dumps(value, sort_keys=True, separators=(",", ":")).encode()


class Layout:
    def __init__(self):
        self.files = {"oci-layout": as_json({"imageLayoutVersion": "1.0.0"})}

    def add(self, data, media):
        """Returns the descriptor of a new blob."""
        digest = hashlib.sha256(data).hexdigest()
        self.files[f"blobs/sha256/{digest}"] = data
        return {"mediaType": MEDIA + media, "digest": f"sha256:{digest}", "size": len(data)}

    def write(self, path, epoch):
        with tarfile.open(path, mode="w", format=tarfile.USTAR_FORMAT) as tar:
            for name in ("blobs", "blobs/sha256"):
                tar.addfile(entry(name, 0o755, epoch, tarfile.DIRTYPE))
            for name, data in sorted(self.files.items()):
                tar.addfile(entry(name, 0o644, epoch, size=len(data)), io.BytesIO(data))


def main(folder, architecture, version, epoch, path):
    epoch = int(epoch)
    created = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(epoch))
    config = run_config()
    files = layer(folder, epoch, config)
    layout = Layout()
    packed = layout.add(gzip.compress(files, 9, mtime=0), "layer.v1.tar+gzip")
    platform = {"architecture": architecture, "os": "linux"}
    described = layout.add(
        as_json(
            {
                **platform,
                "created": created,
                "config": config,
                "rootfs": {"type": "layers", "diff_ids": ["sha256:" + hashlib.sha256(files).hexdigest()]},
                "history": [{"created": created, "created_by": "packaging/oci.py"}],
            }
        ),
        "config.v1+json",
    )
    manifest = layout.add(
        as_json(
            {
                "schemaVersion": 2,
                "mediaType": MEDIA + "manifest.v1+json",
                "config": described,
                "layers": [packed],
                "annotations": {
                    "org.opencontainers.image.title": "coffer",
                    "org.opencontainers.image.version": version,
                    "org.opencontainers.image.created": created,
                },
            }
        ),
        "manifest.v1+json",
    )
    layout.files["index.json"] = as_json(
        {
            "schemaVersion": 2,
            "mediaType": MEDIA + "index.v1+json",
            "manifests": [
                {**manifest, "platform": platform, "annotations": {"org.opencontainers.image.ref.name": version}}
            ],
        }
    )
    layout.write(path, epoch)
    print(manifest["digest"])


if __name__ == "__main__":
    if len(sys.argv) != 6:
        sys.exit(__doc__)
    main(*sys.argv[1:])
