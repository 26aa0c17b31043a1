#!/usr/bin/env python3
"""Requests per second of strata-server, of a hand-written handler over SQLite, of Django REST framework and of Kinto.

    measure.py <folder of the built programs> [--seconds 5] [--rounds 3] [--only NAME]

All run on this machine, one after the other, asked by wrk over 64 connections: one object by its key, a list of 20, and the
creation of one that is on the disk when it is answered. The contenders take turns, and the best round of each counts, so that
what else the machine does counts as little as possible. Without a Python environment for Django and Kinto one is made with pip.
"""
import argparse
import base64
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import time
import urllib.request
from pathlib import Path

HERE = Path(__file__).resolve().parent
COUNT = 10_000
ENVIRONMENT = HERE.parent / "Data" / "server-python"


def python_environment():
    python = ENVIRONMENT / "bin" / "python"
    if not python.exists():
        subprocess.run([sys.executable, "-m", "venv", str(ENVIRONMENT)], check=True)
        subprocess.run(
            [str(python), "-m", "pip", "-q", "install", "django", "djangorestframework", "gunicorn", "kinto", "waitress"],
            check=True)
    return ENVIRONMENT / "bin"


def ask(method, url, body=None, headers={}):
    data = json.dumps(body).encode() if body is not None else None
    request = urllib.request.Request(url, data, {"Content-Type": "application/json", **headers}, method=method)
    with urllib.request.urlopen(request, timeout=60) as answer:
        return json.load(answer)


def items(numbers):
    return [
        {"item_id": "i%06d" % number, "title": "title %d" % number, "n": number, "done": number % 2 == 0}
        for number in numbers
    ]


class Contender:
    """A server with its first objects: how it is started, and what it is asked."""

    def __init__(self, folder, port):
        self.folder, self.port, self.base = folder, port, f"http://127.0.0.1:{port}"
        self.environment = {}
        self.one, self.many, self.creation = "/item/i000500", "/item", "/item"

    def start(self, command, **environment):
        self.process = subprocess.Popen(
            command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, cwd=HERE,
            env={**os.environ, **environment}, start_new_session=True)

    def wait(self, path):
        for _ in range(600):
            try:
                urllib.request.urlopen(urllib.request.Request(self.base + path, headers=self.headers()), timeout=5)
                return
            except OSError:
                time.sleep(0.1)
        raise SystemExit(f"{type(self).__name__} does not answer")

    def headers(self):
        return {"Authorization": self.environment["AUTHORIZATION"]} if "AUTHORIZATION" in self.environment else {}

    def stop(self):
        os.killpg(self.process.pid, signal.SIGTERM)
        self.process.wait()


class Strata(Contender):
    def __init__(self, folder, port, program):
        super().__init__(folder, port)
        self.environment["RANGE"] = "objects=0-19"
        self.start([str(program), "--port", str(port), "--data", str(folder), "--log-level", "error"])
        self.wait("/health")
        for start in range(0, COUNT, 1000):
            ask("POST", self.base + "/item", items(range(start, start + 1000)))


class Plain(Contender):
    def __init__(self, folder, port, program):
        super().__init__(folder, port)
        self.start([str(program), str(port), str(folder / "items.sqlite"), str(COUNT)])
        self.wait("/item")


class Django(Contender):
    def __init__(self, folder, port):
        super().__init__(folder, port)
        programs, file = python_environment(), str(folder / "items.sqlite")
        subprocess.run([programs / "python", "django_items.py", "setup", file, str(COUNT)], check=True, cwd=HERE)
        self.start(
            [str(programs / "gunicorn"), "-b", f"127.0.0.1:{port}", "-w", str(os.cpu_count()), "--threads", "4",
             "--keep-alive", "60", "django_items:application"], ITEMS=file)
        self.wait("/item")


