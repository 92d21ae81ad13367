#!/usr/bin/env bash
# The command line as people and scripts meet it: the real binary, real files, a real server. Runs
# once with the sanitized binary and once with what ships.
#
# Every server listens on a port of its own choosing, every process that is ended was started here.
set -euo pipefail

dev_bin=${COFFER_DEV_BIN:?the development binary}
release_bin=${COFFER_RELEASE_BIN:-}

scratch=$(mktemp -d)
failures=0
server= # process id of the running server

finish() {
  [ -z "$server" ] || kill -KILL "$server" 2>/dev/null || true
  rm -rf "$scratch"
}
trap finish EXIT

ok() { printf 'ok       %s\n' "$*"; }
not_ok() {
  printf 'FAILED   %s\n' "$*"
  sed 's/^/         out | /' "$scratch/out" | tail -n 5
  sed 's/^/         err | /' "$scratch/err" | tail -n 5
  failures=$((failures + 1))
}
# <exit code> <what> <command ...>: output goes to $scratch/out and $scratch/err.
exits() {
  local expected=$1 what=$2 code=0
  shift 2
  "$@" >"$scratch/out" 2>"$scratch/err" </dev/null || code=$?
  if [ "$code" -eq "$expected" ]; then ok "$what"; else not_ok "$what (exit $code, not $expected)"; fi
}
says() { # <what> <pattern>: on standard error of the last command
  if grep -q -- "$2" "$scratch/err"; then ok "$1"; else not_ok "$1"; fi
}
prints() { # <what> <pattern>: on standard output of the last command
  if grep -q -- "$2" "$scratch/out"; then ok "$1"; else not_ok "$1"; fi
}
check() { # <what> <command ...>
  local what=$1
  shift
  if "$@"; then ok "$what"; else not_ok "$what"; fi
}
is_empty() { [ ! -s "$1" ]; }
member() { # <name>: a text member of the JSON in $scratch/out
  sed -n "s/.*\"$1\":\"\([^\"]*\)\".*/\1/p" "$scratch/out" | head -n 1
}
mode_of() { stat -c %a "$1"; }
wait_for() { # <seconds> <command ...>
  local tries=$(($1 * 20))
  shift
  until "$@"; do
    tries=$((tries - 1))
    [ "$tries" -gt 0 ] || return 1
    sleep 0.05
  done
}
in_json() { # <expression over j>: of the JSON line in $scratch/demo.json
  node -e 'const j = JSON.parse(require("fs").readFileSync(process.argv[1], "utf8").split("\n")[0]);
           const v = eval(process.argv[2]); console.log(typeof v === "string" ? v : JSON.stringify(v))' \
    "$scratch/demo.json" "$1"
}

start_demo() { # <arguments ...>: JSON goes to $scratch/demo.json
  : >"$scratch/demo.json"
  "$coffer" demo --port 0 --json "$@" >"$scratch/demo.json" 2>"$scratch/demo.log" </dev/null &
  server=$!
  if ! wait_for 60 grep -q baseUrl "$scratch/demo.json"; then
    cp "$scratch/demo.log" "$scratch/err"
    not_ok "the demo starts"
    exit 1
  fi
}
stop_server() { # <signal>: leaves the exit code in $server_code
  kill "-$1" "$server" 2>/dev/null || true
  server_code=0
  wait "$server" 2>/dev/null || server_code=$?
  server=
}
call() { # <path> <arguments of curl ...>: prints the status, the body goes to $scratch/body
  local path=$1
  shift
  curl -s --noproxy '*' -m 10 -o "$scratch/body" -w '%{http_code}' "$@" "$base$path"
}
log_in() { # <client id> <client secret>: prints the status; leaves $token
  local status
  status=$(call /v1/auth/token -H 'Content-Type: application/json' \
    -d "{\"clientId\":\"$1\",\"clientSecret\":\"$2\"}")
  token=$(sed -n 's/.*"accessToken" *: *"\([^"]*\)".*/\1/p' "$scratch/body")
  printf '%s' "$status" >"$scratch/status"
}
wallets_status() { # <api key>
  call /v1/wallets -H "x-svc-auth: $1" -H "Authorization: Bearer $token"
}

