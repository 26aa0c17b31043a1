#!/usr/bin/env python3
"""What one object costs among 1,000, 10,000, 100,000 and 1,000,000: time, and instructions under callgrind.

    Scripts/measure-growth.py PROBE [--sizes 1000,10000,…] [--instructions-to N] [--output FILE] [CASE …]

PROBE is the release build of Tests/GateProbe. Ends with status 1 where the time of a case rises by more than half between
10,000 and the greatest size. Instructions are counted without valgrind's slowness for what is not measured, but still
take minutes for a million objects, so they stop at 100,000 unless --instructions-to says more; without valgrind they are
left out.
"""

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile

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


def probe(command, folder, size, case, program):
    """The numbers that a run of the probe prints, and what it wrote to standard error."""
    run = subprocess.run(
        command + [program, "time", folder, str(size), case], capture_output=True, text=True
    )
    if run.returncode != 0:
        sys.exit(f"measure-growth.py: {case}, {size}: {run.stderr.strip()[-2000:]}")
    lines = [line.split("\t") for line in run.stdout.splitlines()]
    return {line[1]: int(line[2]) for line in lines if len(line) == 3}, run.stderr


def nanoseconds(folder, size, case, program):
    """The fastest of some runs: what others do on the machine only ever adds."""
    runs = [probe([], folder, size, case, program)[0] for _ in range(5 if size <= 10_000 else 3)]
    return min(run["nanoseconds"] / run["units"] for run in runs)


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
    with tempfile.TemporaryDirectory(prefix="strata-growth-") as folder:
        # valgrind gives up on some debug information of the Swift compiler.
        stripped = os.path.join(folder, "probe")
        subprocess.run(["strip", "--strip-debug", "-o", stripped, options.program], check=True)
        os.chmod(stripped, 0o755)
        for case in options.cases or CASES:
            times = [nanoseconds(folder, size, case, options.program) for size in sizes]
            base = times[sizes.index(10_000)] if 10_000 in sizes else times[0]
            growth = times[-1] / base
            mark = "" if growth <= ALLOWED else "  rises"
            if mark:
                risen.append(case)
            show(f"{case:40}{'ns':14}" + "".join(f"{t:>12,.0f}" for t in times) + f"{growth:>10.2f}{mark}")
            counted = [instructions(folder, s, case, stripped) for s in sizes if counts and s <= options.instructions_to]
            if not counted:
                continue
            cells = "".join(f"{c:>12,.0f}" for c in counted) + f"{'':>12}" * (len(sizes) - len(counted))
            show(f"{'':40}{'instructions':14}{cells}{counted[-1] / counted[0]:>10.2f}")
    if options.output:
        with open(options.output, "w") as file:
            file.writelines(line + "\n" for line in table)
    if risen:
        sys.exit(f"measure-growth.py: more than {ALLOWED} times as dear at {sizes[-1]:,}: {', '.join(risen)}")


main()
