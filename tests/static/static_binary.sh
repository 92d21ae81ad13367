#!/usr/bin/env bash
# The shipped binary must run anywhere: one file, without loader, libraries or the host's name services.
# Tests $COFFER_RELEASE_BIN from outside.
#
#   1. the file      static-pie, no interpreter, small, no fault points, no path of the build machine
#   2. an empty root runs and serves in a chroot that contains only the binary
#   3. names         resolves names and verifies TLS there with only resolv.conf and a CA file, and loads
#                    nothing if nsswitch.conf lists services of the host
#
# Parts 2 and 3 run in a new network namespace, so they use no port of the machine. If a namespace cannot be
# created, they are skipped: the test exits with 77 if part 1 passed.
set -euo pipefail

bin=${COFFER_RELEASE_BIN:?the release binary}
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
source_dir=${COFFER_SOURCE_DIR:-$(cd "$here/../.." && pwd)}
max_bytes=$((17 * 1024 * 1024))

PATH=$PATH:/usr/sbin:/sbin # where chroot and ip are for those who are not root
chroot=$(command -v chroot)

failures=0
ok() { printf 'ok       %s\n' "$*"; }
not_ok() {
  printf 'FAILED   %s\n' "$*"
  failures=$((failures + 1))
}
check() { # <what> <command ...>: the command must succeed
  local what=$1
  shift
  if "$@"; then ok "$what"; else not_ok "$what"; fi
}
check_not() { # <what> <command ...>: the command must fail
  local what=$1
  shift
  if "$@"; then not_ok "$what"; else ok "$what"; fi
}
finish() {
  [ "$failures" -eq 0 ] || { printf '%d checks failed\n' "$failures"; exit 1; }
  exit "${1:-0}"
}

[ -x "$bin" ] || { printf '%s is missing. Build it with ./dev build release-static\n' "$bin"; exit 1; }

scratch=${STATIC_SCRATCH:-}
if [ -z "$scratch" ]; then
  scratch=$(mktemp -d)
  trap 'rm -rf "$scratch"' EXIT
fi

# --- 1. The file (outside the namespace) --------------------------------------------------------------

look_at_file() {
  local kind headers stripped size
  kind=$(file -b "$bin")
  check "is static-pie linked" grep -q 'static-pie linked' <<<"$kind"
  headers=$(readelf -lW "$bin")
  check_not "has no INTERP header" grep -q INTERP <<<"$headers"
  check_not "needs no shared library" grep -q NEEDED <<<"$(readelf -dW "$bin")"
  check "has read-only relocations" grep -q GNU_RELRO <<<"$headers"
  check_not "has no executable stack" grep -q 'GNU_STACK.*RWE' <<<"$headers"

  stripped=$scratch/stripped
  strip -o "$stripped" "$bin"
  size=$(stat -c %s "$stripped")
  check "is at most $max_bytes bytes stripped (is $size)" test "$size" -le "$max_bytes"

  # An environment variable must not be able to crash the shipped binary.
  check_not "has no fault points" grep -qa COFFER_FAULT "$bin"
  check_not "names no folder of the build machine" grep -qaF "$source_dir/" "$bin"
}

# --- Parts 2 and 3 need a root folder and a network namespace ----------------------------------------

new_root() { # <name>: a folder that holds the binary and nothing else
  local root=$scratch/$1
  mkdir "$root"
  cp "$scratch/stripped" "$root/coffer"
  printf '%s\n' "$root"
}

in_root() { # <root> <arguments of coffer ...>
  local root=$1
  shift
  timeout 30 env -i "$chroot" "$root" /coffer "$@"
}

exits_with() { # <expected, or several> <command ...>; the output is shown when it is another
  local expected=$1 code=0
  shift
  "$@" >"$scratch/output" 2>&1 </dev/null || code=$?
  [[ " $expected " == *" $code "* ]] && return 0
  printf '         exit %s, expected %s\n' "$code" "$expected"
  sed 's/^/         | /' "$scratch/output" | tail -n 20
  return 1
}

wait_for() { # <seconds> <command ...>
  local tries=$(($1 * 10))
  shift
  until "$@"; do
    tries=$((tries - 1))
    [ "$tries" -gt 0 ] || return 1
    sleep 0.1
  done
}

demo_spoke_or_died() { # <pid>
  grep -q baseUrl "$scratch/demo.json" || ! kill -0 "$1" 2>/dev/null
}

serve_in_empty_root() {
  local root pid base
  root=$(new_root empty)
  check "coffer version runs in an empty root" exits_with 0 in_root "$root" version
  check "only the binary is there afterwards" test "$(ls -A "$root")" = coffer

  : >"$scratch/demo.json"
  env -i "$chroot" "$root" /coffer demo --db /x.db --port 0 --json \
    >"$scratch/demo.json" 2>"$scratch/demo.log" </dev/null &
  pid=$!
  wait_for 30 demo_spoke_or_died "$pid" || true
  if grep -q baseUrl "$scratch/demo.json"; then
    ok "coffer demo starts in an empty root"
    base=$(sed -n 's/.*"baseUrl" *: *"\([^"]*\)".*/\1/p' "$scratch/demo.json" | head -n 1)
    # The address of the server, without the path of the base URL.
    base=$(grep -o '^https\?://[^/]*' <<<"$base" || true)
    check "and answers $base/livez" \
      curl -sf --noproxy '*' -m 5 -o "$scratch/livez" "$base/livez"
    check "coffer healthcheck finds it healthy" \
      exits_with 0 in_root "$root" healthcheck --url "$base/livez"
  else
    not_ok "coffer demo starts in an empty root"
    sed 's/^/         | /' "$scratch/demo.log" | tail -n 20
  fi
  kill -TERM "$pid" 2>/dev/null || true
  local code=0
  wait "$pid" || code=$?
  check "and exits with 0 on SIGTERM (was $code)" test "$code" -eq 0
}