# --- Help and usage -----------------------------------------------------------------------------------

test_usage() {
  exits 2 "no arguments: wrong usage" "$coffer"
  says "and the help is shown" Usage
  check "not on standard output" is_empty "$scratch/out"
  exits 0 "--help" "$coffer" --help
  prints "is on standard output" Usage
  exits 0 "--version" "$coffer" --version
  check "is one line" test "$(wc -l <"$scratch/out")" -eq 1
  exits 0 "version --json" "$coffer" version --json
  prints "names SQLite" '"sqlite":"3\.'
  exits 0 "openapi" "$coffer" openapi
  check "prints JSON" node -e 'JSON.parse(require("fs").readFileSync(process.argv[1]))' "$scratch/out"

  local command
  for command in demo serve init verify healthcheck 'association create' 'application register' \
    'application scopes' 'wallet reject' 'asset liquidity' 'rate set' listen trigger \
    'events follow' 'webhook verify' doctor completion; do
    # shellcheck disable=SC2086  # two words are two arguments
    exits 0 "$command --help" "$coffer" $command --help
    check "says nothing on standard error" is_empty "$scratch/err"
  done

  exits 2 "an unknown command" "$coffer" frobnicate
  says "points to the help" -- '--help'
  exits 2 "an unknown option" "$coffer" verify --frobnicate
  exits 2 "a missing argument" "$coffer" association create
  exits 2 "a group alone" "$coffer" association
  exits 2 "a word that is no choice" "$coffer" rate set A B 1 --environment moon --db "$dir/no.db"
  exits 2 "a blank argument" "$coffer" association create ' ' --db "$dir/no.db"
  exits 2 "bytes that are no UTF-8" "$coffer" association create $'\xff\xfe' --db "$dir/no.db"
  exits 2 "an escape sequence" "$coffer" association create $'\e[2J' --db "$dir/no.db"
  check "and no escape comes back" eval '! grep -q $'"'\\e'"' "$scratch/err"'
  exits 2 "a port that is none" "$coffer" demo --port 70000 --db "$dir/no.db"
  exits 2 "two ways to say the address" "$coffer" demo --port 0 --listen-http 127.0.0.1:0 --db "$dir/no.db"
  exits 2 "a shell that is none" "$coffer" completion csh
  exits 0 "completion bash" "$coffer" completion bash
  check "is bash" bash -n "$scratch/out"
  exits 78 "a fault in the environment" env COFFER_WORKERS=many "$coffer" serve --db "$dir/no.db"
  check "nothing of all this made a file" test -z "$(ls -A "$dir")"
}

# --- A file that nobody serves ------------------------------------------------------------------------

