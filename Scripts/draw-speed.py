#!/usr/bin/env python3
"""Draws Documentation/Images/speed.svg, the chart of README.md, from Benchmarks/results.json.

Without arguments it writes the file. With --check it compares the file with what it would write and ends with status 1 if they
differ, so that the chart always shows the results in the repository.
"""
import json
import math
import pathlib
import sys

root = pathlib.Path(__file__).resolve().parent.parent
target = root / "Documentation/Images/speed.svg"
objects = 100_000

# What a reader recognizes, out of the twenty workloads of the whole chart.
workloads = [
    ("W1", "insert 100,000 objects"),
    ("W3", "fetch all, read 8 attributes"),
    ("W11", "fetch all again, same context"),
    ("W4", "10,000 objects by key"),
    ("W6", "252 to-many relationships"),
    ("W7", "update 10,000 objects"),
    ("W8", "delete 10,000 objects"),
    ("W12", "upsert 100,000 objects"),
]
contenders = [
    ("strata", "Strata", "#d1495b"),
    ("grdb", "GRDB, by hand", "#30638e"),
    ("grdb-codable", "GRDB, Codable", "#7fb2d6"),
    ("django", "Django", "#9aa39b"),
    ("sqlalchemy", "SQLAlchemy", "#c9cfc9"),
]

left, right, top, bar, gap = 236, 700, 66, 9, 12
low, high = 0.25, 64.0


def x(ratio):
    """The place of a ratio on the logarithmic scale."""
    part = (math.log2(ratio) - math.log2(low)) / (math.log2(high) - math.log2(low))
    return round(left + (right - left) * part, 1)


def text(x, y, words, size=11, anchor="start", color="#222", weight="normal"):
    return (
        f'<text x="{x}" y="{y}" font-size="{size}" text-anchor="{anchor}" font-weight="{weight}" fill="{color}">{words}</text>'
    )


def chart(results):
    ratios = {
        (one["workload"], one["contender"]): one["x_raw"] for one in results if one["n"] == objects and one["x_raw"]
    }
    lines = []
    y = top
    for workload, title in workloads:
        present = [one for one in contenders if (workload, one[0]) in ratios]
        height = len(present) * bar
        lines.append(text(left - 10, y + height / 2 + 4, title, 12, "end"))
        for index, (name, _, color) in enumerate(present):
            ratio = ratios[workload, name]
            begin, end = sorted([x(1), x(ratio)])
            where = y + index * bar
            lines.append(f'<rect x="{begin}" y="{where}" width="{max(end - begin, 1):.1f}" height="{bar - 1}" fill="{color}"/>')
            if name == "strata":
                side = (begin - 4, "end") if ratio < 1 else (end + 4, "start")
                lines.append(text(side[0], where + 8, f"{ratio:.2f}", 9, side[1], "#d1495b", "bold"))
        y += height + gap
    bottom = y
    grid = []
    ratio = low
    while ratio <= high:
        label = f"{ratio:g} ×"
        grid.append(f'<line x1="{x(ratio)}" y1="{top - 6}" x2="{x(ratio)}" y2="{bottom}" stroke="{"#555" if ratio == 1 else "#e3e3e3"}"/>')
        grid.append(text(x(ratio), bottom + 14, label, 10, "middle", "#555"))
        ratio *= 4
    legend, place = [], 24
    for _, title, color in contenders:
        legend.append(f'<rect x="{place}" y="38" width="10" height="10" fill="{color}"/>')
        legend.append(text(place + 14, 47, title))
        place += 26 + round(6.2 * len(title))
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" width="740" height="{bottom + 26}" viewBox="0 0 740 {bottom + 26}" '
            'font-family="Helvetica, Arial, sans-serif">',
            "<title>CPU time of common tasks, as a multiple of a hand-written loop over SQLite's C interface</title>",
            '<rect width="100%" height="100%" fill="white"/>',
            text(24, 24, f"CPU time against hand-written C calls of SQLite, {objects:,} cities", 15, weight="bold"),
            *legend,
            *grid,
            *lines,
            "</svg>",
            "",
        ]
    )


drawn = chart(json.loads((root / "Benchmarks/results.json").read_text()))
if "--check" in sys.argv:
    if not target.exists() or target.read_text() != drawn:
        sys.exit(f"{target.relative_to(root)} does not show Benchmarks/results.json; run Scripts/draw-speed.py")
else:
    target.write_text(drawn)
