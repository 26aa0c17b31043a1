#!/usr/bin/env python3
"""Compares the public API with its listing in Documentation/API, and with the last release.

    Scripts/check-api.py BUILD             checks that the listing is that of the modules in BUILD
    Scripts/check-api.py BUILD --record    writes the listing
    Scripts/check-api.py --since REVISION  checks the listing against that of an earlier revision

BUILD is the folder that `swift build --show-bin-path` prints. A product's listing has a line for each public symbol and each
conformance, so that a change of public API shows in the review of the commit that makes it. Symbols whose names begin with an
underscore are not API.

A removed or changed line breaks callers. So does a new requirement of a protocol that has no default implementation, and a new case
of an enumeration that is no error. With a tag `v1.2.3` in the repository, the first form also compares with the newest one: what
breaks must be in the first section of CHANGELOG.md, under "What breaks", by its name.
"""
import pathlib
import re
import subprocess
import sys
import tempfile

from symbol_graphs import extract_all, graphs, libpq_options, products, root

listings = pathlib.Path("Documentation/API")
# The compiler whose declarations the listing has; others print some declarations differently.
compiler = "Swift version 6.3"

# Every type conforms to these, unless it says otherwise.
implied = {"Copyable", "Escapable", "SendableMetatype"}


def fail(message):
    sys.exit(f"check-api: {message}")


# Listings


def text(fragments):
    """A declaration without what callers do not see: names of parameters inside functions, and attributes about results."""
    parts = []
    for one in fragments:
        if one["kind"] == "internalParam":
            parts[-1] = parts[-1].rstrip()
        else:
            parts.append(one["spelling"])
    return re.sub(r"\s+", " ", "".join(parts)).replace("@discardableResult ", "").strip()


def conditions(constraints):
    """The `where` clause of an extension or a conformance."""
    signs = {"sameType": "==", "conformance": ":", "superclass": ":"}
    found = [f"{one['lhs']} {signs[one['kind']]} {one['rhs']}" for one in constraints]
    return " where " + ", ".join(sorted(set(found))) if found else ""


def listing(symbols, relationships, paths):
    """The lines of a product: `Type.member: declaration`.

    `paths` has the symbols of all products.
    """
    known = {one["identifier"]["precise"]: one for one in symbols}
    defaults = {one["target"] for one in relationships if one["kind"] == "defaultImplementationOf"}
    required = {one["source"] for one in relationships if one["kind"] == "requirementOf"} - defaults
    lines = set()
    for identifier, symbol in known.items():
        path = symbol["pathComponents"]
        if symbol["kind"]["identifier"] == "swift.extension" or any(part.startswith("_") for part in path):
            continue
        extension = symbol.get("swiftExtension", {}).get("constraints", [])
        declaration = text(symbol["declarationFragments"]) + conditions(extension)
        lines.add(f"{'.'.join(path)}: {declaration}{' [required]' if identifier in required else ''}")
    for one in relationships:
        if one["kind"] in ("conformsTo", "inheritsFrom") and one["source"] in known:
            path = known[one["source"]]["pathComponents"]
            target = one.get("targetFallback") or ".".join(paths[one["target"]])
            name = re.sub(r"^(Swift|Strata\w*)\.", "", target)
            # An extension of a foreign type repeats what that conforms to.
            is_repeated = known[one["source"]]["kind"]["identifier"] == "swift.extension" and target.startswith("Swift.")
            if not is_repeated and name not in implied and not any(part.startswith("_") for part in [*path, *name.split(".")]):
                lines.add(f"{'.'.join(path)}: is {name}{conditions(one.get('swiftConstraints', []))}")
    return sorted(lines)


def current(build):
    """The listings of the modules in a build folder."""
    with tempfile.TemporaryDirectory() as temporary:
        folder = pathlib.Path(temporary)
        extract_all(build, folder)
        parts = {product: list(graphs(folder, product)) for product in products}
    symbols = {product: [one for graph in parts[product] for one in graph["symbols"]] for product in products}
    paths = {one["identifier"]["precise"]: one["pathComponents"] for part in symbols.values() for one in part}
    return {
        product: listing(symbols[product], [one for graph in parts[product] for one in graph["relationships"]], paths)
        for product in products
    }


# Comparison