make_certificates() { # a CA, and a server certificate for name.test
  openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 \
    -subj '/CN=coffer test CA' -keyout "$scratch/ca.key" -out "$scratch/ca.pem" 2>/dev/null
  openssl req -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -subj '/CN=name.test' \
    -keyout "$scratch/server.key" -out "$scratch/server.csr" 2>/dev/null
  printf 'subjectAltName=DNS:name.test\n' >"$scratch/server.ext"
  openssl x509 -req -in "$scratch/server.csr" -CA "$scratch/ca.pem" -CAkey "$scratch/ca.key" \
    -CAcreateserial -days 2 -extfile "$scratch/server.ext" -out "$scratch/server.pem" 2>/dev/null
}

# Stand-ins for a host's name services, which leave a mark when they are loaded. A static glibc program can load
# the real ones, and `resolve` and `myhostname` crash it.
set_nss_trap() { # <root>
  local root=$1 folder service
  cat >"$scratch/trap.c" <<'C'
#include <fcntl.h>
#include <sys/syscall.h>
__attribute__((constructor)) static void sprung(void) {
  /* No C library here: a plain system call. */
  long result;
  register long flags __asm__("r10") = 0600;
  __asm__ volatile("syscall" : "=a"(result)
                   : "a"(SYS_openat), "D"(AT_FDCWD), "S"("/trap_sprung"), "d"(O_CREAT | O_WRONLY), "r"(flags)
                   : "rcx", "r11", "memory");
}
C
  gcc -shared -fPIC -nostdlib -o "$scratch/trap.so" "$scratch/trap.c"
  folder=$root/lib/$(gcc -print-multiarch)
  mkdir -p "$root/etc" "$folder"
  for service in resolve myhostname mdns4_minimal; do
    cp "$scratch/trap.so" "$folder/libnss_$service.so.2"
  done
  printf 'hosts: resolve myhostname mdns4_minimal files dns\n' >"$root/etc/nsswitch.conf"
}

# Control: a static program that resolves a name triggers the trap.
check_trap_springs() {
  local root=$scratch/control
  mkdir "$root"
  set_nss_trap "$root"
  cat >"$scratch/control.c" <<'C'
#include <netdb.h>
int main(void) {
  struct addrinfo *found = 0;
  return getaddrinfo("name.test", "443", 0, &found) != 0;
}
C
  gcc -static-pie -o "$root/control" "$scratch/control.c" 2>/dev/null
  timeout 30 env -i "$chroot" "$root" /control >/dev/null 2>&1 || true
  check "the trap springs for a program that asks NSS" test -e "$root/trap_sprung"
}

resolve_names() {
  local root server port url
  make_certificates
  PYTHONPATH=$here/.. python3 -B "$here/name_server.py" "$scratch/server.pem" "$scratch/server.key" "$scratch/port" &
  server=$!
  if ! wait_for 10 test -s "$scratch/port"; then
    not_ok "the helper serves names and TLS"
    return
  fi
  port=$(cat "$scratch/port")
  url=https://name.test:$port/livez

  root=$(new_root names)
  mkdir "$root/etc"
  printf 'nameserver 127.0.0.1\n' >"$root/etc/resolv.conf"
  cp "$scratch/ca.pem" "$root/ca.pem"
  check "resolves a name and verifies its server" \
    exits_with 0 in_root "$root" healthcheck --url "$url" --ca-bundle /ca.pem
  check "a server that answers 503 is not healthy" \
    exits_with 3 in_root "$root" healthcheck --url "https://name.test:$port/unhealthy" --ca-bundle /ca.pem
  check "a certificate for another name is rejected" \
    exits_with 69 in_root "$root" healthcheck --url "https://other.test:$port/livez" --ca-bundle /ca.pem
  check "a name that does not exist is unreachable" \
    exits_with 69 in_root "$root" healthcheck --url "https://nowhere.test:$port/livez" --ca-bundle /ca.pem
  # Without a CA bundle in this root, verification must still not be skipped.
  check "without a CA bundle no server is trusted" \
    exits_with "69 78" in_root "$root" healthcheck --url "$url"

  set_nss_trap "$root"
  check "resolves with a hostile nsswitch.conf" \
    exits_with 0 in_root "$root" healthcheck --url "$url" --ca-bundle /ca.pem
  check "and loaded none of the host's name services" test ! -e "$root/trap_sprung"
  check_trap_springs

  kill "$server" 2>/dev/null || true
  wait "$server" 2>/dev/null || true
}

# --- Sequence -----------------------------------------------------------------------------------------

if [ "${1:-}" = --inside ]; then
  ip link set lo up
  serve_in_empty_root
  resolve_names
  finish
fi

look_at_file

# Root can create a network namespace. Other users need a user namespace as well, where allowed.
if unshare -n true 2>/dev/null; then
  namespace=(unshare -n)
elif unshare -rn true 2>/dev/null; then
  namespace=(unshare -rn)
else
  printf 'skipped  cannot create a network namespace: parts 2 and 3 did not run\n'
  finish 77
fi

STATIC_SCRATCH=$scratch "${namespace[@]}" "$here/$(basename "${BASH_SOURCE[0]}")" --inside ||
  failures=$((failures + 1))
finish
