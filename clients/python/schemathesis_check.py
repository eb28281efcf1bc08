"""Requests made up from /openapi.json, against a server of its own that wants a token: nothing may fail, and nothing may
answer differently from what the document says."""

import base64
import hashlib
import hmac
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import time

from check import check, run_all

SECRET = "a secret that is only for this check"
EXAMPLES = os.environ.get("SCHEMATHESIS_EXAMPLES", "10")


def token():
    def part(value):
        return base64.urlsafe_b64encode(value).rstrip(b"=")

    head = part(json.dumps({"alg": "HS256", "typ": "JWT"}).encode())
    claims = part(json.dumps({"sub": "ann", "exp": int(time.time()) + 3600}).encode())
    signature = hmac.new(SECRET.encode(), head + b"." + claims, hashlib.sha256).digest()
    return b".".join([head, claims, part(signature)]).decode()


def serve(folder):
    settings = {"SEGUE_DATA_DIR": folder, "SEGUE_LISTEN": "127.0.0.1:0", "SEGUE_AUTH": "jwt", "SEGUE_JWT_SECRET": SECRET,
                "SEGUE_MODEL": "offline", "SEGUE_RATE_PER_MINUTE": "0", "SEGUE_CONCURRENT_TURNS": "0", "SEGUE_REQUESTS_PER_SECOND": "0",
                "SEGUE_OPEN_REQUESTS": "0"}
    kept = {name: value for name, value in os.environ.items() if not name.startswith("TIDAL_")}
    server = subprocess.Popen([os.environ["SEGUE_BINARY"], "serve"], stderr=subprocess.PIPE, text=True, cwd=folder,
                              env={**kept, **settings})
    for line in server.stderr:
        if ready := re.search(r"ready on (\S+)", line):
            return server, ready.group(1)
    raise AssertionError("the server ended before it was ready")


@check("whatever the document allows or forbids is answered as the document says")
async def _():
    with tempfile.TemporaryDirectory() as folder:
        server, url = serve(folder)
        try:
            here = pathlib.Path(__file__).parent
            ran = subprocess.run(
                [pathlib.Path(sys.executable).with_name("st"), "--config-file", here / "schemathesis.toml", "run",
                 f"{url}/openapi.json", "-H", f"Authorization: Bearer {token()}", "--max-examples", EXAMPLES,
                 "--request-timeout", "20", "--seed", "1", "--phases", "examples,coverage,fuzzing"],
                cwd=folder, capture_output=True, text=True, check=False)
        finally:
            server.kill()
            server.wait()
    # The failures come before the summary.
    sys.stderr.write(ran.stdout[max(ran.stdout.find(" FAILURES "), 0):][:8000])
    assert ran.returncode == 0, ran.stdout[-1200:]
    print("   ", re.search(r"\d+ generated.*", ran.stdout).group(0), flush=True)


if __name__ == "__main__":
    run_all("schemathesis")
