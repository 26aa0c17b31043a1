#!/usr/bin/env bash
# Checks the sizes that the project sets for its sources: a median of at most 120 lines for a file, no file over 450, at most 20
# source files in a folder, at most 10 promises of `@unchecked Sendable`, and at most 12 stored properties for a type unless the
# comment before it says why it has more ("stored properties"). It also looks for phrases to reword. Ends with status 1 and a
# list of what is wrong.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
if [ $# = 0 ]; then
    Scripts/check-phrases.py --self-test
    Scripts/check-phrases.py Sources Plugins Tests Benchmarks/Sources Scripts Makefile .ci \
        '*.md' Documentation Examples
fi
exec python3 - "${1:-Sources}" <<'PYTHON'
import pathlib
import re
import statistics
import sys

root = pathlib.Path(sys.argv[1])
files = {path: path.read_text() for path in sorted(root.rglob("*.swift"))}
faults = []

lines = {path: text.count("\n") for path, text in files.items()}
median = statistics.median(lines.values())
if median > 120:
    faults.append(f"the median of the files is {median} lines; the maximum is 120")
for path, count in lines.items():
    if count > 450:
        faults.append(f"{path} has {count} lines; the maximum is 450")

folders = {}
for path in files:
    folders.setdefault(path.parent, []).append(path)
for folder, members in folders.items():
    if len(members) > 20:
        faults.append(f"{folder} has {len(members)} source files; the maximum is 20")


def code(line):
    """A line without comments and the content of texts."""
    return re.sub(r"//.*", "", re.sub(r'"(\\.|[^"\\])*"', '""', line))


promises = [
    f"{path}:{number}"
    for path, text in files.items()
    for number, line in enumerate(text.splitlines(), 1)
    if "@unchecked Sendable" in code(line)
]
if len(promises) > 10:
    faults.append(f"{len(promises)} types are @unchecked Sendable; the maximum is 10: {', '.join(promises)}")

# What all services share knows none of them. Its pages may lead to the clients.
dialects = re.compile(r"stackmob|maxleap|azure|datasync|kinto|zumo|parselivequery|parse\.example", re.IGNORECASE)
for path, text in files.items():
    if not {"StrataRemote", "StrataWire"}.intersection(path.parts):
        continue
    for number, line in enumerate(text.splitlines(), 1):
        if name := dialects.search(line):
            faults.append(f"{path}:{number} names {name.group()}; say what all services share")

declaration = re.compile(r"^\s*(?:@?[\w()]+ )*(?:class|struct|actor|enum) (\w+)[^{]*\{")
variable = re.compile(
    r"^\s*(?:@\w+(?:\([^)]*\))? )*(?:public |package |private |fileprivate |internal |open |final |weak |lazy |unowned"
    r"(?:\(\w+\))? |nonisolated(?:\(\w+\))? |(?:private|package|fileprivate|internal)\(set\) )*(?:let|var) (\w+)")


def stored_properties(text):
    """The stored properties of each type: name of the type, comment before it, names."""
    stack, comment, found, in_text = [], "", [], False
    for line in text.splitlines():
        if '"""' in line and line.count('"""') % 2:
            in_text = not in_text
            continue
        if in_text:
            continue
        bare = code(line)
        begin = declaration.match(bare)
        if begin and not re.match(r"^\s*case ", bare):
            stack.append((begin.group(1), [], comment))
            found.append(stack[-1])
            depth = bare.count("{") - bare.count("}")
            if depth <= 0:
                stack.pop()
            else:
                stack.extend([None] * (depth - 1))
        else:
            # A computed property has a body; one with observers is stored.
            name = variable.match(bare)
            computed = "{" in bare and "=" not in bare.split("{")[0]
            if name and stack and stack[-1] is not None and not computed:
                stack[-1][1].append(name.group(1))
            change = bare.count("{") - bare.count("}")
            if change > 0:
                stack.extend([None] * change)
            for _ in range(-change):
                if stack:
                    stack.pop()
        if line.strip().startswith("//"):
            comment += line
        elif not line.strip().startswith("@"):
            comment = ""
    return found


largest = 0
for path, text in files.items():
    for name, properties, comment in stored_properties(text):
        largest = max(largest, len(properties))
        if len(properties) > 12 and "stored properties" not in comment:
            faults.append(f"{path}: {name} has {len(properties)} stored properties; the maximum is 12: {', '.join(properties)}")

print(
    f"{len(files)} files, median {median:g} lines, longest {max(lines.values())}; fullest folder "
    f"{max(map(len, folders.values()))} files; {len(promises)} @unchecked Sendable; largest type {largest} stored properties")
for fault in faults:
    print(fault, file=sys.stderr)
sys.exit(1 if faults else 0)
PYTHON
