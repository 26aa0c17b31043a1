#!/usr/bin/env python3
"""How long apps on Strata take to build.

    Benchmarks/measure-build.py                    both measurements
    Benchmarks/measure-build.py apps               a small app on Strata and the same on GRDB, from nothing, debug and release
    Benchmarks/measure-build.py modules            the CPU time of the compiler for each module of these apps
    Benchmarks/measure-build.py generated          what generated code costs, in an app with 50 entities
    Benchmarks/measure-build.py apps --rounds 3 --configurations release

Everything happens in `Data/build`. Packages are fetched before a measurement begins. The builds of a round run one after the
other, so that what else the machine does hits all of them alike. Times are wall clock and CPU (user and system) of all processes
together; the least of the rounds counts, and it means something only beside the others: a busy machine takes up to twice the CPU
time for the same work.

The app stands on Strata twice: with the build plug-in, which compiles the generator as well (in a release build twice, because
SwiftPM builds the tools of plug-ins once for the plug-in and once for the build), and with classes that were generated before and
are part of its sources, as the command plug-in writes them.
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
FOLDER = HERE / "Data/build"

MANIFEST = """// swift-tools-version: 6.2
import PackageDescription

let package = Package(
    name: "{name}",
    platforms: [.macOS(.v15)],
    dependencies: [{package}],
    targets: [.executableTarget(name: "{name}", dependencies: [{product}]{plugins})],
    swiftLanguageModes: [.v6]
)
"""

# What an app that needs only the core and the plug-in asks for.
STRATA = {
    "package": '.package(name: "Strata", path: "../checkouts/Strata", traits: [])',
    "product": '.product(name: "Strata", package: "Strata")',
    "plugins": ', plugins: [.plugin(name: "StrataPlugin", package: "Strata")]',
}
# The same with classes among its sources.
STRATA_GENERATED = STRATA | {"plugins": ""}
GRDB = {
    "package": '.package(url: "https://github.com/groue/GRDB.swift.git", from: "7.10.0")',
    "product": '.product(name: "GRDB", package: "GRDB.swift")',
    "plugins": "",
}

LIBRARY_MODEL = """model: Library
entities:
  Author:
    attributes:
      name: string
      born: date?
    relationships:
      books: {toMany: Book, inverse: author, delete: cascade}
  Book:
    attributes:
      title: {type: string, indexed: true}
      pages: {type: integer32, default: 0, min: 0}
    relationships:
      author: {to: Author, inverse: books, optional: false}
"""

LIBRARY_ON_STRATA = """import Strata

let container = try PersistentContainer(LibraryModel.self, at: .memory(name: nil))
let context = container.newContext()
let ursula = Author(context: context, name: "Ursula K. Le Guin")
for (title, pages) in [("The Dispossessed", Int32(387)), ("The Lathe of Heaven", 184)] {
    _ = Book(context: context, title: title, pages: pages, author: ursula)
}
try context.save()
let request = FetchRequest<Book>(
    where: Book.keys.author.name.hasPrefix("Ursula") && Book.keys.pages > 100, sortedBy: [Book.keys.title.ascending])
for book in try context.fetch(request) { print(book.title, "by", book.author.name) }
context.delete(ursula)
try context.save()
print(try context.count(FetchRequest<Book>()))
"""

LIBRARY_ON_GRDB = """import Foundation
import GRDB

struct Author: Codable, FetchableRecord, MutablePersistableRecord {
    static let books = hasMany(Book.self)
    var id: Int64?
    var name: String
    var born: Date?
    mutating func didInsert(_ inserted: InsertionSuccess) { id = inserted.rowID }
}

struct Book: Codable, FetchableRecord, MutablePersistableRecord {
    static let author = belongsTo(Author.self)
    var id: Int64?
    var title: String
    var pages: Int32
    var authorId: Int64
    mutating func didInsert(_ inserted: InsertionSuccess) { id = inserted.rowID }
}

struct BookInfo: Decodable, FetchableRecord {
    var book: Book
    var author: Author
}

