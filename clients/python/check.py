"""One line per check: `ok <name>` or `FAIL <name>: <why>`. A failed check is only reported by its line; an exception ends the script."""

import asyncio
import json
import os
import urllib.error
import urllib.request

URL = os.environ["SEGUE_URL"]
TOKEN = os.environ.get("SEGUE_TOKEN")
HEADERS = {"authorization": f"Bearer {TOKEN}"} if TOKEN else {}

CHECKS = []


def check(name):
    """Marks an async function as a check."""

    def mark(body):
        CHECKS.append((name, body))
        return body

    return mark


def run_all(client):
    async def run_each():
        for name, body in CHECKS:
            try:
                await asyncio.wait_for(body(), 60)
                print(f"ok {client}: {name}", flush=True)
            except BaseException as error:  # noqa: BLE001: whatever it is, the other checks go on
                while isinstance(error, BaseExceptionGroup):
                    error = error.exceptions[0]
                why = f"{type(error).__name__}: {error}"
                print(f"FAIL {client}: {name}: {' '.join(why.split())[:1500]}", flush=True)

    asyncio.run(run_each())


def request(method, path, body=None):
    """Status, headers and the whole body."""
    data = None if body is None else json.dumps(body).encode()
    headers = {**HEADERS, **({"content-type": "application/json"} if data else {})}
    try:
        with urllib.request.urlopen(urllib.request.Request(URL + path, data, headers, method=method)) as response:
            return response.status, dict(response.headers), response.read()
    except urllib.error.HTTPError as refusal:
        return refusal.code, dict(refusal.headers), refusal.read()
