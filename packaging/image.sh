#!/usr/bin/env bash
# Collects the files of the container image: only the two programs, root certificates, the webhook consumers of the
# documents, and an empty folder for the ledger. packaging/Dockerfile, packaging/publish.sh and the tests of the image call this script.
#
#   packaging/image.sh FOLDER
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
image=${1:?folder}
bin=${COFFER_PACKAGE_BIN:-build/release-static/coffer}
install -D -m 0755 "$bin" "$image/usr/bin/coffer"
install -m 0755 "$(dirname "$bin")/coffer-provider-sim" "$image/usr/bin/"
"${COFFER_PACKAGE_STRIP:-strip}" --strip-all --remove-section=.comment "$image"/usr/bin/*
install -D -m 0644 /etc/ssl/certs/ca-certificates.crt "$image/etc/ssl/certs/ca-certificates.crt"
install -D -m 0644 -t "$image/usr/share/doc/coffer/webhook-consumers" docs/webhook-consumers/*
# The image has no user names, so the owner is a number. COPY keeps the owner of a folder; packaging/oci.py sets owners
# itself.
install -d -m 0700 "$image/var/lib/coffer"
[ "$(id -u)" -ne 0 ] || chown 65532:65532 "$image/var/lib/coffer"