let queue = try DatabaseQueue()
try queue.write { database in
    try database.create(table: "author") { table in
        table.autoIncrementedPrimaryKey("id")
        table.column("name", .text).notNull()
        table.column("born", .datetime)
    }
    try database.create(table: "book") { table in
        table.autoIncrementedPrimaryKey("id")
        table.column("title", .text).notNull().indexed()
        table.column("pages", .integer).notNull().defaults(to: 0).check { $0 >= 0 }
        table.belongsTo("author", onDelete: .cascade).notNull()
    }
}
let ursula = try queue.write { database in
    var ursula = Author(name: "Ursula K. Le Guin")
    try ursula.insert(database)
    for (title, pages) in [("The Dispossessed", Int32(387)), ("The Lathe of Heaven", 184)] {
        var book = Book(title: title, pages: pages, authorId: ursula.id!)
        try book.insert(database)
    }
    return ursula
}
let infos = try queue.read { database in
    try Book.filter(Column("pages") > 100)
        .including(required: Book.author.filter(Column("name").like("Ursula%")))
        .order(Column("title")).asRequest(of: BookInfo.self).fetchAll(database)
}
for info in infos { print(info.book.title, "by", info.author.name) }
try queue.write { database in _ = try ursula.delete(database) }
print(try queue.read { try Book.fetchCount($0) })
"""

LIBRARY_OUTPUT = "The Dispossessed by Ursula K. Le Guin\nThe Lathe of Heaven by Ursula K. Le Guin\n0\n"

TYPES = ["string", "integer64", "double", "boolean", "date", "uuid", "string", "integer32"]

LARGE = """import Strata

let container = try PersistentContainer(LargeModel.self, at: .memory(name: nil))
let context = container.newContext()
print(try context.fetch(FetchRequest<Thing0>()).count)
"""


def large_model(entities):
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


def copy_strata():
    """Copies the package to where SwiftPM keeps packages that it fetched, which are compiled as in an app."""
    target = FOLDER / "checkouts/Strata"
    if target.exists():
        shutil.rmtree(target)

    def ignored(folder, names):
        return [name for name in names if name.startswith((".build", ".git")) or HERE / "Data" == pathlib.Path(folder) / name]

    shutil.copytree(HERE.parent, target, symlinks=True, ignore=ignored)


def write_package(name, library, files):
    """Writes a package with one program.
    Returns its folder."""
    folder = FOLDER / name
    sources = folder / "Sources" / name
    sources.mkdir(parents=True, exist_ok=True)
    (folder / "Package.swift").write_text(MANIFEST.format(name=name, **library))
    for file, text in files.items():
        (sources / file).write_text(text)
    return folder


def run(command, folder, environment=None):
    result = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    if result.returncode:
        sys.exit(f"measure-build: {' '.join(map(str, command))} failed\n{result.stdout}\n{result.stderr}")
    return result.stdout


def measured(command, folder):
    """Runs a command to its end, with all processes that it starts.
    Returns the seconds of the wall clock and of CPU."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    start = time.monotonic()
    run(command, folder)
    wall = time.monotonic() - start
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return wall, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def remove(path):
    shutil.rmtree(path) if path.is_dir() and not path.is_symlink() else path.unlink()


def forget_build(folder):
    """Removes everything that a build made, and keeps the sources of packages that were fetched."""
    for path in (folder / ".build").glob("*"):
        if path.name not in ("checkouts", "repositories", "workspace-state.json"):
            remove(path)


def forget_app(folder, name):
    """Removes what was built of the app, and nothing of Strata."""
    patterns = [f"*/debug/{name}*", f"plugins/outputs/*/{name}", f"*/debug/Modules/{name}*"]
    for path in [path for pattern in patterns for path in (folder / ".build").glob(pattern)]:
        remove(path)


def least(runs):
    """The wall clock and the CPU time of a build, each the least of the rounds."""
    return min(wall for wall, _ in runs), min(cpu for _, cpu in runs)


def write_apps():
    """Writes the apps that are compared, fetches their packages, and generates the classes of the one that has them as sources."""
    strata = write_package(
        "LibraryOnStrata", STRATA, {"main.swift": LIBRARY_ON_STRATA, "Library.strata.yaml": LIBRARY_MODEL})
    generated = write_package("LibraryGenerated", STRATA_GENERATED, {"main.swift": LIBRARY_ON_STRATA})
    apps = {
        "Strata": strata,
        "Strata, classes generated": generated,
        "GRDB": write_package("LibraryOnGRDB", GRDB, {"main.swift": LIBRARY_ON_GRDB}),
    }
    for folder in apps.values():
        run(["swift", "package", "resolve"], folder)
    command = ["swift", "package", "--allow-writing-to-package-directory", "strata-generate", "--target", strata.name]
    run(command, strata)
    target = generated / "Sources" / generated.name / "Generated"
    if target.exists():
        shutil.rmtree(target)
    shutil.move(strata / "Sources" / strata.name / "Generated", target)
    return apps


