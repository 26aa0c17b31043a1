#!/usr/bin/env python3
"""Writes the formats of the tests to Fuzz/Corpus, one a file, as first inputs of the fuzzer."""
import json
import pathlib

here = pathlib.Path(__file__).resolve().parent
corpus = here / "Corpus"
corpus.mkdir(exist_ok=True)
for name in ("predicates", "more"):
    lines = (here.parent / "Tests/StrataQueryTests/Vectors" / f"{name}.jsonl").read_text(encoding="utf-8").splitlines()
    for line in lines:
        case = json.loads(line)
        (corpus / case["id"]).write_text(case["format"], encoding="utf-8")
