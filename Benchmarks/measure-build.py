#!/usr/bin/env python3
"""How long a clean debug build of an app with a large model takes, generation included.

    Benchmarks/measure-build.py                 50 entities
    Benchmarks/measure-build.py --entities 100

Makes a package in `Data/build` that depends on Strata by path, builds it once to have Strata and the generator, and then measures
builds of the app alone, with its large model and with a model of one entity. Times are wall clock and CPU of all processes
together, and mean something only beside each other.
"""

import argparse
import os
import pathlib
import resource
import shutil
import subprocess
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
TYPES = ["string", "integer64", "double", "boolean", "date", "uuid", "string", "integer32"]

MANIFEST = """// swift-tools-version: 6.2
import PackageDescription

let package = Package(
    name: "LargeApp",
    platforms: [.macOS(.v15)],
    dependencies: [.package(name: "Strata", path: "{strata}", traits: [])],
    targets: [
        .executableTarget(
            name: "LargeApp", dependencies: [.product(name: "Strata", package: "Strata")],
            plugins: [.plugin(name: "StrataPlugin", package: "Strata")])
    ],
    swiftLanguageModes: [.v6]
)
"""

MAIN = """import Strata

let container = try PersistentContainer(LargeModel.self, at: .memory(name: nil))
let context = container.newContext()
print(try context.fetch(FetchRequest<Thing0>()).count)
"""


def model(entities):
    lines = ["model: Large", "", "entities:"]
    for index in range(entities):
        lines += [f"  Thing{index}:", "    attributes:", f"      thing{index}Id: {{type: string, unique: true}}"]
        for position, kind in enumerate(TYPES):
            lines.append(f"      value{position}: {{type: {kind}, optional: true}}")
        lines.append("    relationships:")
        if index + 1 < entities:
            lines.append(f"      next: {{to: Thing{index + 1}, inverse: previous}}")
        if index > 0:
            lines.append(f"      previous: {{toMany: Thing{index - 1}, inverse: next}}")
        if entities == 1:
            lines.append("      other: {to: Thing0, inverse: other}")
    return "\n".join(lines) + "\n"


def measured(command, folder):
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    start = time.monotonic()
    result = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    wall = time.monotonic() - start
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if result.returncode:
        sys.exit(f"measure-build: {' '.join(map(str, command))} failed\n{result.stdout}\n{result.stderr}")
    return wall, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def write(folder, entities):
    sources = folder / "Sources/LargeApp"
    sources.mkdir(parents=True, exist_ok=True)
    (folder / "Package.swift").write_text(MANIFEST.format(strata=os.path.relpath(HERE.parent, folder)))
    (sources / "main.swift").write_text(MAIN)
    (sources / "Large.strata.yaml").write_text(model(entities))


def forget_app(folder):
    """Removes what was built of the app, and nothing of Strata."""
    for path in folder.glob(".build/*/debug/LargeApp*"):
        shutil.rmtree(path) if path.is_dir() else path.unlink()
    for path in [*folder.glob(".build/plugins/outputs/*/LargeApp"), *folder.glob(".build/*/debug/Modules/LargeApp*")]:
        shutil.rmtree(path) if path.is_dir() else path.unlink()


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--entities", type=int, default=50)
    parser.add_argument("--rounds", type=int, default=2)
    options = parser.parse_args()
    folder = HERE / "Data/build"
    build = ["swift", "build", "--product", "LargeApp"]

    write(folder, options.entities)
    shutil.rmtree(folder / ".build", ignore_errors=True)
    wall, cpu = measured(build, folder)
    print(f"everything, Strata and its tools included    {wall:6.1f} s   {cpu:6.1f} s of CPU")

    # In turns, so that what else the machine does hits both alike.
    times = {1: [], options.entities: []}
    for _ in range(options.rounds):
        for entities in times:
            write(folder, entities)
            forget_app(folder)
            times[entities].append(measured(build, folder))
    best = {entities: min(runs, key=lambda run: run[1]) for entities, runs in times.items()}
    for entities, (wall, cpu) in best.items():
        print(f"the app alone, {entities:3} entit{'y  ' if entities == 1 else 'ies'}                     {wall:6.1f} s   {cpu:6.1f} s of CPU")
    many, one = best[options.entities], best[1]
    per_fifty = (many[1] - one[1]) * 50 / max(1, options.entities - 1)
    print(f"so generated code costs, per 50 entities                  {per_fifty:6.1f} s of CPU   (must: 2)")


if __name__ == "__main__":
    main()
