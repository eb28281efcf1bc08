"""OpenAI's own ChatKit types and server against /chatkit: every frame, every answer, in the reference's order."""

import json
import uuid
from datetime import datetime

from chatkit.server import ChatKitServer, StreamingResult
from chatkit.store import NotFoundError, Store
from chatkit.types import (
    AssistantMessageItem, ChatKitReq, Page, StreamOptions, Thread, ThreadItem, ThreadMetadata, ThreadStreamEvent,
    UserMessageItem, WidgetItem, WorkflowItem,
)
from pydantic import TypeAdapter

from check import check, request, run_all

EVENT, REQUEST = TypeAdapter(ThreadStreamEvent), TypeAdapter(ChatKitReq)
THREAD, THREADS, ITEMS = TypeAdapter(Thread), TypeAdapter(Page[Thread]), TypeAdapter(Page[ThreadItem])

# Questions that the script of the model (../script.json) knows.
TOOLS, FAILS, SLOW = "Make four calls.", "Fail half way.", "Speak slowly."


def body_of(request_type, **params):
    body = {"type": request_type, "params": params}
    REQUEST.validate_python(body)
    return body


def user_input(text):
    return {"content": [{"type": "input_text", "text": text}], "attachments": [], "inference_options": {}}


def strictly(adapter, text):
    """Valid for the package, and without unknown fields, which the package's models would ignore."""
    value = adapter.validate_json(text)
    sent, back = json.loads(text), json.loads(adapter.dump_json(value, exclude_none=True))
    assert without_times(sent) == without_times(back), f"not the same after a round trip: {sent} / {back}"
    return value


def without_times(value):
    if isinstance(value, dict):
        return {key: datetime.fromisoformat(item) if key == "created_at" else without_times(item)
                for key, item in value.items()}
    return [without_times(item) for item in value] if isinstance(value, list) else value


def stream(kind, path="/chatkit?agent=tasks", **params):
    status, headers, body = request("POST", path, body_of(kind, **params))
    assert (status, headers["content-type"]) == (200, "text/event-stream"), (status, body)
    frames = body.split(b"\n\n")
    assert frames.pop() == b"" and all(frame.startswith(b"data: ") for frame in frames), body
    return [strictly(EVENT, frame.removeprefix(b"data: ")) for frame in frames]


def answer(adapter, request_type, **params):
    status, headers, body = request("POST", "/chatkit", body_of(request_type, **params))
    assert (status, headers["content-type"]) == (200, "application/json"), (status, body)
    return strictly(adapter, body) if adapter else json.loads(body)


def refused(request_type, **params):
    status, _, body = request("POST", "/chatkit", {"type": request_type, "params": params})
    return status, json.loads(body)["error"]["code"]


def create(text):
    events = stream("threads.create", input=user_input(text))
    return events[0].thread, events


def check_lifecycle(events):
    """An item is added once, updated while it is open, and done under the same id, with the content of its updates."""
    pending = {}
    for event in events:
        if event.type == "thread.item.added":
            assert event.item.id not in pending
            pending[event.item.id] = event.item
        elif event.type == "thread.item.updated":
            item, update = pending[event.item_id], event.update
            if update.type == "assistant_message.content_part.added":
                assert update.content_index == len(item.content)
                item.content.append(update.content)
            elif update.type == "assistant_message.content_part.text_delta":
                item.content[update.content_index].text += update.delta
            elif update.type == "assistant_message.content_part.done":
                assert item.content[update.content_index] == update.content, "the deltas make up the text"
            elif update.type == "workflow.task.updated":
                assert item.workflow.tasks[update.task_index].status_indicator == "loading"
                item.workflow.tasks[update.task_index] = update.task
        elif event.type == "thread.item.done" and not isinstance(event.item, UserMessageItem):
            pending_item = pending.pop(event.item.id)
            if isinstance(event.item, WorkflowItem):
                pending_item.workflow.summary = event.item.workflow.summary
            assert pending_item == event.item, f"{pending_item} / {event.item}"
    assert not pending, f"left open: {pending}"


@check("every frame is the package's own, in its order, and every item has a beginning and an end")
async def _():
    _, events = create(TOOLS)
    assert [event.type for event in events[:3]] == ["thread.created", "thread.item.done", "stream_options"]
    assert isinstance(events[1].item, UserMessageItem)
    check_lifecycle(events)
    done = [event.item for event in events[2:] if event.type == "thread.item.done"]
    # Each list of tasks is shown as a widget after its call.
    listed = [WorkflowItem, WidgetItem]
    assert [type(item) for item in done] == [
        AssistantMessageItem, WorkflowItem, WorkflowItem, *listed, *listed, AssistantMessageItem], done
    titles = [item.workflow.tasks[0].title for item in done if isinstance(item, WorkflowItem)]
    assert titles[:2] == ["Added 'strings'", "add_task failed"], titles
    assert done[2].workflow.tasks[0].content == "title cannot be empty"
    assert "strings" in done[4].copy_text.split("\n") and done[4].widget.type == "ListView", done[4]
    assert sum(event.type == "progress_update" for event in events) == 4