test_stopped_file() {
  local db=$dir/data/own.db association application wallet
  exits 1 "a command on a file that is not there" "$coffer" association list --db "$db"
  says "says how to make one" 'coffer init'
  check "and does not make it" test ! -e "$dir/data"
  exits 0 "init" "$coffer" init --db "$db"
  check "the folder is private" test "$(mode_of "$dir/data")" = 700
  check "the file is private" test "$(mode_of "$db")" = 600
  check "the master key is private" test "$(mode_of "$dir/data/master.key")" = 600
  exits 73 "init again" "$coffer" init --db "$db"
  ln -s own.db "$dir/data/link.db"
  exits 73 "init on a link" "$coffer" init --db "$dir/data/link.db"

  exits 0 "association create" "$coffer" association create 'Müller & Söhne' --pending --json --db "$db"
  association=$(member id)
  prints "is pending" '"status":"pending"'
  exits 0 "association activate" "$coffer" association activate "$association" --json --db "$db"
  prints "is active" '"status":"active"'
  exits 1 "and again" "$coffer" association activate "$association" --db "$db"
  exits 1 "an association that is not there" "$coffer" association suspend 0190a5a0-0000-7000-8000-000000000000 --db "$db"
  says "says where to look" 'association list'
  exits 2 "an id that is none" "$coffer" association suspend abc --db "$db"

  exits 0 "application register" "$coffer" application register --name backend \
    --association "$association" --scopes 'wallets:read' --json --db "$db"
  application=$(member id)
  prints "shows its secrets" '"clientSecret":"sk_[0-9a-f]*"'
  prints "and its seed" '"secretSeed":"S'
  exits 2 "a scope that is none" "$coffer" application register --name x --scopes fly --db "$db"
  exits 0 "application rotate" "$coffer" application rotate "$application" --json --db "$db"
  prints "shows other secrets" '"apiKey":"ak_'
  exits 0 "application suspend" "$coffer" application suspend "$application" --json --db "$db"
  prints "is suspended" '"status":"suspended"'
  exits 0 "application resume" "$coffer" application resume "$application" --db "$db"
  exits 0 "application scopes" "$coffer" application scopes "$application" 'wallets:read quotes:read' --json --db "$db"
  prints "has them" '"scopes":"wallets:read quotes:read"'
  exits 0 "application list" "$coffer" application list --json --db "$db"
  check "shows no secret" eval '! grep -q "sk_\|ak_" "$scratch/out"'

  exits 0 "asset add" "$coffer" asset add USDC --name 'USD Coin' --db "$db"
  exits 0 "asset add with decimals" "$coffer" asset add NGNC --name Naira --decimals 2 --db "$db"
  exits 1 "an asset twice" "$coffer" asset add USDC --name again --db "$db"
  exits 0 "asset liquidity" "$coffer" asset liquidity NGNC 1000.5 --json --db "$db"
  prints "shows it" '"sandboxLiquidity":"1000.50"'
  exits 2 "too many places" "$coffer" asset liquidity NGNC 0.001 --db "$db"
  exits 2 "a negative amount" "$coffer" asset liquidity NGNC -5 --db "$db"
  exits 1 "an asset that is not there" "$coffer" asset liquidity NOPE 5 --db "$db"
  exits 0 "rate set" "$coffer" rate set USDC NGNC 1540.25 --environment production --db "$db"
  exits 0 "rate list" "$coffer" rate list --environment production --json --db "$db"
  prints "has it" '"rate":"1540.25"'
  exits 2 "a rate that is none" "$coffer" rate set USDC NGNC zero --db "$db"
  exits 0 "rate remove" "$coffer" rate remove USDC NGNC --environment production --db "$db"
  exits 1 "and again" "$coffer" rate remove USDC NGNC --environment production --db "$db"
  exits 0 "wallet list" "$coffer" wallet list --json --db "$db"
  prints "is an empty array" '^\[\]$'
  exits 0 "verify" "$coffer" verify --db "$db"
  exits 0 "verify --quick" "$coffer" verify --quick --json --db "$db"
  prints "says so" '"ok":true'
  test_doctor "$db"
  exits 1 "a full disk behind standard output" sh -c '"$1" association list --db "$2" >/dev/full' sh "$coffer" "$db"
}

# What a person runs when something is wrong: it works whatever is, and changes nothing.
test_doctor() { # <database> <what else it is told ...>
  local db=$1
  shift
  local free=(--listen-http 127.0.0.1:0 --admin-listen 127.0.0.1:0 --resolve localhost)
  exits 0 "doctor on a good file" "$coffer" doctor --db "$db" "${free[@]}" "$@"
  prints "has a table" '^CHECK  *RESULT  *FOUND'
  says "counts" '0 faults'
  exits 0 "doctor --json" "$coffer" doctor --json --db "$db" "${free[@]}" "$@"
  check "is a list of findings with a remedy for each that is not ok" node -e '
    const list = JSON.parse(require("fs").readFileSync(process.argv[1]));
    const whole = (one) => one.check && one.found && (one.result === "ok") === (one.remedy === null);
    if (!(list.length > 8 && list.every(whole))) process.exit(1)' "$scratch/out"
  check "and says nothing else" is_empty "$scratch/err"
  exits 3 "doctor with a broken configuration" env COFFER_WORKERS=many "$coffer" doctor --db "$db" "${free[@]}" "$@"
  prints "names the fault" 'COFFER_WORKERS'
  prints "and goes on" '^database  *ok'
  chmod 644 "$db"
  exits 3 "doctor on a file that everybody reads" "$coffer" doctor --db "$db" "${free[@]}" "$@"
  prints "says what to do" "chmod 600 $db"
  chmod 600 "$db"
  exits 0 "doctor where there is no file" "$coffer" doctor --db "$dir/nowhere/none.db" "${free[@]}" "$@"
  check "makes none" test ! -e "$dir/nowhere"
}

