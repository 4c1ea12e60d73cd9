"""openai/NAME and local/NAME by Chat Completions, always streamed: what every OpenAI-compatible server speaks."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from kbench.models import Message, Request
from kbench.models.pieces import Arguments, Ending, Named, Piece, Refusal, Stop, Text, Thought, Tokens, ToolCall
from kbench.models.settings import ModelSettings

ENDINGS = {
    "stop": Ending.DONE, "length": Ending.LENGTH, "content_filter": Ending.REFUSED, "tool_calls": Ending.TOOL,
    "function_call": Ending.TOOL,
}  # fmt: skip


def fields_of(settings: ModelSettings, takes_temperature: bool, sample: int) -> dict[str, object]:
    fields: dict[str, object] = {}
    if takes_temperature:
        fields |= {k: v for k in ("temperature", "top_p") if (v := getattr(settings, k)) is not None}
    if settings.reasoning_effort is not None:
        fields["reasoning_effort"] = settings.reasoning_effort
    if settings.seed is not None:
        fields["seed"] = settings.seed + sample
    return fields


def pieces(
    client: Any, model: str, limit: dict[str, int], fields: dict[str, object], body: dict[str, object], request: Request
) -> Iterator[Piece]:
    """Chunks as plain dicts, by the SDK's generic `post`: servers send one a token, and the SDK's typed chunks cost four times
    the processor time, which at many connections is more than a core."""
    from openai import Stream

    system = [{"role": "system", "content": request.system}] if request.system else []
    messages = [*system, *(item for m in request.messages for item in _items_of(m))]
    tools = [
        {"type": "function", "function": {"name": t.name, "description": t.description, "parameters": t.parameters}}
        for t in request.tools
    ]
    asked = {
        "model": model, "messages": messages, "stream": True, "stream_options": {"include_usage": True}, **limit,
        **({"tools": tools} if tools else {}), **fields, **body,
    }  # fmt: skip
    with client.post("/chat/completions", cast_to=object, body=asked, stream=True, stream_cls=Stream[object]) as stream:
        retries = stream.response.request.headers.get("x-stainless-retry-count")
        for chunk in stream:
            if chunk.get("model"):
                yield Named(chunk["model"], int(retries) if retries is not None else None)
            yield from _pieces_of(chunk)


def _items_of(message: Message) -> Iterator[dict[str, object]]:
    """A message on this wire, where every result is a message of its own."""
    for result in message.results:
        yield {"role": "tool", "tool_call_id": result.id, "content": result.text}
    calls = [
        {"id": c.id, "type": "function", "function": {"name": c.name, "arguments": c.arguments}} for c in message.calls
    ]
    if calls:
        yield {"role": "assistant", "content": message.text or None, "tool_calls": calls}
    elif message.text or not message.results:
        yield {"role": message.role, "content": message.text}


def _pieces_of(chunk: dict[str, Any]) -> Iterator[Piece]:
    usage = chunk.get("usage")
    if usage:
        into, out = usage.get("prompt_tokens_details") or {}, usage.get("completion_tokens_details") or {}
        yield Tokens(
            usage.get("prompt_tokens"),
            usage.get("completion_tokens"),
            out.get("reasoning_tokens"),
            into.get("cached_tokens"),
        )
    for choice in (chunk.get("choices") or [])[:1]:
        delta = choice.get("delta") or {}
        # Not OpenAI's: where vLLM, SGLang and llama.cpp put a reasoning model's thoughts.
        thought = delta.get("reasoning_content") or delta.get("reasoning")
        if isinstance(thought, str) and thought:
            yield Thought(thought)
        if delta.get("content"):
            yield Text(delta["content"])
        if delta.get("refusal"):
            yield Refusal(delta["refusal"])
        for call in delta.get("tool_calls") or []:
            at, function = call.get("index") or 0, call.get("function") or {}
            if function.get("name"):
                yield ToolCall(function["name"], call.get("id") or f"call_{at}", at)
            if function.get("arguments"):
                yield Arguments(function["arguments"], at)
        reason = choice.get("finish_reason")
        if reason is not None:
            yield Stop(ENDINGS.get(reason, Ending.OTHER), reason)
