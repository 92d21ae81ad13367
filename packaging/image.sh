#!/usr/bin/env bash
# The files of the container image: the two programs, root certificates, an empty folder for the ledger, and
# nothing else. packaging/Dockerfile calls it, and so does the test of the image.
#
#   packaging/image.sh FOLDER
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
image=${1:?folder}
bin=${COFFER_PACKAGE_BIN:-build/release-static/coffer}
install -D -m 0755 "$bin" "$image/usr/bin/coffer"
install -m 0755 "$(dirname "$bin")/coffer-provider-sim" "$image/usr/bin/"
strip --strip-all --remove-section=.comment "$image"/usr/bin/*
install -D -m 0644 /etc/ssl/certs/ca-certificates.crt "$image/etc/ssl/certs/ca-certificates.crt"
# The user of the image has no name; COPY keeps the owner of a folder.
install -d -m 0700 -o 65532 -g 65532 "$image/var/lib/coffer"
