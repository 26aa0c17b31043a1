#!/usr/bin/env bash
# Installs what the build needs beside the Swift toolchain, where it is missing: SQLite's header and pkg-config, which
# tells the package manager where that is. Does nothing, and asks for nothing, where both are there already.
set -euo pipefail

fail() {
    echo "install-dependencies: $*" >&2
    exit 1
}

command -v swift >/dev/null || fail "no Swift toolchain on the PATH; install Swift 6.1 or newer from swift.org"

# On Apple's systems the SDK carries SQLite.
[[ "$(uname -s)" == Linux ]] || exit 0

has_sqlite_header() {
    # The compiler that comes with the toolchain, because it is the one that will look for the header.
    local clang
    clang="$(dirname "$(readlink -f "$(command -v swift)")")/clang"
    [[ -x "$clang" ]] || clang="$(command -v clang || command -v cc)" || return 1
    echo '#include <sqlite3.h>' | "$clang" -x c -fsyntax-only - 2>/dev/null
}

missing=()
has_sqlite_header || missing+=(libsqlite3-dev)
command -v pkg-config >/dev/null || missing+=(pkg-config)
[[ ${#missing[@]} -gt 0 ]] || exit 0

command -v apt-get >/dev/null ||
    fail "please install ${missing[*]} (these are Debian's names) with this system's package manager"

as_root=()
if [[ "$(id -u)" != 0 ]]; then
    command -v sudo >/dev/null || fail "please install ${missing[*]} as root: apt-get install ${missing[*]}"
    as_root=(sudo)
fi

echo "Installing ${missing[*]} …"
export DEBIAN_FRONTEND=noninteractive
# The lists of a new machine may be missing or old, so that the first try may not find the packages.
"${as_root[@]}" apt-get install -y -qq --no-install-recommends "${missing[@]}" >/dev/null 2>&1 || {
    "${as_root[@]}" apt-get update -qq
    "${as_root[@]}" apt-get install -y -qq --no-install-recommends "${missing[@]}" >/dev/null
}
has_sqlite_header || fail "sqlite3.h is still not found"