def compare_apps(options):
    apps = write_apps()
    for configuration in options.configurations:
        build = ["swift", "build", "-c", configuration]
        times = {name: [] for name in apps}
        for _ in range(options.rounds):
            for name, folder in apps.items():
                forget_build(folder)
                times[name].append(measured(build, folder))
        for name, folder in apps.items():
            output = run(["swift", "run", "--skip-build", "-c", configuration, folder.name], folder)
            if output != LIBRARY_OUTPUT:
                sys.exit(f"measure-build: the app on {name} printed\n{output}")
        found = {name: least(runs) for name, runs in times.items()}
        for name, (wall, cpu) in found.items():
            ratio = f"{cpu / found['GRDB'][1]:6.2f} × GRDB's   (must: 1.5)" if name != "GRDB" else ""
            print(f"{configuration:8} {name:26} {wall:7.1f} s {cpu:7.1f} s of CPU {ratio}", flush=True)


# Stands in for the compiler and writes down what it used.
RECORDER = """#!/usr/bin/env python3
import os, resource, subprocess, sys
status = subprocess.call(["{compiler}"] + sys.argv[1:])
used = resource.getrusage(resource.RUSAGE_CHILDREN)
arguments = sys.argv[1:]
if "-module-name" in arguments:
    name = arguments[arguments.index("-module-name") + 1]
    if any("/Modules-tool" in argument for argument in arguments):
        name += " (tool)"
    with open("{record}", "a") as file:
        file.write(f"{{used.ru_utime + used.ru_stime}} {{name}}\\n")
sys.exit(status if status >= 0 else 128 - status)
"""


def measure_modules(options):
    apps = write_apps()
    record, recorder = FOLDER / "modules.txt", FOLDER / "swift-frontend"
    compiler = pathlib.Path(shutil.which("swiftc")).parent / "swift-frontend"
    recorder.write_text(RECORDER.format(compiler=compiler, record=record))
    recorder.chmod(0o755)
    environment = os.environ | {"SWIFT_DRIVER_SWIFT_FRONTEND_EXEC": str(recorder)}
    for configuration in options.configurations:
        for name, folder in apps.items():
            forget_build(folder)
            record.write_text("")
            run(["swift", "build", "-c", configuration], folder, environment)
            modules = {}
            for line in record.read_text().splitlines():
                cpu, module = line.split(" ", 1)
                times = modules.setdefault(module, [])
                times.append(float(cpu))
            print(f"{configuration}, {name}: {sum(map(sum, modules.values())):.1f} s of CPU in the compiler")
            for module, times in sorted(modules.items(), key=lambda item: -sum(item[1])):
                print(f"    {module:32} {sum(times):7.1f} s in {len(times)} runs", flush=True)


def measure_generated(options):
    name = "LargeApp"

    def write(entities):
        return write_package(name, STRATA, {"main.swift": LARGE, "Large.strata.yaml": large_model(entities)})

    build = ["swift", "build", "--product", name]
    folder = write(options.entities)
    run(build, folder)
    times = {1: [], options.entities: []}
    for _ in range(options.rounds):
        for entities in times:
            write(entities)
            forget_app(folder, name)
            times[entities].append(measured(build, folder))
    found = {entities: least(runs) for entities, runs in times.items()}
    for entities, (wall, cpu) in found.items():
        label = f"the app without Strata, {entities} {'entity' if entities == 1 else 'entities'}"
        print(f"{label:40} {wall:7.1f} s {cpu:7.1f} s of CPU")
    per_fifty = (found[options.entities][1] - found[1][1]) * 50 / max(1, options.entities - 1)
    print(f"generated code takes {per_fifty:.1f} s of CPU per 50 entities   (must: 2)")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("what", nargs="?", choices=["apps", "modules", "generated"])
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--entities", type=int, default=50)
    parser.add_argument("--configurations", nargs="+", choices=["debug", "release"], default=["debug", "release"])
    options = parser.parse_args()
    copy_strata()
    if options.what in (None, "apps"):
        compare_apps(options)
    if options.what == "modules":
        measure_modules(options)
    if options.what in (None, "generated"):
        measure_generated(options)


if __name__ == "__main__":
    main()
