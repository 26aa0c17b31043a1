#!/usr/bin/env python3
"""Opens the main pages of the reference site in headless Chromium, and looks for what a reader would see there.

    Scripts/check-site.py SITE

Run `make docs` first. A page must show its title and some words of its text, and must not say that it cannot be found; every link of a
landing page to another page of the site must have data. On Debian, `apt-get install chromium` installs the browser; CHROMIUM names
another one.
"""
import functools
import http.server
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import threading

# The pages, with words that they must show.
pages = {
    "documentation": ["Strata", "StrataRemote"],
    "documentation/strata": ["Managed objects in SQLite", "Start here", "Getting started", "PersistentContainer", "MergePolicy"],
    "documentation/strata/gettingstarted": ["Getting started", "Make a package", "PersistentContainer", "Synchronize"],
    "documentation/strata/contexts": ["Objects and contexts", "Which context", "upsert"],
    "documentation/strata/troubleshooting": ["By symptom", "StoreError"],
    "documentation/strata/limits": ["Limits and non-goals", "Platforms"],
    "documentation/strata/managedobjectcontext": ["ManagedObjectContext", "working copy", "save()"],
    "documentation/strata/fetchrequest": ["FetchRequest"],
    "documentation/strata/sqlitestore": ["SQLiteStore"],
    "documentation/stratastore": ["RowBatch", "ChangeSet"],
    "documentation/strataremote": ["Synchronization", "RemoteStore"],
    "documentation/stratastackmob": ["StackMobClient"],
    "documentation/strataserver": ["DataServer"],
    "documentation/stratatesting": ["FaultInjectingStore"],
    "documentation/strataremotetesting": ["MemoryBackend"],
}


class Handler(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *arguments):
        pass


def browser():
    for name in [os.environ.get("CHROMIUM"), "chromium", "chromium-browser", "google-chrome"]:
        if name and shutil.which(name):
            return name
    sys.exit("check-site: there is no Chromium; install it, or name it in CHROMIUM")


def shown(program, address):
    """The document after its scripts have run."""
    with tempfile.TemporaryDirectory() as profile:
        arguments = [
            program, "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", f"--user-data-dir={profile}",
            "--virtual-time-budget=20000", "--dump-dom", address,
        ]  # fmt: skip
        run = subprocess.run(arguments, capture_output=True, text=True, timeout=120)
    return re.sub(r"<(script|style)\b.*?</\1>", "", run.stdout, flags=re.S)


def words(document):
    return " ".join(re.sub(r"<[^>]*>", "", document).split())


def main():
    if len(sys.argv) != 2 or not pathlib.Path(sys.argv[1], "index.html").exists():
        sys.exit("check-site: say where the site is, after `make docs`")
    site = pathlib.Path(sys.argv[1])
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Handler, directory=site))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    program, faults, links = browser(), [], set()
    for page, expected in pages.items():
        document = shown(program, f"http://127.0.0.1:{server.server_port}/{page}/")
        text = words(document)
        missing = [one for one in expected if one not in text]
        if missing or "can’t be found" in text:
            faults.append(f"{page} does not show {', '.join(missing) or 'anything'}")
        found = set(re.findall(r'href="/(documentation/[^"#?]*)', document))
        links |= found
        print(f"{page}: {len(text)} characters, {len(found)} links")
    for link in sorted(links):
        if not (site / "data" / f"{link.rstrip('/')}.json").exists():
            faults.append(f"a link leads nowhere: {link}")
    server.shutdown()
    if faults:
        sys.exit("check-site: " + "\n  ".join(faults))
    print(f"{len(pages)} pages are shown, and {len(links)} links lead to pages.")


main()
