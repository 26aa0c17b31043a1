#!/usr/bin/env python3
"""Builds the reference site from the modules in a build folder, and checks it.

    Scripts/make-docs.py BUILD SITE

BUILD is the folder that `swift build --show-bin-path` prints; SITE is where the site goes. Each product gets an archive of its own,
and docc merges them. The articles are the pages in Documentation, with their links rewritten for DocC. It ends
with status 1 if docc warns about anything, or if a link of a page leads nowhere.

It calls docc itself because swift-docc-plugin documents each module separately. An app imports `Strata`, whose reference has to contain the
types of the modules that it re-exports, and comments there link to types of `Strata`. The plugin (1.5.0) warns about 370 such links in
four modules, also with --enable-experimental-combined-documentation.
"""
import json
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

from symbol_graphs import extract_all, names, products, root

# Pages of the folder Documentation that are not articles: the site has landing pages instead.
omitted = {"README"}


def fail(message):
    sys.exit(f"make-docs: {message}")


# Articles


def slug(heading):
    """The anchor that GitHub gives a heading."""
    return re.sub(r"[^\w\- ]", "", re.sub(r"[`*]", "", heading).lower()).replace(" ", "-")


def fragment(heading):
    """The anchor that DocC gives a heading."""
    return re.sub(r"[\"'`’(),;:*]", "", re.sub(r"\s+", "-", re.sub(r"[`*]", "", heading).strip()))


def prose(text):
    """The page without its blocks of code."""
    return re.sub(r"^```.*?^```", "", text, flags=re.S | re.M)


def headings(text):
    return {slug(one): fragment(one) for one in re.findall(r"^#+ (.*)$", prose(text), re.M)}


pages = {path.stem: path.read_text() for path in sorted((root / "Documentation").glob("*.md"))}
anchors = {name: headings(text) for name, text in pages.items()}
link = re.compile(r"(!?)\[([^\]]*)\]\(([^)\s]+)\)")


def check_links():
    """Whether all links between files of the repository lead somewhere, and the site lists all pages."""
    broken = []
    files = {f"Documentation/{name}.md": text for name, text in pages.items()}
    files["README.md"] = (root / "README.md").read_text()
    for path, text in files.items():
        for _, _, target in link.findall(prose(text)):
            if re.match(r"[a-z]+:", target):
                continue
            name, _, anchor = target.partition("#")
            place = ((root / path).parent / name).resolve() if name else root / path
            if not place.exists():
                broken.append(f"{path}: {target}")
            elif anchor and place.suffix == ".md" and anchor not in headings(place.read_text()):
                broken.append(f"{path}: {target}")
    landing = (root / "Sources/Strata/Strata.docc/Strata.md").read_text()
    for name in sorted(pages.keys() - omitted):
        # DocC finds no article that is in no list of topics.
        if f"<doc:{name}>" not in landing:
            broken.append(f"Sources/Strata/Strata.docc/Strata.md: Documentation/{name}.md is not in its topics")
    if broken:
        fail("links that lead nowhere:\n  " + "\n  ".join(broken))


def article(name):
    """A page as DocC reads it."""

    def rewrite(match):
        image, words, target = match.groups()
        page, _, anchor = target.partition("#")
        if re.match(r"[a-z]+:", target) or image:
            return match[0]
        stem = pathlib.PurePosixPath(page).stem if page else name
        if (page and "/" in page) or stem in omitted or stem not in pages:
            return words.replace("`", "")
        place = f"#{anchors[stem][anchor]}" if anchor else ""
        return f"[{words.replace('`', '')}](doc:{stem}{place})"

    parts = re.split(r"(^```.*?^```[^\n]*\n)", pages[name], flags=re.S | re.M)
    return "".join(part if part.startswith("```") else link.sub(rewrite, part) for part in parts)


def point_to_modules(folder, own, others):
    """Gives links to symbols of other modules the name of their module, which DocC asks for."""

    def rewrite(match):
        first = match[1].split("/")[0]
        module = None if first in own else next((name for name, known in others.items() if first in known), None)
        return f"``/{module}/{match[1]}``" if module else match[0]

    for path in folder.glob("*.symbols.json"):
        graph = json.loads(path.read_text())
        for symbol in graph["symbols"]:
            for line in symbol.get("docComment", {}).get("lines", []):
                line["text"] = re.sub(r"``([^`/][^`]*)``", rewrite, line["text"])
        path.write_text(json.dumps(graph))


# The site


def convert(product, folder, others):
    """Makes the archive of a product."""
    catalog = folder / f"{product}.docc"
    shutil.copytree(root / f"Sources/{product}/{product}.docc", catalog)
    if product == "Strata":
        for name in pages.keys() - omitted:
            (catalog / f"{name}.md").write_text(article(name))
    archive = folder / f"{product}.doccarchive"
    arguments = [
        "docc", "convert", catalog, "--additional-symbol-graph-dir", folder / f"symbols-{product}", "--output-dir", archive,
        "--fallback-display-name", product, "--fallback-bundle-identifier", product, "--transform-for-static-hosting",
        "--enable-experimental-external-link-support", "--enable-experimental-overloaded-symbol-presentation",
        "--diagnostics-file", folder / f"{product}.json", "--diagnostic-level", "warning",
        # A comment explains the parameters whose names do not say everything.
        "--disable-parameters-and-returns-validation",
    ]  # fmt: skip
    for other in others:
        arguments += ["--dependency", folder / f"{other}.doccarchive"]
    run = subprocess.run(arguments, capture_output=True, text=True)
    report = folder / f"{product}.json"
    warnings = json.loads(report.read_text())["diagnostics"] if report.exists() else []
    for one in warnings:
        place = (one.get("source") or "").removeprefix("file://")
        print(f"{place}:{one.get('range', {}).get('start', {}).get('line', 0)}: {one['severity']}: {one['summary']}", file=sys.stderr)
    if run.returncode != 0 and not warnings:
        print(run.stdout, run.stderr, file=sys.stderr)
    return len(warnings) + (run.returncode != 0)


def main():
    check_links()
    if sys.argv[1:] == ["--links"]:
        return
    if len(sys.argv) != 3:
        fail("say where the build and the site are: Scripts/make-docs.py BUILD SITE")
    build, site = pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2])
    with tempfile.TemporaryDirectory() as temporary:
        folder = pathlib.Path(temporary)
        known, faults = {}, 0
        extract_all(build, folder)
        for product in products:
            symbols = folder / f"symbols-{product}"
            known[product] = names(symbols)
            point_to_modules(symbols, known[product], {name: one for name, one in known.items() if name != product})
            faults += convert(product, folder, [name for name in known if name != product])
        if faults:
            fail(f"docc found {faults} faults")
        shutil.rmtree(site, ignore_errors=True)
        archives = [folder / f"{product}.doccarchive" for product in products]
        subprocess.run(["docc", "merge", *archives, "--synthesized-landing-page-name", "Strata", "--output-path", site], check=True)
    print(f"The site is in {site}. To read it: python3 -m http.server --directory {site}")


main()
