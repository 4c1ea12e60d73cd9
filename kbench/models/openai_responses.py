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
    limit = {"max_output_tokens": max_tokens} if max_tokens is not None else {}
    system = {"instructions": request.system} if request.system else {}
    messages = [item for m in request.messages for item in _items_of(m)]
    tools = _tools(request) if request.tools else {}
    with client.responses.create(
        model=model,
        input=messages,
        stream=True,
        store=False,
        extra_body=body or None,
        **limit,
        **system,
        **tools,
        **fields,
    ) as stream:
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


def _pieces_of(event: Any, retries: int | None) -> Iterator[Piece]:
    match event.type:
        case "response.created":
            yield Named(event.response.model, retries)
        case "response.output_text.delta":
            yield Text(event.delta)
        case "response.refusal.delta":
            yield Refusal(event.delta)
        case "response.reasoning_text.delta" | "response.reasoning_summary_text.delta":
            yield Thought(event.delta)
        case "response.output_item.added" if event.item.type.endswith("_call"):
            ident = str(getattr(event.item, "call_id", ""))
            yield ToolCall(str(getattr(event.item, "name", event.item.type)), ident, event.output_index)
        case "response.function_call_arguments.delta":
            yield Arguments(event.delta, event.output_index)
        case "response.output_item.done":
            yield Own(event.item.model_dump(mode="json", exclude_none=True, exclude={"status"}))
        case "response.completed" | "response.incomplete":
            yield from _end(event.response)
        case "response.failed":
            error = event.response.error
            raise ResponseFailed(
                str(getattr(error, "code", "server_error")), str(getattr(error, "message", "no reason given"))
            )
        case "error":
            raise ResponseFailed(str(event.code or "server_error"), str(event.message))


def _end(response: Any) -> Iterator[Piece]:
    usage = response.usage
    if usage is not None:
        into, out = getattr(usage, "input_tokens_details", None), getattr(usage, "output_tokens_details", None)
        yield Tokens(
            usage.input_tokens,
            usage.output_tokens,
            getattr(out, "reasoning_tokens", None),
            getattr(into, "cached_tokens", None),
        )
    details = response.incomplete_details
    if details is not None and details.reason is not None:
        yield Stop(
            INCOMPLETE.get(details.reason, Ending.OTHER), details.reason, json.dumps(details.model_dump(mode="json"))
        )
        return
    yield Stop(Ending.DONE, str(response.status or "completed"))