test_bad_files() {
  exits 3 "doctor on a file that is no database" "$coffer" doctor --db "$0" --listen-http 127.0.0.1:0
  printf 'this is no database, whatever its name says: %01000d' 0 >"$dir/text.db"
  exits 74 "a file that is no database" "$coffer" association list --db "$dir/text.db"
  "$coffer" init --db "$dir/torn.db" >/dev/null 2>&1
  dd if=/dev/urandom of="$dir/torn.db" bs=4096 seek=1 count=3 conv=notrunc status=none
  exits 74 "a torn file" "$coffer" verify --db "$dir/torn.db"
  "$coffer" init --db "$dir/k/keyless.db" >/dev/null 2>&1
  printf '%064d\n' 0 >"$dir/k/master.key"
  exits 78 "another master key" "$coffer" association list --db "$dir/k/keyless.db"
  exits 1 "demo refuses a file with other data" "$coffer" demo --port 0 --db "$dir/data/own.db"
  says "and says so" 'not a demo file'

  [ "$(id -u)" -eq 0 ] || return 0
  install -d -m 755 "$dir/closed" && chmod 755 "$dir"
  local as_nobody=(setpriv --reuid=65534 --regid=65534 --clear-groups)
  "${as_nobody[@]}" "$coffer" --version >/dev/null 2>&1 || return 0 # the binary's folder is private
  exits 77 "a folder of somebody else" "${as_nobody[@]}" "$coffer" init --db "$dir/closed/new.db"
  exits 77 "the demo in it" "${as_nobody[@]}" "$coffer" demo --port 0 --db "$dir/closed/new.db"
  says "names the folder" closed
}

# --- The demo -----------------------------------------------------------------------------------------

