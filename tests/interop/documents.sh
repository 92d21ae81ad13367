#!/usr/bin/env bash
# Every command of every document is run by a test, or is excused with a reason; each test that runs some
# fails where it leaves one out.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
exec python3 -B "$here/documents.py" check
