#!/usr/bin/env python3
"""What one object costs among 1,000, 10,000, 100,000 and 1,000,000: time, and instructions under callgrind.

    Scripts/measure-growth.py PROBE [--sizes 1000,10000,…] [--instructions-to N] [--output FILE] [CASE …]

PROBE is the release build of Tests/GateProbe. Ends with status 1 where the time of a case rises by more than half between
10,000 and the largest size, besides what it cannot help:

- Where the case writes every object, SQLite's own time rises: its trees become deeper, and the pages that it touches no
  longer fit the processor's caches. So SQLite alone is measured in the same run, by Python's module.
- One change among many may take COLD nanoseconds more, because memory that was touched long ago is no longer in the caches.

Instructions are counted without valgrind's slowness for what is not measured, but still take minutes for a million objects,
so they stop at 100,000 unless --instructions-to says more; without valgrind they are left out.
"""

import argparse
import os
import re
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import time

CASES = [
    "fetch",
    "insert",
    "update",
    "upsert",
    "upsert by merge policy",
    "save one change among many",
    "insert one among many",
    "delete one among many",
    "delete one that many could refer to",
    "move one among many",
    "roll back one change among many",
    "fetch one among many",
    "take in one change among many",
    "save one change to a parent with many",
]
ALLOWED = 1.5
# A dozen cache misses. Work that depends on the number of objects would take a hundred times as long.
COLD = 1_000
# What SQLite does in the cases that write every object.
WORK_OF_SQLITE = {"insert": "insert", "update": "update", "upsert": "update", "upsert by merge policy": "update"}


def probe(command, folder, size, case, program):
    """The numbers that a run of the probe prints, and what it wrote to standard error."""
    run = subprocess.run(
        command + [program, "time", folder, str(size), case], capture_output=True, text=True
    )
    if run.returncode != 0:
        sys.exit(f"measure-growth.py: {case}, {size}: {run.stderr.strip()[-2000:]}")
    lines = [line.split("\t") for line in run.stdout.splitlines()]
    return {line[1]: int(line[2]) for line in lines if len(line) == 3}, run.stderr


def repeats(size):
    """How many runs there are, of which the fastest counts: what others do on the machine only ever adds."""
    return range(5 if size <= 10_000 else 3)


def nanoseconds(folder, size, case, program):
    runs = [probe([], folder, size, case, program)[0] for _ in repeats(size)]
    return min(run["nanoseconds"] / run["units"] for run in runs)


def sqlite_alone(folder, size):
    """Nanoseconds of CPU for a row: of an insert, and of an update of an indexed column, each in one transaction, with the
    whole file in SQLite's cache, as the probe has it."""
    rows = [(key, f"name {key}", key * 7919 % size, key / 3) for key in range(size)]
    updates = [(key * 104729 % size, key) for key in range(size)]
    path = os.path.join(folder, "alone.sqlite")

    def measured(connection, statement, values):
        start = time.process_time()
        connection.execute("BEGIN")
        connection.executemany(statement, values)
        connection.execute("COMMIT")
        return (time.process_time() - start) / size * 1e9

    def run():
        for suffix in ["", "-wal", "-shm"]:
            if os.path.exists(path + suffix):
                os.remove(path + suffix)
        connection = sqlite3.connect(path, isolation_level=None)
        connection.executescript(
            "PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; PRAGMA cache_size = -2097152;"
            "CREATE TABLE city (id INTEGER PRIMARY KEY, name TEXT, population INTEGER, latitude REAL);"
            "CREATE INDEX city_population ON city (population);"
        )
        insert = measured(connection, "INSERT INTO city VALUES (?, ?, ?, ?)", rows)
        update = measured(connection, "UPDATE city SET population = ? WHERE id = ?", updates)
        connection.close()
        return insert, update

    inserts, updated = zip(*(run() for _ in repeats(size)))
    return {"insert": min(inserts), "update": min(updated)}


def instructions(folder, size, case, stripped):
    command = ["valgrind", "--tool=callgrind", "--instr-atstart=no", "--callgrind-out-file=/dev/null"]
    numbers, errors = probe(command, folder, size, case, stripped)
    found = re.search(r"Collected : (\d+)", errors)
    if not found:
        sys.exit(f"measure-growth.py: {case}, {size}: callgrind collected nothing: {errors.strip()[-2000:]}")
    return int(found.group(1)) / numbers["units"]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("program", metavar="PROBE")
    parser.add_argument("--sizes", default="1000,10000,100000,1000000")
    parser.add_argument("--instructions-to", type=int, default=100_000, metavar="N")
    parser.add_argument("--output", metavar="FILE", help="where the table is written to, too")
    parser.add_argument("cases", nargs="*", metavar="CASE", default=[])
    options = parser.parse_intermixed_args()
    sizes = [int(size) for size in options.sizes.split(",")]
    counts = shutil.which("valgrind") is not None
    table = []

    def show(line):
        table.append(line)
        print(line, flush=True)

    show(f"{'per object or change':40}{'':14}" + "".join(f"{size:>12,}" for size in sizes) + f"{'growth':>10}")
    risen = []
    # How many nanoseconds more SQLite takes without Strata, by its work.
    alone = {}

    def base(times):
        return times[sizes.index(10_000)] if 10_000 in sizes else times[0]

    def show_times(name, times, mark=""):
        cells = "".join(f"{t:>12,.0f}" for t in times)
        show(f"{name:40}{'ns':14}{cells}{times[-1] / base(times):>10.2f}{mark}")

    def rises(case, times):
        more = alone.get(WORK_OF_SQLITE.get(case), COLD if "one" in case.split() else 0)
        return times[-1] > ALLOWED * base(times) + more

    with tempfile.TemporaryDirectory(prefix="strata-growth-") as folder:
        # valgrind gives up on some debug information of the Swift compiler.
        stripped = os.path.join(folder, "probe")
        subprocess.run(["strip", "--strip-debug", "-o", stripped, options.program], check=True)
        os.chmod(stripped, 0o755)
        cases = options.cases or CASES
        numbers = [sqlite_alone(folder, size) for size in sizes if any(case in WORK_OF_SQLITE for case in cases)]
        for work in numbers[0] if numbers else []:
            times = [of_size[work] for of_size in numbers]
            alone[work] = times[-1] - base(times)
            show_times(f"SQLite alone, {work}", times)
        for case in cases:
            times = [nanoseconds(folder, size, case, options.program) for size in sizes]
            if rises(case, times):
                # Others may have had the machine during all of these few runs.
                times[-1] = min(times[-1], nanoseconds(folder, sizes[-1], case, options.program))
            mark = "  rises" if rises(case, times) else ""
            if mark:
                risen.append(case)
            show_times(case, times, mark)
            counted = [instructions(folder, s, case, stripped) for s in sizes if counts and s <= options.instructions_to]
            if not counted:
                continue
            cells = "".join(f"{c:>12,.0f}" for c in counted) + f"{'':>12}" * (len(sizes) - len(counted))
            show(f"{'':40}{'instructions':14}{cells}{counted[-1] / counted[0]:>10.2f}")
    if options.output:
        with open(options.output, "w") as file:
            file.writelines(line + "\n" for line in table)
    if risen:
        sys.exit(f"measure-growth.py: takes too much more time at {sizes[-1]:,}: {', '.join(risen)}")


main()
