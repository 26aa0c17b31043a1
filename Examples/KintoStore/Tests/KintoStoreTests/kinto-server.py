"""Kinto with its memory back end on a free port of the loopback interface.

    python kinto-server.py [paginate_by]

The first line of the output is the port. The server ends when its standard input does, so it never outlives a test. It uses
one thread: the memory back end compares a version and writes in two steps.
"""

import os
import sys
import threading

from waitress import create_server

import kinto

settings = {
    "kinto.storage_backend": "kinto.core.storage.memory",
    "kinto.cache_backend": "kinto.core.cache.memory",
    "kinto.permission_backend": "kinto.core.permission.memory",
    "kinto.includes": "kinto.plugins.default_bucket",
    "kinto.default_bucket_hmac_salt": "tests",
    "kinto.userid_hmac_secret": "tests",
    # Every name and password is a user.
    "multiauth.policies": "basicauth",
    "kinto.bucket_create_principals": "system.Authenticated",
    "kinto.paginate_by": sys.argv[1] if len(sys.argv) > 1 else "100",
}


server = create_server(kinto.main({}, config=None, **settings), host="127.0.0.1", port=0, threads=1)
print(server.effective_port, flush=True)


def end_with_input():
    sys.stdin.buffer.read()
    os._exit(0)


threading.Thread(target=end_with_input, daemon=True).start()
server.run()