@check("what was streamed is what a thread holds afterwards, in pages in both directions")
async def _():
    thread, events = create(TOOLS)
    items = [event.item for event in events if event.type == "thread.item.done"]
    assert answer(THREAD, "threads.get_by_id", thread_id=thread.id).items.data == items
    for order, expected in (("asc", items), ("desc", items[::-1])):
        seen, after = [], None
        while True:
            more = {"after": after} if after else {}
            page = answer(ITEMS, "items.list", thread_id=thread.id, limit=3, order=order, **more)
            seen += page.data
            after = page.after
            if not page.has_more:
                break
            assert len(page.data) == 3 and after == page.data[-1].id
        assert seen == expected


@check("threads are listed newest first or oldest first, renamed and deleted")
async def _():
    made = [create(f"thread {n}")[0].id for n in range(3)]
    page = answer(THREADS, "threads.list", limit=2)
    assert [thread.id for thread in page.data] == made[:0:-1] and page.has_more
    assert answer(THREADS, "threads.list", limit=1, after=page.after).data[0].id == made[0]
    oldest = answer(THREADS, "threads.list", limit=100, order="asc")
    assert [thread.created_at for thread in oldest.data] == sorted(thread.created_at for thread in oldest.data)
    assert answer(THREAD, "threads.update", thread_id=made[0], title="Strings").title == "Strings"
    assert answer(THREAD, "threads.get_by_id", thread_id=made[0]).title == "Strings"
    assert answer(None, "threads.delete", thread_id=made[0]) == {}
    assert refused("threads.get_by_id", thread_id=made[0]) == (404, "NOT_FOUND")


@check("a thread goes on, and a question can be answered again")
async def _():
    thread, first = create("one")
    second = stream("threads.add_user_message", thread_id=thread.id, input=user_input("two"))
    assert [event.type for event in second[:2]] == ["thread.item.done", "stream_options"]
    assert second[-1].item.content[0].text.strip() == "I have seen 2 questions and 1 answers."
    question = first[1].item
    again = stream("threads.retry_after_item", thread_id=thread.id, item_id=question.id)
    assert again[0].type == "stream_options", "the client has the question already"
    check_lifecycle(again)
    assert again[-1].item.content[0].text.strip() == "I have seen 1 questions and 0 answers."
    items = answer(ITEMS, "items.list", thread_id=thread.id, order="asc").data
    assert items == [question, again[-1].item]


@check("feedback is kept for items that are there, and only for those")
async def _():
    thread, events = create("hello")
    item = events[-1].item.id
    assert answer(None, "items.feedback", thread_id=thread.id, item_ids=[item], kind="positive") == {}
    assert answer(None, "items.feedback", thread_id=thread.id, item_ids=[item], kind="negative") == {}
    assert refused("items.feedback", thread_id=thread.id, item_ids=["nope"], kind="positive")[0] == 404


@check("a failed turn is an error the person can read, with a way to try again")
async def _():
    _, events = create(FAILS)
    assert events[-1].type == "error" and "model refused" in events[-1].message, events[-1]
    check_lifecycle(events)
    # Opened again, the thread shows the same.
    items = [event.item for event in events if event.type == "thread.item.done"]
    assert items[-1].workflow.tasks[0].content == events[-1].message
    assert answer(ITEMS, "items.list", thread_id=items[0].thread_id, order="asc").data == items


@check("a dropped connection does not lose the turn")
async def _():
    import urllib.request
    from check import HEADERS, URL
    body = body_of("threads.create", input=user_input(SLOW))
    wanted = urllib.request.Request(URL + "/chatkit", json.dumps(body).encode(),
                                    {**HEADERS, "content-type": "application/json"})
    with urllib.request.urlopen(wanted) as response:
        thread = EVENT.validate_json(response.readline().removeprefix(b"data: ")).thread
        while b"text_delta" not in response.readline():
            pass
    while len(items := answer(ITEMS, "items.list", thread_id=thread.id, order="asc").data) < 2:
        pass
    assert items[1].content[0].text.split() == [f"word{n}" for n in range(60)]


