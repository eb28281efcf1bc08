"""The official Python MCP client against /mcp, in every mode, and against `segue mcp` over stdio."""

import asyncio
import json
import os
import sys
import urllib.request

import jsonschema
from mcp.client.client import Client
from mcp.client.stdio import StdioServerParameters
from mcp.shared.exceptions import MCPError

from check import HEADERS, URL, check, request, run_all

TASK_TOOLS = {"add_task", "list_tasks", "complete_task", "update_task", "delete_task"}
MODES = ("legacy", "auto", "2026-07-28")


def over_http(mode):
    if not HEADERS:
        return Client(f"{URL}/mcp", mode=mode)
    import httpx2
    from mcp.client.streamable_http import streamable_http_client
    return Client(streamable_http_client(f"{URL}/mcp", http_client=httpx2.AsyncClient(headers=HEADERS)), mode=mode)


def over_stdio(mode):
    settings = {key: value for key, value in os.environ.items() if key.startswith(("SEGUE_", "DATABASE_", "TIDAL_", "PATH", "HOME"))}
    settings["SEGUE_MODEL"] = "offline"
    return Client(StdioServerParameters(command=os.environ["SEGUE_BINARY"], args=["mcp"], env=settings), mode=mode)


async def use_every_tool(client):
    """Lists, then calls each tool. The output matches the tool's schema and is returned twice, as data and as text."""
    tools = {tool.name: tool for tool in (await client.list_tools()).tools}
    assert TASK_TOOLS <= set(tools), set(tools)
    for tool in tools.values():
        jsonschema.Draft202012Validator.check_schema(tool.input_schema)
        jsonschema.Draft202012Validator.check_schema(tool.output_schema)
        assert tool.title and tool.description and tool.input_schema["type"] == "object"
    reads, deletes = tools["list_tasks"].annotations, tools["delete_task"].annotations
    assert (reads.read_only_hint, reads.destructive_hint) == (True, False)
    assert (deletes.read_only_hint, deletes.destructive_hint) == (False, True)

    called = set()

    async def call(name, **arguments):
        result = await client.call_tool(name, arguments)
        called.add(name)
        if not result.is_error:
            jsonschema.validate(result.structured_content, tools[name].output_schema)
            assert json.loads(result.content[0].text) == result.structured_content
        return result

    added = (await call("add_task", title="from an assistant")).structured_content
    assert added["summary"] == "Added 'from an assistant'"
    listed = (await call("list_tasks")).structured_content["tasks"]
    assert added["id"] in [task["id"] for task in listed]
    assert (await call("update_task", task_id=added["id"], title="changed")).structured_content["title"] == "changed"
    assert (await call("complete_task", task_id=added["id"])).structured_content["completed"]
    assert not (await call("delete_task", task_id=added["id"])).is_error
    await use_music(tools, call)
    for name, arguments in (("add_task", {"title": ""}), ("add_task", {"title": "x", "user_id": "bob"}), ("complete_task", {"task_id": "1"})):
        refused = await call(name, **arguments)
        assert refused.is_error and refused.content[0].text, "the model gets the error of a bad call"
    try:
        await client.call_tool("play_song", {})
        raise AssertionError("an unknown tool is a mistake of the client")
    except MCPError as error:
        assert error.error.code == -32602, error.error
    assert called == set(tools), f"never called: {set(tools) - called}"
    return len(tools)


async def use_music(tools, call):
    """Every music tool with something to find: the sample library and the catalogue of the doubles."""
    async def filled(name, field, **arguments):
        result = await call(name, **arguments)
        assert not result.is_error, (name, result.content[0].text)
        assert result.structured_content[field], (name, field, result.structured_content)
        return result.structured_content

    found = (await filled("semanticSearch", "tracks", query="rain"))["tracks"]
    assert all(track["isIndexed"] and 0 <= track["score"] <= 1 for track in found)
    codes = [track["isrc"] for track in found[:3]]
    whole = await filled("batchMetadata", "tracks", isrcs=[*codes, "not a code"])
    assert (whole["found"], whole["notFound"]) == (codes, ["not a code"])
    reasons = [{"isrc": code, "reasoning": "rain"} for code in codes]
    playlist = await filled("suggestPlaylist", "tracks", title="Rain", tracks=reasons)
    assert [track["isrc"] for track in playlist["tracks"]] == codes
    album = (await filled("tidalSearch", "albums", query="Ivy Marlow", searchType="both"))["albums"][0]
    await filled("tidalSearch", "tracks", query="Ivy Marlow", searchType="tracks")
    opened = await filled("albumTracks", "tracks", albumId=album["id"])
    assert opened["albumTitle"] == album["title"]
    await filled("list_playlists", "playlists")
    assert not (await call("edit_playlist", playlist="Rain", action="rename", title="Rain again")).is_error

for mode in MODES:
    @check(f"every tool is listed and called over HTTP, mode {mode}")
    async def _(mode=mode):
        async with over_http(mode) as client:
            expected = "2025-11-25" if mode == "legacy" else "2026-07-28"
            assert client.protocol_version == expected, client.protocol_version
            if mode != "2026-07-28":  # with a pinned version, the client requests no server info
                assert client.server_info.name == "segue" and client.instructions
            await use_every_tool(client)

    @check(f"every tool is listed and called over stdio, mode {mode}")
    async def _(mode=mode):
        async with over_stdio(mode) as client:
            await use_every_tool(client)


@check("calls of assistants are in the journal and in the list like any other")
async def _():
    async with over_http("auto") as client:
        added = (await client.call_tool("add_task", {"title": "seen everywhere"})).structured_content
    status, _, body = request("GET", "/api/tasks")
    assert status == 200 and added["id"] in [task["id"] for task in json.loads(body)["tasks"]]


def plan_slow_catalogue():
    """The double of Tidal answers its next call after 2.5 s."""
    plan = json.dumps({"delayMs": 2500, "times": 1}).encode()
    url = os.environ["TIDAL_API_URL"].removesuffix("/v2") + "/_double/faults"
    urllib.request.urlopen(urllib.request.Request(url, plan, {"content-type": "application/json"})).close()


for mode in MODES:
    @check(f"a long call reports progress, mode {mode}")
    async def _(mode=mode):
        reported = []

        async def note(progress, total, message):
            reported.append((progress, message))

        async with over_http(mode) as client:
            plan_slow_catalogue()
            asked = {"query": f"zqxj {mode}", "searchType": "tracks"}  # no track has this name; answers are cached
            result = await client.call_tool("tidalSearch", asked, progress_callback=note)
        assert result.structured_content["tracks"] == [] and len(reported) == 2, (result, reported)
        assert reported[0][0] < reported[1][0] and reported[0][1], reported


@check("many calls at once are all answered")
async def _():
    async with over_http("auto") as client:
        results = await asyncio.gather(*(client.call_tool("list_tasks", {}) for _ in range(30)))
    assert not any(result.is_error for result in results)


if __name__ == "__main__":
    run_all(f"mcp python {'.'.join(map(str, sys.version_info[:2]))}")
