#!/usr/bin/env bash
# Instructions of single workloads under callgrind: the same on a busy machine as on a quiet one.
#
#   Benchmarks/callgrind.sh [PROGRAM [N]]
#
# A run with one pass is taken away from a run with two, so that what remains is one pass with the opening of its store, and not the start of
# the process or the reading of the data.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"
program="${1:-.build/release/strata-bench}"
n="${2:-10000}"

command -v valgrind >/dev/null || {
    echo "callgrind.sh: valgrind is missing; apt-get install valgrind" >&2
    exit 1
}

# valgrind gives up on some debug information of the Swift compiler.
stripped="$(mktemp)"
trap 'rm -f "$stripped"' EXIT
strip --strip-debug -o "$stripped" "$program"

instructions() {
    local out count
    out="$(valgrind --tool=callgrind --callgrind-out-file=/dev/null "$stripped" run "$1" "$2" -n "$n" --no-warm-up --runs "$3" 2>&1 >/dev/null)"
    count="$(sed -n 's/.*Collected : *\([0-9]*\).*/\1/p' <<<"$out")"
    [[ -n "$count" ]] || {
        echo "callgrind.sh: $1 $2 failed under valgrind: $out" >&2
        return 1
    }
    echo "$count"
}

printf '%-8s %-10s %18s %14s\n' workload contender instructions 'per object'
for workload in W1 W3 W4; do
    for contender in raw grdb strata; do
        "$program" prepare "$contender" -n "$n"
        one="$(instructions "$contender" "$workload" 1)"
        two="$(instructions "$contender" "$workload" 2)"
        printf '%-8s %-10s %18s %14s\n' "$workload" "$contender" "$((two - one))" "$(((two - one) / n))"
    done
done
