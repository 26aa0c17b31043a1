#!/usr/bin/env python3
"""Strata on PostgreSQL, a hand-written program on libpq, SQLAlchemy and Django, all on the same server in one run.

    Scripts/with-postgres.sh -- Benchmarks/Postgres/measure.py <folder of the built programs> [-n 100000] [--rounds 3] [--no-orms]

The URL of an empty database is in STRATA_POSTGRES_URL. Contenders take turns, and a ratio is the median over the rounds of a
contender's time against raw's of the same round. Time is that of the wall, since most of the work is the server's. A contender that
comes to another check value than raw ends the run.
"""
import argparse
import json
import os
import pathlib
import statistics
import subprocess
import sys
import venv

HERE = pathlib.Path(__file__).resolve().parent
ENVIRONMENT = HERE.parent / "Data" / "postgres-python"
# The update comes last, so that all others read what was inserted.
WORKLOADS = ["insert", "read", "lookup", "set", "relations", "update"]
PACKAGES = ["SQLAlchemy==2.0.*", "Django==5.2.*", "psycopg[binary]==3.2.*"]
# The times of raw that a workload is compared with, if they are not its own.
BASES = {"set": "lookup"}


def python():
    """The environment with both libraries; None if it cannot be made."""
    program = ENVIRONMENT / "bin" / "python"
    if not program.exists():
        venv.create(ENVIRONMENT, with_pip=True)
    done = subprocess.run([program, "-m", "pip", "--quiet", "--disable-pip-version-check", "install", *PACKAGES], check=False)
    return program if done.returncode == 0 else None


def run(command, workload, url, count, runs):
    output = subprocess.run(
        [*command, workload, url, str(count), str(runs)], check=True, stdout=subprocess.PIPE, text=True).stdout
    lines = [json.loads(line) for line in output.splitlines()]
    times = [line["seconds"] for line in lines if line["seconds"] is not None]
    statements = [line["statements"] for line in lines if line["statements"] is not None]
    return statistics.median(times), lines[-1]["check"], statements[0] if statements else None


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("programs", type=pathlib.Path)
    parser.add_argument("-n", type=int, default=100_000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--no-orms", action="store_true")
    arguments = parser.parse_args()
    url = os.environ["STRATA_POSTGRES_URL"]
    program = arguments.programs / "PostgresBench"
    commands = {"raw": [program, "raw"], "strata": [program, "strata"]}
    orms = None if arguments.no_orms else python()
    if orms:
        commands |= {name: [orms, HERE / "contenders.py", name] for name in ("sqlalchemy", "django")}
    times = {name: {workload: [] for workload in WORKLOADS} for name in commands}
    statements = {}
    for round in range(arguments.rounds):
        for workload in WORKLOADS:
            checks = {}
            for name, command in commands.items():
                # Python is slow, and one run of it says enough.
                runs = 3 if name in ("raw", "strata") else 1
                seconds, checks[name], count = run(command, workload, url, arguments.n, runs)
                times[name][workload].append(seconds)
                if count is not None:
                    statements[workload] = count
                print(f"round {round + 1}  {workload:10} {name:12} {seconds * 1000:10.1f} ms", file=sys.stderr, flush=True)
            if len(set(checks.values())) > 1:
                sys.exit(f"measure: the contenders do not agree in {workload}: {checks}")
    print(f"| N = {arguments.n:,} | raw, ms | " + " | ".join(f"{n}, ms | ×" for n in commands if n != "raw") + " | statements |")
    print("|---|---|" + "---|---|" * (len(commands) - 1) + "---|")
    for workload in WORKLOADS:
        base = times["raw"][BASES.get(workload, workload)]
        cells = [f"{statistics.median(times['raw'][workload]) * 1000:,.0f}"]
        for name in commands:
            if name == "raw":
                continue
            mine = times[name][workload]
            ratio = statistics.median(a / b for a, b in zip(mine, base))
            cells += [f"{statistics.median(mine) * 1000:,.0f}", f"{ratio:.2f}"]
        print(f"| {workload} | " + " | ".join(cells) + f" | {statements.get(workload, '')} |")


if __name__ == "__main__":
    main()
