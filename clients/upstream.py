"""A model server for the client checks: Anthropic's stream, played from the user's own message.

A message that is JSON is a script: {"replies": [{"say": "...", "calls": [["add_task", {...}]], "pace_ms": 20,
"fail": true}, ...]}. Any other message is answered with a sentence with the number of questions that the model has seen,
so that a check can verify the history.

It is also the way to the catalogue of the doubles (the first argument), where a question that says so finds nothing, slowly.
"""

import json
import sys
import time
import urllib.request
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


def texts_of(message):
    content = message["content"]
    blocks = [{"type": "text", "text": content}] if isinstance(content, str) else content
    return [block["text"] for block in blocks if block["type"] == "text"]


def reply_to(messages):
    asked = [n for n, message in enumerate(messages) if message["role"] == "user" and texts_of(message)]
    text = "".join(texts_of(messages[asked[-1]]))
    n_replied = sum(1 for message in messages[asked[-1] + 1:] if message["role"] == "assistant")
    try:
        replies = json.loads(text)["replies"]
    except (ValueError, KeyError, TypeError):
        n_answers = sum(1 for message in messages if message["role"] == "assistant")
        return {"say": f"I have seen {len(asked)} questions and {n_answers} answers."}
    return replies[min(n_replied, len(replies) - 1)]


class Upstream(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        if "slowly" in self.path:
            time.sleep(2.5)
            return self.answer({"data": [], "included": [], "links": {}}, "application/vnd.api+json")
        asked = urllib.request.Request(sys.argv[1] + self.path.removeprefix("/tidal"))
        asked.add_header("authorization", self.headers["authorization"])
        with urllib.request.urlopen(asked) as answer:
            self.answer(json.load(answer), "application/vnd.api+json")

    def do_POST(self):
        request = json.loads(self.rfile.read(int(self.headers["content-length"])))
        reply = reply_to(request["messages"])
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.send_header("connection", "close")
        self.end_headers()
        try:
            self.play(reply)
        except (BrokenPipeError, ConnectionResetError):
            pass  # The caller was stopped.
        self.close_connection = True

    def answer(self, body, kind):
        data = json.dumps(body).encode()
        self.send_response(200)
        self.send_header("content-type", kind)
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def play(self, reply):
        self.frame("message_start", message={"usage": {"input_tokens": 10, "output_tokens": 1}})
        blocks = 0
        if reply.get("say"):
            self.frame("content_block_start", index=0, content_block={"type": "text", "text": ""})
            for word in reply["say"].split(" "):
                time.sleep(reply.get("pace_ms", 0) / 1000)
                self.frame("content_block_delta", index=0, delta={"type": "text_delta", "text": word + " "})
            self.frame("content_block_stop", index=0)
            blocks = 1
        if reply.get("fail"):
            self.frame("error", error={"type": "invalid_request_error", "message": "as the script says"})
            return
        calls = reply.get("calls", [])
        for index, (name, arguments) in enumerate(calls, blocks):
            block = {"type": "tool_use", "id": f"toolu_{index}", "name": name, "input": {}}
            self.frame("content_block_start", index=index, content_block=block)
            delta = {"type": "input_json_delta", "partial_json": json.dumps(arguments)}
            self.frame("content_block_delta", index=index, delta=delta)
            self.frame("content_block_stop", index=index)
        stop = "tool_use" if calls else "end_turn"
        self.frame("message_delta", delta={"stop_reason": stop}, usage={"output_tokens": 20})
        self.frame("message_stop")

    def frame(self, kind, **fields):
        self.wfile.write(f"event: {kind}\ndata: {json.dumps({'type': kind, **fields})}\n\n".encode())
        self.wfile.flush()

    def log_message(self, *_):
        pass


if __name__ == "__main__":
    server = ThreadingHTTPServer(("127.0.0.1", 0), Upstream)
    print(f"http://127.0.0.1:{server.server_port}", flush=True)
    server.serve_forever()