def breaks(old, new):
    """The lines of two listings whose removal or addition breaks callers.

    >>> old = ["Shape: protocol Shape", "Shape.area: var area: Double { get } [required]", "Kind: enum Kind", "Kind.a: case a"]
    >>> breaks(old, old + ["Shape.name: var name: String { get }", "Other: struct Other"])
    []
    >>> breaks(old, old + ["Shape.name: var name: String { get } [required]"])
    ['+ Shape.name: var name: String { get } [required]']
    >>> breaks(old, old[1:])
    ['- Shape: protocol Shape']
    >>> breaks(old, old + ["Kind.b: case b"])
    ['+ Kind.b: case b']
    >>> breaks(old + ["Kind: is Error"], old + ["Kind: is Error", "Kind.b: case b"])
    []
    >>> breaks(old, old + ["Line: protocol Line", "Line.length: var length: Double { get } [required]"])
    []
    """
    before, after = set(old), set(new)
    there = {line.partition(":")[0] for line in old}
    found = [f"- {line}" for line in old if line not in after]
    for line in new:
        path, _, declaration = line.partition(": ")
        parent = path.rpartition(".")[0]
        if line in before or parent not in there:
            continue
        if declaration.endswith("[required]") or (declaration.startswith("case ") and f"{parent}: is Error" not in before):
            found.append(f"+ {line}")
    return found


def unlisted(found, changelog):
    """Which of the broken lines have no name in the first section of the changelog.

    >>> text = "## 0.2.0\\n\\n### What breaks\\n\\n- `Shape.area` is a function.\\n\\n### Others\\n\\n`Kind.b`\\n\\n## 0.1.0\\n"
    >>> unlisted(["- Shape.area: var area", "+ Kind.b: case b"], text)
    ['+ Kind.b: case b']
    """
    section = re.search(r"^## \d.*?(?=^## \d|\Z)", changelog, re.S | re.M)
    part = re.search(r"What breaks(.*?)(?=^#|\Z)", section[0] if section else "", re.S | re.M)
    words = part[1] if part else ""
    return [line for line in found if re.split(r"[(:]", line[2:])[0].split(".")[-1] not in words]


def git(*arguments):
    return subprocess.run(["git", "-C", root, *arguments], capture_output=True, text=True)


def last_release():
    found = git("describe", "--tags", "--abbrev=0", "--match", "v[0-9]*")
    return found.stdout.strip() if found.returncode == 0 else None


def recorded(product):
    path = root / listings / f"{product}.txt"
    return path.read_text().splitlines() if path.exists() else []


def check_since(revision):
    """Fails if something breaks since a revision that the changelog does not list."""
    found = []
    for product in products:
        old = git("show", f"{revision}:{listings}/{product}.txt")
        if old.returncode == 0:
            found += breaks(old.stdout.splitlines(), recorded(product))
    missing = unlisted(found, (root / "CHANGELOG.md").read_text())
    if missing:
        fail(
            f"these changes since {revision} break callers, and CHANGELOG.md does not list them under \"What breaks\":\n  "
            + "\n  ".join(missing)
        )
    print(f"check-api: {len(found)} changes since {revision} break callers; CHANGELOG.md lists all of them")


def main():
    if sys.argv[1:2] == ["--since"] and len(sys.argv) == 3:
        if git("rev-parse", "--verify", f"{sys.argv[2]}^{{commit}}").returncode != 0:
            fail(f"there is no revision {sys.argv[2]}")
        return check_since(sys.argv[2])
    if len(sys.argv) not in (2, 3) or sys.argv[2:] not in ([], ["--record"]):
        fail("say where the build is: Scripts/check-api.py BUILD [--record]")
    version = subprocess.run(["swiftc", "--version"], capture_output=True, text=True).stdout
    if not re.search(rf"{re.escape(compiler)}(\.\d+)*\b", version):
        return print(f"check-api: skipped, because the listing was made with {compiler}")
    found = current(pathlib.Path(sys.argv[1]).resolve())
    if not libpq_options():
        # Without libpq, the module has only a part of its symbols.
        del found["StrataPostgres"]
    if sys.argv[2:]:
        (root / listings).mkdir(exist_ok=True)
        for product, lines in found.items():
            (root / listings / f"{product}.txt").write_text("".join(f"{line}\n" for line in lines))
        return
    changed = []
    for product, lines in found.items():
        old = recorded(product)
        before, after = set(old), set(lines)
        both = [f"- {line}" for line in old if line not in after] + [f"+ {line}" for line in lines if line not in before]
        broken = set(breaks(old, lines)) if both else set()
        changed += [f"{product}: {line}{' (breaks callers)' if line in broken else ''}" for line in both]
    if changed:
        fail(
            f"the public API is not that of {listings}. If you mean these changes, run `make api` and commit the listing:\n  "
            + "\n  ".join(changed)
        )
    print(f"check-api: {sum(map(len, found.values()))} lines are as recorded")
    release = last_release()
    if release:
        check_since(release)


if __name__ == "__main__":
    main()
