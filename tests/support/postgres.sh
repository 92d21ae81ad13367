#!/usr/bin/env bash
# PostgreSQL servers in scratch folders, for tests and for ./dev demo --replicated. The socket of a server is in its
# folder, which is the `host` of a URL. It has no network address unless settings say so; then its certificate
# FOLDER/data/server.crt has the name log.test, and PGPORT is its port. Its superuser is coffer, who needs no password.
# With the file FOLDER/address, it listens there, its standbys reach it there, and it trusts the hosts of
# tests/harness/network.py.
#
#   tests/support/postgres.sh primary FOLDER [SETTING=VALUE ...]    create a server and start it
#   tests/support/postgres.sh standby FOLDER OF [SETTING=VALUE ...] create a standby of the server in the folder OF
#   tests/support/postgres.sh follow FOLDER OF                      make a standby follow another server
#   tests/support/postgres.sh start|stop|promote FOLDER             stop: as a crash
#   tests/support/postgres.sh sql FOLDER STATEMENT ...              one value per line
#
# A standby reports to its primary under the name of its folder. Exit code 77: PostgreSQL is not installed.
set -euo pipefail

programs=$(find /usr/lib/postgresql -mindepth 2 -maxdepth 2 -name bin 2>/dev/null | sort -V | tail -n 1)
[ -n "$programs" ] || { echo "postgresql is not installed; run ./dev setup" >&2; exit 77; }
# The server refuses to run as root.
user=()
[ "$(id -u)" -ne 0 ] || user=(setpriv --reuid=postgres --regid=postgres --clear-groups)
run() { local program=$1; shift; (cd / && "${user[@]}" "$programs/$program" "$@"); }

verb=$1 folder=$2
data=$folder/data
shift 2

own() {
  mkdir -p "$folder"
  if [ "$(id -u)" -eq 0 ]; then
    chown postgres "$folder"
    # The folders of temporary files above it are private.
    local above
    above=$(dirname "$folder")
    while [ "$above" != / ]; do
      [ "$(stat -c %u "$above")" != 0 ] || chmod o+x "$above"
      above=$(dirname "$above")
    done
  fi
}
set_values() {
  local one
  for one in "$@"; do printf "%s = '%s'\n" "${one%%=*}" "${one#*=}"; done |
    "${user[@]}" tee -a "$data/postgresql.conf" >/dev/null
}
start() { run pg_ctl start -D "$data" -w -t 30 -s -l "$folder/log" </dev/null >/dev/null; }
address() { cat "$1/address" 2>/dev/null || true; }
origin() {
  local host
  host=$(address "$1")
  printf "host=%s user=coffer application_name=%s connect_timeout=2" "${host:-$1}" "$(basename "$folder")"
}

case $verb in
primary)
  own
  run initdb -D "$data" -U coffer -A trust -E UTF8 --locale=C --no-sync --no-instructions >/dev/null
  "${user[@]}" openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 30 -subj /CN=log.test \
    -addext subjectAltName=DNS:log.test -keyout "$data/server.key" -out "$data/server.crt" 2>/dev/null
  # The role `locked` needs its password over the network.
  "${user[@]}" sed -i '1i hostssl all locked all scram-sha-256' "$data/pg_hba.conf"
  "${user[@]}" sed -i '1i host all,replication all 10.77.0.0/24 trust' "$data/pg_hba.conf"
  set_values ssl=on "listen_addresses=$(address "$folder")" "unix_socket_directories=$folder" \
    shared_buffers=16MB max_wal_senders=8 wal_keep_size=256MB max_connections=40 timezone=UTC "$@"
  start
  ;;
standby)
  of=$1
  shift
  own
  run pg_basebackup -D "$data" -h "$of" -U coffer -c fast -N -X stream
  "${user[@]}" truncate -s 0 "$data/postgresql.auto.conf"  # of the other server
  set_values "listen_addresses=$(address "$folder")" "unix_socket_directories=$folder" \
    "primary_conninfo=$(origin "$of")" "$@"
  "${user[@]}" touch "$data/standby.signal"
  start
  ;;
follow)
  run psql -qAtX -v ON_ERROR_STOP=1 -h "$folder" -U coffer postgres \
    -c "ALTER SYSTEM SET primary_conninfo = '$(origin "$1")'" -c "SELECT pg_reload_conf()" >/dev/null
  ;;
start) start ;;
stop) run pg_ctl stop -D "$data" -m immediate -w -s ;;
promote) run pg_ctl promote -D "$data" -w -s ;;
sql)
  statements=()
  for one in "$@"; do statements+=(-c "$one"); done
  run psql -qAtX -v ON_ERROR_STOP=1 -h "$folder" -U coffer postgres "${statements[@]}"
  ;;
*) echo "unknown verb $verb" >&2; exit 2 ;;
esac
