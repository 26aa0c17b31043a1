"""The symbol graphs of the products, from the modules in a build folder.

`import Strata` re-exports the modules below it, so their symbols count as Strata's, but for those of StrataStore that only authors
of stores see.
"""
import concurrent.futures
import functools
import json
import os
import pathlib
import re
import subprocess

root = pathlib.Path(__file__).resolve().parent.parent
# Products, in the order of their dependencies, with the modules that they re-export and document as their own.
products = {
    "Strata": ["StrataModel", "StrataQuery", "StrataStore", "StrataSQL", "StrataSQLite"],
    "StrataStore": [],
    "StrataRemote": ["StrataWire"],
    "StrataStackMob": [],
    "StrataAzure": [],
    "StrataMaxLeap": [],
    "StrataAsyncHTTP": [],
    "StrataPostgres": [],
    "StrataModelFiles": [],
    "StrataModelExport": [],
    "StrataCoreDataModel": [],
    "StrataCoreData": [],
    "StrataServer": [],
    "StrataTesting": [],
    "StrataRemoteTesting": [],
}


@functools.cache
def libpq_options():
    """What the compiler needs to find libpq's header, which is not in a usual place."""
    found = subprocess.run(["pkg-config", "--cflags", "libpq"], capture_output=True, text=True)
    return found.stdout.split() if found.returncode == 0 else []


@functools.cache
def target():
    """The target that the compiler builds for."""
    info = json.loads(subprocess.check_output(["swiftc", "-print-target-info"]))
    return info["target"]["unversionedTriple"]


def extract(build, product, reexported, folder):
    """Writes the symbol graphs of a module."""
    maps = [
        *root.glob("Sources/*/module.modulemap"),
        *build.glob("*.build/module.modulemap"),
        *build.parent.parent.glob("checkouts/*/Sources/*/include/module.modulemap"),
    ]
    folder.mkdir(parents=True)
    arguments = [
        "swift-symbolgraph-extract", "-module-name", product, "-I", build / "Modules", "-output-dir", folder,
        "-minimum-access-level", "public", "-skip-synthesized-members", "-emit-extension-block-symbols", "-language-mode", "6",
        "-target", target(),
    ]  # fmt: skip
    for option in [*(f"-fmodule-map-file={one}" for one in maps), *libpq_options()]:
        arguments += ["-Xcc", option]
    if reexported:
        arguments += [f"-experimental-allowed-reexported-modules={','.join(reexported)}"]
    subprocess.run(arguments, check=True)


def graphs(folder, product):
    """The symbol graphs of a product: that of the module, and those of its extensions of other modules."""
    return (json.loads(path.read_text()) for path in sorted((folder / f"symbols-{product}").glob("*.symbols.json")))


def names(folder):
    """The names of the symbols at the top of a module."""
    return {
        symbol["pathComponents"][0]
        for path in folder.glob("*.symbols.json")
        if "@" not in path.name
        for symbol in json.loads(path.read_text())["symbols"]
    }


def for_apps():
    """The types of StrataStore that `import Strata` brings into scope."""
    exports = (root / "Sources/StrataSQLite/Exports.swift").read_text()
    return set(re.findall(r"^@_exported import \w+ StrataStore\.(\w+)$", exports, re.M))


def leave_out(folder, module, left_out):
    """Removes symbols that are documented with another product."""
    path = folder / f"{module}.symbols.json"
    graph = json.loads(path.read_text())
    gone = {symbol["identifier"]["precise"] for symbol in graph["symbols"] if symbol["pathComponents"][0] in left_out}
    graph["symbols"] = [symbol for symbol in graph["symbols"] if symbol["identifier"]["precise"] not in gone]
    graph["relationships"] = [one for one in graph["relationships"] if one["source"] not in gone]
    path.write_text(json.dumps(graph))


def fold_extensions(folder, module):
    """Makes the members of extensions those of the types, where both are documented with the same product."""
    path = folder / f"{module}.symbols.json"
    graph = json.loads(path.read_text())
    known = {symbol["identifier"]["precise"] for symbol in graph["symbols"]}
    folded = {
        one["source"]: one["target"]
        for one in graph["relationships"]
        if one["kind"] == "extensionTo" and one["target"] in known
    }
    graph["symbols"] = [symbol for symbol in graph["symbols"] if symbol["identifier"]["precise"] not in folded]
    graph["relationships"] = [
        one | {"target": folded.get(one["target"], one["target"])} for one in graph["relationships"] if one["source"] not in folded
    ]
    path.write_text(json.dumps(graph))


def extract_all(build, folder):
    """Writes the symbol graphs of all products into folders named `symbols-PRODUCT`."""
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        list(pool.map(lambda one: extract(build, one[0], one[1], folder / f"symbols-{one[0]}"), products.items()))
    # The compiler lists a module whole of which some is re-exported.
    apps, strata, store = for_apps(), folder / "symbols-Strata", folder / "symbols-StrataStore"
    leave_out(strata, "Strata", names(store) - apps)
    leave_out(store, "StrataStore", apps)
    fold_extensions(strata, "Strata")
