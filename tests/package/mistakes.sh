#!/usr/bin/env bash
# Each kind of mistake in a configuration: one sentence, and an exit code that is not restarted on.
set -euo pipefail
exec python3 -B "${COFFER_SOURCE_DIR:?}/tests/package/mistakes.py" "${COFFER_RELEASE_BIN:?}"
