"""Compares our spans with those of the official Langfuse library, for the same turn, as a collector receives them."""

import asyncio
import datetime
import json
import os
import urllib.request

from check import check, request, run_all

COLLECTOR = os.environ["LANGFUSE_BASE_URL"]
#: Attributes of the library itself and of its process.
OF_THE_LIBRARY = {"x-langfuse-sdk-name", "x-langfuse-sdk-version", "user-agent", "accept", "accept-encoding", "connection", "content-length",
                  "content-encoding", "host"}


def spans():
    with urllib.request.urlopen(f"{COLLECTOR}/spans") as response:
        return json.load(response)


async def trace_of(is_root):
    """All spans of the trace with the given root, once it has arrived."""
    for _ in range(100):
        roots = [span for span in spans() if not span["parent"] and is_root(span)]
        if roots:
            return [span for span in spans() if span["trace"] == roots[0]["trace"]]
        await asyncio.sleep(0.1)
    raise AssertionError("no such trace came")


def tell_by_library():
    """The same turn as below, written by hand with the library."""
    from langfuse import Langfuse, propagate_attributes

    langfuse = Langfuse()
    begin = langfuse.start_as_current_observation
    with begin(name="turn-tasks", as_type="agent", input="please") as turn:
        with propagate_attributes(session_id="s", user_id="local", trace_name="turn-tasks", tags=["tasks"]):
            with begin(name="generation", as_type="generation", model="scripted", input=[{"role": "user", "content": "please"}]) as asked:
                now = datetime.datetime.now(datetime.timezone.utc)
                asked.update(output={"role": "assistant", "content": "ok"}, usage_details={"input": 1, "output": 2}, completion_start_time=now)
                with begin(name="tool-add_task", as_type="tool", input={"title": "x"}) as tool:
                    tool.update(output={"id": 1}, metadata={"durationMs": 3, "wasRetried": False})
                with begin(name="tool-complete_task", as_type="tool", input={"task_id": "7"}) as tool:
                    tool.update(level="ERROR", status_message="There is no such task.", metadata={"durationMs": 3, "wasRetried": False})
            with begin(name="generation", as_type="generation", model="scripted", input=[]) as asked:
                asked.update(output="done", usage_details={"input": 1, "output": 2}, completion_start_time=now)
        turn.update(output="done")
    langfuse.flush()


async def both():
    tell_by_library()
    request("POST", "/api/chat/stream", {"message": "Complete task 7.", "agent": "tasks"})  # as ../script.json says
    theirs = await trace_of(lambda span: span["service"] != "segue" and span["name"] == "turn-tasks")
    ours = await trace_of(lambda span: span["service"] == "segue" and span["name"] == "turn-tasks" and any(
        other["trace"] == span["trace"] and other["name"] == "tool-complete_task" for other in spans()))
    return theirs, ours


def tree(trace, parent=""):
    children = sorted((span for span in trace if span["parent"] == parent), key=lambda span: (span["start"], span["name"]))
    return [[span["name"], span["attributes"]["langfuse.observation.type"], span["status"], tree(trace, span["id"])] for span in children]


def flat(trace):
    return {(span["name"], span["attributes"]["langfuse.observation.type"]): span for span in sorted(trace, key=lambda span: -span["start"])}


@check("the same tree: turn, generations, tools, what failed")
async def _():
    theirs, ours = await both()
    assert tree(theirs) == tree(ours), f"{tree(theirs)} {tree(ours)}"


@check("every attribute the library sets is set by us, with the same kind of value")
async def _():
    theirs, ours = await both()
    ours = flat(ours)
    for key, span in flat(theirs).items():
        mine = ours[key]["attributes"]
        for name, value in span["attributes"].items():
            assert name in mine, f"{key} lacks {name}"
            assert type(mine[name]) is type(value), f"{key} {name}: {mine[name]!r} and {value!r}"
            if isinstance(value, str) and value[:1] in '{["':
                assert mine[name][:1] in '{["' and json.loads(mine[name]) is not None, f"{key} {name}: {mine[name]!r} is no JSON"
            if name in ("user.id", "langfuse.trace.name", "langfuse.trace.tags", "langfuse.observation.level"):
                assert mine[name] == value, f"{key} {name}: {mine[name]!r} and {value!r}"


@check("the same address and headers")
async def _():
    theirs, ours = await both()
    assert ours[0]["path"] == theirs[0]["path"]
    for name, value in theirs[0]["headers"].items():
        if name not in OF_THE_LIBRARY:
            assert ours[0]["headers"].get(name) == value, f"{name}: {ours[0]['headers'].get(name)!r} and {value!r}"


@check("each span once")
async def _():
    await both()
    seen = [(span["trace"], span["id"]) for span in spans()]
    assert len(seen) == len(set(seen))


run_all("langfuse")
