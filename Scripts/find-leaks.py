#!/usr/bin/env python3
"""What a case of the gates' probe leaves on the heap, each time it is done, once everything it made is gone.

    Scripts/find-leaks.py PROBE [--size N] [CASE …]

PROBE is a build of Tests/GateProbe, best one for release: what the optimizer does to reference counting shows there alone.
Ends with status 1 where a repetition leaves more than an eighth of a byte for each object. Nothing is left by objects,
rows or change sets that are let go as they should be; a little may be by tables that grow.
"""

import argparse
import subprocess
import sys
import tempfile

ALLOWED = 0.125


def lines(*command):
    run = subprocess.run(command, capture_output=True, text=True)
    if run.returncode != 0:
        sys.exit(f"find-leaks.py: {' '.join(command)}: {run.stderr.strip()[-2000:]}")
    return [line.split("\t") for line in run.stdout.splitlines()]


def size_of(case, size):
    """Contexts below one another, and many contexts, are dear: fewer of them do."""
    return {"children": 16, "contexts": 100}.get(case.split(":")[0], size)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("program", metavar="PROBE")
    parser.add_argument("--size", type=int, default=5_000)
    parser.add_argument("cases", nargs="*", metavar="CASE", default=[])
    options = parser.parse_intermixed_args()
    cases = options.cases or [line[1] for line in lines(options.program, "list")]
    leaking = []
    print(f"{'bytes left by a repetition':44}{'in all':>12}{'per object':>12}")
    with tempfile.TemporaryDirectory(prefix="strata-leaks-") as folder:
        for case in cases:
            size = size_of(case, options.size)
            found = {what: int(number) for _, what, number in lines(options.program, "leaks", folder, str(size), case)}
            if "leaked" not in found:
                sys.exit("find-leaks.py: the heap is not counted here")
            share = found["leaked"] / size
            mark = "  leaks" if share > ALLOWED else ""
            if mark:
                leaking.append(case)
            print(f"{case:44}{found['leaked']:>12,}{share:>12.3f}{mark}", flush=True)
    if leaking:
        sys.exit(f"find-leaks.py: these leave memory behind: {', '.join(leaking)}")


main()
