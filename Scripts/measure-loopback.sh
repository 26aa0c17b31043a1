#!/bin/sh
# What a synchronization over loopback costs the client and the server, by each transport.
#
#     Scripts/measure-loopback.sh <folder of the built programs> [<how many objects>]
#
# PORT=number takes another port than 18080.
set -eu
programs=$1
count=${2:-10000}
port=${PORT:-18080}

for transport in URLSession AsyncHTTP; do
    data=$(mktemp -d)
    "$programs/strata-server" --port "$port" --data "$data" --log-level error &
    server=$!
    trap 'kill $server 2>/dev/null || true; rm -rf "$data"' EXIT
    sleep 1
    echo "$transport:"
    PROBE_COUNT=$count PROBE_TRANSPORT=$transport "$programs/LoopbackProbe" "$port" "$server"
    kill "$server"
    wait "$server" || true
    trap - EXIT
    rm -rf "$data"
done