class Kinto(Contender):
    """Keeps its data in memory: the only back end of its own that needs no other server."""

    def __init__(self, folder, port):
        super().__init__(folder, port)
        self.environment["AUTHORIZATION"] = "Basic " + base64.b64encode(b"token:benchmark").decode()
        self.environment["BODY"] = "kinto"
        configuration = folder / "kinto.ini"
        configuration.write_text(f"""
[server:main]
use = egg:waitress
host = 127.0.0.1
port = {port}
threads = 4
[app:main]
use = egg:kinto
kinto.storage_backend = kinto.core.storage.memory
kinto.cache_backend = kinto.core.cache.memory
kinto.permission_backend = kinto.core.permission.memory
kinto.userid_hmac_secret = benchmark
multiauth.policies = basicauth
multiauth.policy.basicauth.use = kinto.core.authentication.BasicAuthAuthenticationPolicy
kinto.experimental_collection_schema_validation = false
kinto.bucket_create_principals = system.Everyone
""")
        self.start([str(python_environment() / "kinto"), "start", "--ini", str(configuration)])
        self.wait("/v1/")
        for path in ["/v1/buckets/b", "/v1/buckets/b/collections/item"]:
            ask("PUT", self.base + path, {}, self.headers())
        records = "/v1/buckets/b/collections/item/records"
        for start in range(0, COUNT, 25):
            requests = [
                {"method": "PUT", "path": f"{records}/{item['item_id']}", "body": {"data": item}}
                for item in items(range(start, start + 25))
            ]
            ask("POST", self.base + "/v1/batch", {"requests": requests}, self.headers())
        self.one, self.many, self.creation = records + "/i000500", records + "?_limit=20", records


def wrk(contender, path, script, seconds):
    command = ["wrk", "-t2", "-c64", f"-d{seconds}s", "--timeout", "20s", "-s", str(HERE / script), contender.base + path]
    environment = {**os.environ, **contender.environment}
    if script == "create.lua" or path == contender.one:
        environment.pop("RANGE", None)
    output = subprocess.run(command, capture_output=True, text=True, check=True, env=environment).stdout
    failures = re.search(r"Non-2xx or 3xx responses: (\d+)", output)
    if failures:
        raise SystemExit(f"{type(contender).__name__} {path}: {failures.group(1)} requests failed")
    return float(re.search(r"Requests/sec:\s+([\d.]+)", output).group(1))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("programs", type=lambda text: Path(text).resolve())
    parser.add_argument("--seconds", type=int, default=5)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--only")
    arguments = parser.parse_args()
    makers = {
        "strata-server": lambda folder, port: Strata(folder, port, arguments.programs / "strata-server"),
        "hand-written": lambda folder, port: Plain(folder, port, arguments.programs / "PlainServer"),
        "Django REST": Django,
        "Kinto (in memory)": Kinto,
    }
    best = {}
    for round in range(arguments.rounds):
        for place, (name, make) in enumerate(makers.items()):
            if arguments.only and arguments.only not in name:
                continue
            with tempfile.TemporaryDirectory() as folder:
                contender = make(Path(folder), 18200 + 10 * round + place)
                try:
                    for kind, path, script in [
                        ("read one", contender.one, "read.lua"), ("list 20", contender.many, "read.lua"),
                        ("create one", contender.creation, "create.lua"),
                    ]:
                        rate = wrk(contender, path, script, arguments.seconds)
                        best[name, kind] = max(best.get((name, kind), 0), rate)
                finally:
                    contender.stop()
    kinds = ["read one", "list 20", "create one"]
    print(f"{'requests per second':20}" + "".join(f"{kind:>12}" for kind in kinds))
    for name in makers:
        if (name, kinds[0]) in best:
            print(f"{name:20}" + "".join(f"{best[name, kind]:12,.0f}" for kind in kinds))
    for kind in kinds:
        if ("strata-server", kind) in best and ("hand-written", kind) in best:
            print(f"{kind}: {100 * best['strata-server', kind] / best['hand-written', kind]:.0f} % of the hand-written handler")


main()