test_demo() {
  local db=$dir/demo/demo.db base port token first application
  start_demo --db "$db"
  check "the JSON has exactly the promised members" test \
    "$(in_json 'Object.keys(j).join(" ")')" = "baseUrl adminUrl adminUser adminPassword associationId applicationId clientId clientSecret apiKey connectSecret publicKey secretSeed signInSecret wallets beneficiaries connectors"
  check "two own USDC wallets come first" test "$(in_json 'j.wallets.slice(0, 2).map((w) => w.assetCode).join()')" = USDC,USDC
  check "the secrets are private" test "$(mode_of "$db.demo.json")" = 600
  base=$(in_json j.baseUrl)
  port=${base##*:}
  application=$(in_json j.applicationId)
  first=$(cat "$scratch/demo.json")
  check "nothing else is on standard output" test "$(wc -l <"$scratch/demo.json")" -eq 1
  log_in "$(in_json j.clientId)" "$(in_json j.clientSecret)"
  check "its secrets open it" test "$(cat "$scratch/status")" = 200
  check "and show the wallets" test "$(wallets_status "$(in_json j.apiKey)")" = 200
  check "a million in the first" grep -q '"balance":"1000000.00"' "$scratch/body"

  exits 75 "a second demo on the file" "$coffer" demo --port 0 --db "$db"
  ln -s demo.db "$dir/demo/link.db"
  exits 75 "and by another name of it" "$coffer" demo --port 0 --db "$dir/demo/link.db"
  exits 2 "a port that is taken" "$coffer" demo --port "$port" --db "$dir/other/demo.db"
  says "names the address" "127.0.0.1:$port"

  test_live "$db" "$application"
  exits 0 "healthcheck" "$coffer" healthcheck --url "$base/livez"
  exits 3 "healthcheck of what is not there" "$coffer" healthcheck --url "$base/nowhere"
  exits 0 "doctor beside the running server" "$coffer" doctor --db "$db" --listen-http "127.0.0.1:$port" \
    --admin-listen "127.0.0.1:$port" --resolve localhost
  prints "finds it healthy" "127.0.0.1:$port is healthy"
  exits 0 "doctor with other settings than the server's" "$coffer" doctor --db "$db" \
    --listen-http 127.0.0.1:1 --admin-off --resolve localhost --json
  prints "looks where the server listens" "127.0.0.1:$port is healthy"

  stop_server TERM
  check "SIGTERM ends it with 0 (was $server_code)" test "$server_code" -eq 0
  check "and takes the socket away" test ! -e "$db.sock"
  exits 69 "healthcheck of a stopped server" "$coffer" healthcheck --url "$base/livez"
  exits 0 "the file is whole" "$coffer" verify --db "$db"

  start_demo --db "$db"
  check "after a rotation behind its back it has working secrets again" \
    test "$(in_json j.clientSecret)" != "$(sed -n 's/.*"clientSecret":"\([^"]*\)".*/\1/p' <<<"$first")"
  base=$(in_json j.baseUrl)
  log_in "$(in_json j.clientId)" "$(in_json j.clientSecret)"
  check "that open it" test "$(cat "$scratch/status")" = 200
  check "and the same application" test "$(in_json j.applicationId)" = "$application"
  first=$(in_json '[j.clientSecret, j.apiKey, j.secretSeed, j.wallets.map((w) => w.id)]')
  stop_server KILL
  check "a killed server leaves its socket" test -S "$db.sock"
  exits 0 "a command opens the file itself then" "$coffer" wallet list --status Verified --db "$db"
  prints "and finds the wallets" 'Treasury'
  start_demo --db "$db"
  check "opened again: the same secrets and wallets" \
    test "$(in_json '[j.clientSecret, j.apiKey, j.secretSeed, j.wallets.map((w) => w.id)]')" = "$first"
  stop_server INT
  check "SIGINT ends it with 0 (was $server_code)" test "$server_code" -eq 0

  rm "$db.demo.json"
  start_demo --db "$db"
  base=$(in_json j.baseUrl)
  log_in "$(in_json j.clientId)" "$(in_json j.clientSecret)"
  check "without its secrets file the demo issues new ones" test "$(cat "$scratch/status")" = 200
  stop_server TERM
}

# Commands while a server owns the file: they act inside it, at once.
test_live() { # <database> <application>
  local db=$1 application=$2 wallet key
  key=$(in_json j.apiKey)
  exits 0 "association list in the running server" "$coffer" association list --db "$db"
  prints "shows the demo's" 'Demo Ltd'
  exits 0 "verify in the running server" "$coffer" verify --json --db "$db"
  prints "holds" '"ok":true'
  exits 2 "wrong usage" "$coffer" association suspend abc --db "$db"
  exits 1 "what is not there" "$coffer" wallet verify 0190a5a0-0000-7000-8000-000000000000 --db "$db"
  says "is said by the server" 'wallet was not found'
  check "the socket is private" test "$(mode_of "$db.sock")" = 600

  wallet=$(in_json 'j.wallets.at(-1).id')
  exits 0 "wallet verify" "$coffer" wallet verify "$wallet" --json --db "$db"
  prints "is Verified" '"status":"Verified"'
  exits 1 "wallet reject afterwards" "$coffer" wallet reject "$wallet" --code x --message y --db "$db"
  exits 0 "wallet fund" "$coffer" wallet fund "$wallet" --asset USDC --amount 5.25 --json --db "$db"
  prints "shows the balance" '"balance":"5.25"'

  exits 0 "application suspend" "$coffer" application suspend "$application" --db "$db"
  check "ends its tokens at once" test "$(wallets_status "$key")" = 401
  exits 0 "application resume" "$coffer" application resume "$application" --db "$db"
  log_in "$(in_json j.clientId)" "$(in_json j.clientSecret)"
  check "lets its secrets work again" test "$(wallets_status "$key")" = 200
  exits 0 "application rotate" "$coffer" application rotate "$application" --json --db "$db"
  check "ends the old api key at once" test "$(wallets_status "$key")" = 401
  log_in "$(in_json j.clientId)" "$(in_json j.clientSecret)"
  check "and the old secret" test "$(cat "$scratch/status")" = 401
}

# Killed at any moment while it is being made, a demo comes up at the next start with secrets that open it.
test_killed_creation() {
  local db base token delay round=0
  for delay in 0.01 0.03 0.05 0.08 0.12 0.16 0.2 0.3 0.45; do
    round=$((round + 1))
    db=$dir/killed$round/demo.db
    "$coffer" demo --port 0 --json --db "$db" >/dev/null 2>&1 </dev/null &
    server=$!
    sleep "$delay"
    stop_server KILL
    start_demo --db "$db"
    base=$(in_json j.baseUrl)
    log_in "$(in_json j.clientId)" "$(in_json j.clientSecret)"
    check "killed after $delay s, started again: the secrets open it" test "$(cat "$scratch/status")" = 200
    check "and there are four wallets" test "$(in_json 'j.wallets.length')" = 4
    stop_server TERM
    exits 0 "and the file is whole" "$coffer" verify --quick --db "$db"
  done
}

# Pasted again, the payment is not made again.
start_text_settles() {
  exits 0 "its calls run again" env no_proxy='*' bash -eu "$scratch/calls.sh" >/dev/null
  grep -q '"status":"succeeded"' "$scratch/out"
}

# The three calls of the start text, pasted as they stand.
test_start_text() {
  local db=$dir/text/demo.db
  : >"$scratch/text"
  "$coffer" demo --port 0 --db "$db" "$@" >"$scratch/text" 2>"$scratch/demo.log" </dev/null &
  server=$!
  check "the start text appears" wait_for 60 grep -q '# 3' "$scratch/text"
  sleep 0.3
  awk '/# 1\./ { on = 1 } on' "$scratch/text" >"$scratch/calls.sh"
  exits 0 "its calls run" env no_proxy='*' bash -eu "$scratch/calls.sh"
  prints "a payment is accepted" '"status":"accepted"'
  check "and settled" wait_for 60 start_text_settles
}

test_tls() {
  openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 -subj '/CN=localhost' \
    -addext 'subjectAltName=IP:127.0.0.1,DNS:localhost' \
    -keyout "$dir/tls.key" -out "$dir/tls.pem" 2>/dev/null
  test_start_text --tls-cert "$dir/tls.pem" --tls-key "$dir/tls.key"
  local origin
  origin=$(grep -o 'https://[0-9.:]*' "$scratch/text" | head -n 1)
  exits 0 "healthcheck over TLS" "$coffer" healthcheck --url "$origin/livez" --ca-bundle "$dir/tls.pem"
  printf 'broken' >"$dir/tls.pem"
  kill -HUP "$server"
  check "SIGHUP with a broken certificate is logged" wait_for 10 grep -q 'could not be reloaded' "$scratch/demo.log"
  check "and the server goes on" kill -0 "$server"
  stop_server TERM
}

# A path that does not fit into a socket address.
test_long_path() {
  local deep db
  deep=$dir/$(printf 'a%.0s' {1..90})/$(printf 'b%.0s' {1..90})
  db=$deep/demo.db
  start_demo --db "$db"
  check "a long path has its socket" test -S "$db.sock"
  exits 0 "and commands find it" "$coffer" wallet list --db "$db"
  stop_server TERM
}

run_all() {
  coffer=$1
  dir=$scratch/$2
  mkdir "$dir"
  printf '         with %s\n' "$coffer"
  : >"$scratch/out"
  : >"$scratch/err"
  export HOME=$dir/home XDG_DATA_HOME= XDG_CONFIG_HOME=
  test_usage
  test_stopped_file
  test_bad_files
  test_demo
  test_killed_creation
  test_start_text
  stop_server TERM
  test_tls
  test_long_path
}

run_all "$dev_bin" dev
if [ -x "$release_bin" ]; then run_all "$release_bin" release; fi
[ "$failures" -eq 0 ] || { printf '%d checks failed\n' "$failures"; exit 1; }