@check("what makes no sense here is refused clearly")
async def _():
    thread, _ = create("hello")
    ids = {"thread_id": thread.id, "item_id": "x"}
    action = {"action": {"type": "buy", "payload": None}}
    events = stream("threads.custom_action", thread_id=thread.id, **action)
    assert [event.type for event in events] == ["stream_options", "error"] and not events[1].allow_retry
    invalid = (400, "VALIDATION_ERROR")
    assert refused("threads.sync_custom_action", thread_id=thread.id, **action) == invalid
    assert refused("threads.add_client_tool_output", thread_id=thread.id, result={}) == invalid
    assert refused("threads.add_structured_input", **ids, input={"status": "skipped", "answers": {}}) == invalid
    assert refused("attachments.create", name="a", size=1, mime_type="text/plain") == invalid
    assert refused("attachments.delete", attachment_id="a") == invalid
    assert refused("input.transcribe", audio_base64="", mime_type="audio/webm") == invalid
    assert refused("threads.dance", thread_id=thread.id) == invalid
    assert refused("threads.create", input=user_input("  ")) == invalid
    for unknown in (str(uuid.uuid4()), "thr_1234"):
        assert refused("threads.get_by_id", thread_id=unknown) == (404, "NOT_FOUND")
        assert refused("threads.add_user_message", thread_id=unknown, input=user_input("x")) == (404, "NOT_FOUND")
        assert refused("threads.retry_after_item", thread_id=unknown, item_id=unknown) == (404, "NOT_FOUND")


class Memory(Store[None]):
    """The smallest store the reference server runs on."""

    def __init__(self):
        self.threads, self.items = {}, {}

    async def load_thread(self, thread_id, context):
        return self.threads[thread_id].model_copy(deep=True)

    async def save_thread(self, thread, context):
        self.threads[thread.id] = thread.model_copy(deep=True)

    async def load_threads(self, limit, after, order, context):
        return Page(data=list(self.threads.values()))

    async def load_thread_items(self, thread_id, after, limit, order, context):
        items = list(self.items.get(thread_id, {}).values())
        return Page(data=(items if order == "asc" else items[::-1])[:limit])

    async def save_item(self, thread_id, item, context):
        self.items.setdefault(thread_id, {})[item.id] = item.model_copy(deep=True)

    add_thread_item = save_item

    async def load_item(self, thread_id, item_id, context):
        try:
            return self.items[thread_id][item_id]
        except KeyError as missing:
            raise NotFoundError(item_id) from missing

    async def delete_thread(self, thread_id, context):
        del self.threads[thread_id]

    async def delete_thread_item(self, thread_id, item_id, context):
        del self.items[thread_id][item_id]

    async def save_attachment(self, attachment, context): raise NotImplementedError
    async def load_attachment(self, attachment_id, context): raise NotImplementedError
    async def delete_attachment(self, attachment_id, context): raise NotImplementedError


class Reference(ChatKitServer[None]):
    """OpenAI's server, which answers with the items that Segue made."""

    def __init__(self, events):
        super().__init__(Memory())
        self.events = events

    def get_stream_options(self, thread, context):
        return StreamOptions(allow_cancel=False)

    async def respond(self, thread: ThreadMetadata, input_user_message, context):
        for event in self.events:
            if hasattr(event, "item"):
                event = event.model_copy(update={"item": event.item.model_copy(update={"thread_id": thread.id})})
            yield event


@check("the reference server says and keeps the same, given the same turn")
async def _():
    for text in (TOOLS, "hello", FAILS):
        thread, ours = create(text)
        # Copies: the reference server modifies the items that it is given.
        reference = Reference([event.model_copy(deep=True) for event in ours[3:]])
        asked = body_of("threads.create", input=user_input(text))
        result = await reference.process(json.dumps(asked).encode(), None)
        assert isinstance(result, StreamingResult)
        theirs = [EVENT.validate_json(frame.removeprefix(b"data: ")) async for frame in result]
        theirs_thread = theirs[0].thread
        assert plain(ours, thread, ours[1]) == plain(theirs, theirs_thread, theirs[1])
        wanted = json.dumps(body_of("threads.get_by_id", thread_id=theirs_thread.id)).encode()
        kept = THREAD.validate_json((await reference.process(wanted, None)).json)
        held = answer(THREAD, "threads.get_by_id", thread_id=thread.id)
        assert plain(held.items.data, thread, ours[1]) == plain(kept.items.data, theirs_thread, theirs[1])


def plain(values, thread, question):
    """Without the values that each server chooses: ids, times, titles."""
    text = json.dumps([value.model_dump(mode="json", exclude_none=True) for value in values])
    data = json.loads(text.replace(thread.id, "THREAD").replace(question.item.id, "QUESTION"))

    def strip(value):
        if isinstance(value, dict):
            return {key: strip(item) for key, item in value.items()
                    if key != "created_at" and not (key == "title" and "status" in value and "items" in value)}
        return [strip(item) for item in value] if isinstance(value, list) else value

    return strip(data)


if __name__ == "__main__":
    run_all("chatkit")
