#!/bin/sh
# A PostgreSQL server for tests, the demo and the benchmark: in a new folder, on a Unix socket in that folder, with the user
# "strata". It prints "ready" once the server answers, or why it does not. When the standard input ends, because the process at the
# other end of the pipe is gone, the server stops and the folder is removed. The lines "stop" and "start" stop the server as a
# crash does, and start it again.
#
#   Scripts/postgres-server.sh FOLDER [--replica-of FOLDER] [SETTING=VALUE …]
#
# With --replica-of, it is a streaming replica of the server in the other folder.
#
# Exit code 69: PostgreSQL is not installed.

# A signal for the whole process group must not end this shell before the server.
trap '' INT TERM HUP
folder=$1
shift
primary=
[ "$1" = --replica-of ] && primary=$2 && shift 2
programs=
for place in $(echo "$PATH" | tr ':' ' ') $(ls -d /usr/lib/postgresql/*/bin 2>/dev/null | sort -t / -k 5 -nr) \
    /opt/homebrew/bin /usr/local/pgsql/bin; do
    [ -x "$place/initdb" ] && [ -x "$place/postgres" ] && programs=$place && break
done
# Where only some of the programs are linked to, the others are next to the real ones.
[ -n "$programs" ] && [ ! -x "$programs/pg_basebackup" ] && programs=$(dirname "$(readlink -f "$programs/postgres")")
[ -n "$programs" ] || { echo "PostgreSQL is not installed"; exit 69; }

settings="-k $folder -c listen_addresses= -c max_connections=300"
for setting in "$@"; do settings="$settings -c $setting"; done

# Root may not run the server, so another user does.
as=
mkdir -p "$folder" && chmod 755 "$folder"
if [ "$(id -u)" = 0 ]; then
    user=postgres
    id -u "$user" >/dev/null 2>&1 || user=nobody
    as="setpriv --reuid=$(id -u $user) --regid=$(id -g $user) --clear-groups env -u HOME"
    chown "$user" "$folder"
fi
cd "$folder" || exit 1
make_data() {
    if [ -n "$primary" ]; then
        $as "$programs/pg_basebackup" -h "$primary" -U strata -D "$folder/data" -R -X stream -c fast --no-sync
    else
        $as "$programs/initdb" -D "$folder/data" -U strata -A trust -E UTF8 --locale=C --no-sync
    fi
}
start() { $as "$programs/pg_ctl" -D "$folder/data" -l "$folder/log" -w -t 60 -o "$settings" start </dev/null; }
stop() { $as "$programs/pg_ctl" -D "$folder/data" -m immediate -t 20 stop </dev/null; }
{ make_data </dev/null && start; } >"$folder/start.log" 2>&1 && echo ready || cat "$folder/start.log" "$folder/log"
exec >/dev/null 2>&1
while read -r command; do
    case $command in
        start) start ;;
        stop) stop ;;
    esac
done
stop
rm -rf "$folder"
