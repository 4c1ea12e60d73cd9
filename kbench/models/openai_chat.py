"""openai/NAME and local/NAME by Chat Completions, always streamed: what every OpenAI-compatible server speaks."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from kbench.models import Request
from kbench.models.pieces import Ending, Named, Piece, Refusal, Stop, Text, Thought, Tokens, ToolCall
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
    system = [{"role": "system", "content": request.system}] if request.system else []
    messages = [*system, *({"role": m.role, "content": m.text} for m in request.messages)]
    with client.chat.completions.create(
        model=model, messages=messages, stream=True, stream_options={"include_usage": True}, extra_body=body or None,
        **limit, **fields,
    ) as stream:  # fmt: skip
        retries = stream.response.request.headers.get("x-stainless-retry-count")
        for chunk in stream:
            if chunk.model:
                yield Named(chunk.model, int(retries) if retries is not None else None)
            yield from _pieces_of(chunk)


def _pieces_of(chunk: Any) -> Iterator[Piece]:
    usage = chunk.usage
    if usage is not None:
        into, out = getattr(usage, "prompt_tokens_details", None), getattr(usage, "completion_tokens_details", None)
        yield Tokens(
            usage.prompt_tokens, usage.completion_tokens, getattr(out, "reasoning_tokens", None),
            getattr(into, "cached_tokens", None),
        )  # fmt: skip
    for choice in (chunk.choices or [])[:1]:
        delta = choice.delta
        # Not OpenAI's: where vLLM, SGLang and llama.cpp put a reasoning model's thoughts.
        thought = getattr(delta, "reasoning_content", None) or getattr(delta, "reasoning", None)
        if isinstance(thought, str) and thought:
            yield Thought(thought)
        if delta is not None and delta.content:
            yield Text(delta.content)
        if delta is not None and delta.refusal:
            yield Refusal(delta.refusal)
        for call in (delta.tool_calls if delta is not None else None) or []:
            yield ToolCall(str(getattr(call.function, "name", "")))
        if choice.finish_reason is not None:
            yield Stop(ENDINGS.get(choice.finish_reason, Ending.OTHER), choice.finish_reason)
