#!/usr/bin/env bash
# Checks the versions of Swift and SQLite, and installs what the build needs besides a Swift toolchain, where it is missing:
# SQLite's header and pkg-config, which tells the package manager where the header is. If both exist already, it
# installs nothing and asks for nothing.
#
#   Scripts/install-dependencies.sh         what the library needs
#   Scripts/install-dependencies.sh tests   also libpq and PostgreSQL for the tests of the PostgreSQL store, and virtual environments
#                                           of Python for those of Examples/KintoStore, if they can be installed; otherwise these
#                                           tests are skipped
set -euo pipefail

fail() {
    echo "install-dependencies: $*" >&2
    exit 1
}

command -v swift >/dev/null || fail "no Swift toolchain on the PATH; install Swift 6.2 or newer from swift.org"
swift_version="$(swift --version 2>/dev/null | sed -n 's/.*Swift version \([0-9]*\.[0-9]*\).*/\1/p' | head -n 1)"
[[ "$(printf '%s\n' 6.2 "${swift_version:-0}" | sort -V | head -n 1)" == 6.2 ]] ||
    fail "Swift ${swift_version:-of an unknown version} is on the PATH; install Swift 6.2 or newer from swift.org"

# On Apple's systems the SDK carries SQLite.
[[ "$(uname -s)" == Linux ]] || exit 0

# The compiler that comes with the toolchain, because it is the one that will look for the header.
clang="$(dirname "$(readlink -f "$(command -v swift)")")/clang"
[[ -x "$clang" ]] || clang="$(command -v clang || command -v cc)" || clang=false

has_sqlite_header() {
    echo '#include <sqlite3.h>' | "$clang" -x c -fsyntax-only - 2>/dev/null
}

check_sqlite_version() {
    printf '#include <sqlite3.h>\n#if SQLITE_VERSION_NUMBER < 3037000\n#error\n#endif\n' |
        "$clang" -x c -fsyntax-only - 2>/dev/null ||
        fail "SQLite's header is of a version before 3.37; Strata needs SQLite 3.37 or newer"
}

has_postgres() {
    pkg-config --exists libpq 2>/dev/null &&
        { command -v initdb || ls /usr/lib/postgresql/*/bin/initdb; } >/dev/null 2>&1
}

# Debian has the part of the module venv that puts pip into an environment in a package of its own.
has_venv() {
    python3 -c 'import ensurepip, venv' 2>/dev/null
}

can_install() {
    command -v apt-get >/dev/null && { [[ "$(id -u)" == 0 ]] || sudo -n true 2>/dev/null; }
}

# Nothing fails without these: the tests say that they were skipped.
install_for_tests() {
    [[ "${1:-}" == tests ]] || return 0
    has_postgres || install_postgres
    has_venv || install_venv
}

install_venv() {
    if ! can_install; then
        echo "The tests of Examples/KintoStore are skipped; to run them, install python3-venv."
        return 0
    fi
    echo "Installing python3-venv …"
    install_packages python3-venv ||
        echo "python3-venv could not be installed; the tests of Examples/KintoStore are skipped."
}

install_postgres() {
    if ! can_install; then
        echo "The tests of the PostgreSQL store are skipped; to run them, install libpq-dev and postgresql."
        return 0
    fi
    echo "Installing libpq-dev postgresql …"
    # The tests start servers of their own, so Debian's package needs none.
    "${as_root[@]}" mkdir -p /etc/postgresql-common/createcluster.d
    echo "create_main_cluster = false" |
        "${as_root[@]}" tee /etc/postgresql-common/createcluster.d/strata.conf >/dev/null
    install_packages libpq-dev postgresql ||
        echo "libpq-dev and postgresql could not be installed; the tests of the PostgreSQL store are skipped."
}

as_root=()
[[ "$(id -u)" == 0 ]] || as_root=(sudo)
export DEBIAN_FRONTEND=noninteractive

# The lists of a new machine may be missing or old, so that the first try may not find the packages.
install_packages() {
    "${as_root[@]}" apt-get install -y -qq --no-install-recommends "$@" >/dev/null 2>&1 || {
        "${as_root[@]}" apt-get update -qq &&
            "${as_root[@]}" apt-get install -y -qq --no-install-recommends "$@" >/dev/null
    }
}

missing=()
has_sqlite_header || missing+=(libsqlite3-dev)
command -v pkg-config >/dev/null || missing+=(pkg-config)
if [[ ${#missing[@]} -eq 0 ]]; then
    check_sqlite_version
    install_for_tests "$@"
    exit 0
fi

command -v apt-get >/dev/null ||
    fail "please install ${missing[*]} (these are Debian's names) with this system's package manager"
[[ "$(id -u)" == 0 ]] || command -v sudo >/dev/null ||
    fail "please install ${missing[*]} as root: apt-get install ${missing[*]}"

echo "Installing ${missing[*]} …"
install_packages "${missing[@]}"
has_sqlite_header || fail "sqlite3.h is still not found"
check_sqlite_version
install_for_tests "$@"
