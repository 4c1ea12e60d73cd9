"""openai/NAME by the Responses API, always streamed."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from kbench.models import Message, Request
from kbench.models.pieces import Arguments, Ending, Named, Own, Piece, Refusal, Stop, Text, Thought, Tokens, ToolCall
from kbench.models.settings import ModelSettings

INCOMPLETE = {"max_output_tokens": Ending.LENGTH, "content_filter": Ending.REFUSED}
TRANSIENT = {"server_error", "rate_limit_exceeded", "vector_store_timeout"}


class ResponseFailed(Exception):
    """The stream ended with an error of this code."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code, self.message = code, message


def fields_of(settings: ModelSettings, takes_temperature: bool) -> dict[str, object]:
    fields: dict[str, object] = {}
    if takes_temperature:
        fields |= {k: v for k in ("temperature", "top_p") if (v := getattr(settings, k)) is not None}
    if settings.reasoning_effort is not None:
        fields["reasoning"] = {"effort": settings.reasoning_effort}
    return fields


def pieces(
    client: Any,
    model: str,
    max_tokens: int | None,
    fields: dict[str, object],
    body: dict[str, object],
    request: Request,
) -> Iterator[Piece]:
    """Events as plain dicts, by the SDK's generic `post`, as in openai_chat and for the same reason."""
    from openai import Stream

    limit = {"max_output_tokens": max_tokens} if max_tokens is not None else {}
    system = {"instructions": request.system} if request.system else {}
    items = [item for m in request.messages for item in _items_of(m)]
    tools = _tools(request) if request.tools else {}
    asked = {
        "model": model,
        "input": items,
        "stream": True,
        "store": False,
        **limit,
        **system,
        **tools,
        **fields,
        **body,
    }
    with client.post("/responses", cast_to=object, body=asked, stream=True, stream_cls=Stream[object]) as stream:
        retries = stream.response.request.headers.get("x-stainless-retry-count")
        for event in stream:
            yield from _pieces_of(event, int(retries) if retries is not None else None)


def _tools(request: Request) -> dict[str, Any]:
    """Nothing is stored there, so that what the model thought between two calls travels with us, encrypted."""
    tools = [
        {"type": "function", "name": t.name, "description": t.description, "parameters": t.parameters, "strict": False}
        for t in request.tools
    ]
    return {"tools": tools, "include": ["reasoning.encrypted_content"]}


def _items_of(message: Message) -> Iterator[dict[str, object]]:
    for result in message.results:
        yield {"type": "function_call_output", "call_id": result.id, "output": result.text}
    if message.own:
        yield from json.loads(message.own)
        return
    if message.text or not (message.results or message.calls):
        yield {"role": message.role, "content": message.text}
    for call in message.calls:
        yield {"type": "function_call", "call_id": call.id, "name": call.name, "arguments": call.arguments}


def _pieces_of(event: dict[str, Any], retries: int | None) -> Iterator[Piece]:
    item = event.get("item") or {}
    match event.get("type"):
        case "response.created":
            yield Named(event["response"]["model"], retries)
        case "response.output_text.delta":
            yield Text(event["delta"])
        case "response.refusal.delta":
            yield Refusal(event["delta"])
        case "response.reasoning_text.delta" | "response.reasoning_summary_text.delta":
            yield Thought(event["delta"])
        case "response.output_item.added" if str(item.get("type")).endswith("_call"):
            yield ToolCall(str(item.get("name") or item["type"]), str(item.get("call_id", "")), event["output_index"])
        case "response.function_call_arguments.delta":
            yield Arguments(event["delta"], event["output_index"])
        case "response.output_item.done":
            yield Own({name: value for name, value in item.items() if value is not None and name != "status"})
        case "response.completed" | "response.incomplete":
            yield from _end(event["response"])
        case "response.failed":
            error = event["response"].get("error") or {}
            raise ResponseFailed(str(error.get("code", "server_error")), str(error.get("message", "no reason given")))
        case "error":
            raise ResponseFailed(str(event.get("code") or "server_error"), str(event.get("message")))


def _end(response: dict[str, Any]) -> Iterator[Piece]:
    usage = response.get("usage")
    if usage:
        into, out = usage.get("input_tokens_details") or {}, usage.get("output_tokens_details") or {}
        yield Tokens(
            usage.get("input_tokens"),
            usage.get("output_tokens"),
            out.get("reasoning_tokens"),
            into.get("cached_tokens"),
        )
    details = response.get("incomplete_details") or {}
    if details.get("reason") is not None:
        yield Stop(INCOMPLETE.get(details["reason"], Ending.OTHER), details["reason"], json.dumps(details))
        return
    yield Stop(Ending.DONE, str(response.get("status") or "completed"))
