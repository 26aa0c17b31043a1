#!/usr/bin/env bash
# Runs a command with a PostgreSQL server of its own, which is removed afterwards, however the command ends. The command finds the
# URL of an empty database in STRATA_POSTGRES_URL. Where PostgreSQL is not installed, nothing is run, and a line says so.
#
#   Scripts/with-postgres.sh [SETTING=VALUE …] -- COMMAND [ARGUMENT …]
set -euo pipefail

settings=()
while [[ "$1" != -- ]]; do
    settings+=("$1")
    shift
done
shift

folder="$(mktemp -d "${TMPDIR:-/tmp}/strata-pg-XXXXXXXX")"
coproc SERVER { exec "$(dirname "${BASH_SOURCE[0]}")/postgres-server.sh" "$folder" "${settings[@]}"; }
server=$SERVER_PID
answers=${SERVER[0]} lifeline=${SERVER[1]}
stop() {
    exec {lifeline}>&- {answers}<&-
    wait "$server" 2>/dev/null || true
}
trap stop EXIT

answer="$(head -n 1 <&"$answers" || true)"
if [[ "$answer" == "PostgreSQL is not installed" ]]; then
    rmdir "$folder"
    echo "Skipped: PostgreSQL is not installed (Debian's packages are libpq-dev and postgresql)."
    exit 0
fi
if [[ "$answer" != ready ]]; then
    echo "with-postgres: the server does not start: $answer" >&2
    cat <&"$answers" >&2 || true
    exit 1
fi

# A folder as the host of a URL.
host=
for ((i = 0; i < ${#folder}; i++)); do
    letter="${folder:i:1}"
    case "$letter" in
        [A-Za-z0-9]) host+="$letter" ;;
        *) host+="$(printf '%%%02X' "'$letter")" ;;
    esac
done
STRATA_POSTGRES_URL="postgres://strata@$host/postgres" "$@" {lifeline}>&- {answers}<&-
