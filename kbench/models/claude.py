"""anthropic/NAME: the Messages API, always streamed, so that neither the SDK nor a proxy gives up on a long reply."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from typing import Any

from kbench.errors import ConfigError
from kbench.models import Message, Request
from kbench.models.arguments import arguments_object
from kbench.models.failures import Broken, connection_failure, missing_key, one_line, status_failure
from kbench.models.pieces import Arguments, Ending, Named, Own, Piece, Stop, Text, Thought, Tokens, ToolCall
from kbench.models.settings import DEFAULT_MAX_TOKENS, PRICED_AS, ModelSettings

KEYS = ("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN")
ENDINGS = {
    "end_turn": Ending.DONE, "stop_sequence": Ending.DONE, "max_tokens": Ending.LENGTH,
    "model_context_window_exceeded": Ending.LENGTH, "refusal": Ending.REFUSED, "tool_use": Ending.TOOL,
}  # fmt: skip
OURS = ("invalid_request_error", "authentication_error", "permission_error", "not_found_error", "billing_error")
STATUS = {"authentication_error": 401, "permission_error": 403, "not_found_error": 404, "billing_error": 402}


class Claude:
    prices = PRICED_AS["anthropic"]

    def __init__(self, model: str, settings: ModelSettings) -> None:
        if not any(os.environ.get(key) for key in KEYS):
            raise missing_key(f"anthropic/{model}", KEYS[:1])
        import anthropic  # takes a second

        self.sdk: Any = anthropic
        self.model, self.settings = model, settings
        self.max_tokens = settings.max_tokens or DEFAULT_MAX_TOKENS["anthropic"]
        self.fields = self._fields()
        self.client: Any = anthropic.Anthropic(
            base_url=settings.base_url,
            max_retries=settings.retries,
            timeout=anthropic.Timeout(settings.timeout_s, connect=10),
        )

    @property
    def url(self) -> str:
        return str(self.client.base_url)

    def _fields(self) -> dict[str, object]:
        """What goes into the request beside the prompt. Temperature has no place beside thinking."""
        wanted = self.settings
        fields: dict[str, object] = {}
        if wanted.thinking_budget:
            if wanted.thinking_budget >= (self.max_tokens or 0):
                raise ConfigError(
                    f"thinking budget {wanted.thinking_budget} leaves nothing of --max-tokens {self.max_tokens}; raise the latter"
                )
            fields["thinking"] = {"type": "enabled", "budget_tokens": wanted.thinking_budget}
        if wanted.reasoning_effort == "none":
            fields["thinking"] = {"type": "disabled"}
        elif wanted.reasoning_effort is not None:
            effort = "low" if wanted.reasoning_effort == "minimal" else wanted.reasoning_effort
            fields["output_config"] = {"effort": effort}
        if not wanted.thinking_budget:
            fields |= {k: v for k in ("temperature", "top_p") if (v := getattr(wanted, k)) is not None}
        return {**fields, **wanted.body}

    def sent(self, sample: int) -> dict[str, object]:
        return {"max_tokens": self.max_tokens, "temperature": None, "top_p": None, "seed": None, **self.fields}

    def pieces(self, request: Request) -> Iterator[Piece]:
        """Events as plain dicts, by the SDK's generic `post`: its own types take twice the time to make."""
        system = {"system": request.system} if request.system else {}
        messages: Any = [{"role": m.role, "content": _content(m)} for m in request.messages]
        tools: dict[str, Any] = _tools(request, messages) if request.tools else {}
        body = {
            "model": self.model, "max_tokens": self.max_tokens, "messages": messages, "stream": True,
            **system, **tools, **self.fields,
        }  # fmt: skip
        kind = self.sdk.Stream[object]
        with self.client.post("/v1/messages", cast_to=object, body=body, stream=True, stream_cls=kind) as stream:
            retries = stream.response.request.headers.get("x-stainless-retry-count")
            blocks = _Blocks()
            for event in stream:
                yield from self._pieces_of(event, int(retries) if retries is not None else None)
                yield from blocks.done(event)

    def _pieces_of(self, event: dict[str, Any], retries: int | None) -> Iterator[Piece]:
        delta = event.get("delta") or {}
        match event.get("type"), delta.get("type"):
            case "message_start", _:
                yield Named(event["message"]["model"], retries)
                yield _tokens(event["message"]["usage"])
            case "content_block_start", _ if event["content_block"]["type"] == "tool_use":
                yield ToolCall(event["content_block"]["name"], event["content_block"]["id"], event["index"])
            case "content_block_delta", "input_json_delta":
                yield Arguments(delta["partial_json"], event["index"])
            case "content_block_delta", "text_delta":
                yield Text(delta["text"])
            case "content_block_delta", "thinking_delta":
                yield Thought(delta["thinking"])
            case "message_delta", _:
                yield _tokens(event.get("usage") or {})
                reason, detail = delta.get("stop_reason"), _given(delta.get("stop_details") or {})
                if reason is not None:
                    yield Stop(ENDINGS.get(reason, Ending.OTHER), reason, json.dumps(detail) if detail else None)

    def explain(self, error: Exception, begun: bool) -> Exception:
        sdk, name = self.sdk, f"anthropic/{self.model}"
        if isinstance(error, sdk.APIStatusError):
            kind, message = _kind_and_message(error)
            if error.status_code < 400:  # an error event inside a stream
                if kind not in OURS:
                    return Broken(f"{name}: the provider ended the reply: {kind}: {one_line(message)}")
                return status_failure(name, KEYS[0], STATUS.get(kind, 400), kind, message)
            return status_failure(name, KEYS[0], error.status_code, kind, message)
        if isinstance(error, sdk.APIConnectionError) and not begun:
            return connection_failure(name, self.url, error)
        return Broken(f"{name}: the reply broke off: {type(error).__name__}: {one_line(str(error))}")

    def check(self, timeout_s: float) -> bool:
        """Asks whether the model is there, once and shortly. Raises what the SDK raises."""
        self.client.with_options(timeout=timeout_s, max_retries=0).models.retrieve(self.model)
        return True

    def close(self) -> None:
        self.client.close()

    def names(self, timeout_s: float) -> list[str]:
        return [model.id for model in self.client.with_options(timeout=timeout_s, max_retries=0).models.list().data]


def _tools(request: Request, messages: list[dict[str, Any]]) -> dict[str, Any]:
    """The tools; and everything up to the last message is kept in the provider's cache for the next turn."""
    last = messages[-1]["content"]
    blocks = [{"type": "text", "text": last}] if isinstance(last, str) else last
    messages[-1]["content"] = [*blocks[:-1], {**blocks[-1], "cache_control": {"type": "ephemeral"}}]
    tools = [{"name": t.name, "description": t.description, "input_schema": t.parameters} for t in request.tools]
    return {"tools": tools}


def _content(message: Message) -> Any:
    """A plain text, or blocks where there are calls, results or thoughts that must come back as they were."""
    if message.own:
        return json.loads(message.own)
    blocks: list[dict[str, Any]] = [
        {"type": "tool_result", "tool_use_id": r.id, "content": r.text, "is_error": r.failed} for r in message.results
    ]
    if not blocks and not message.calls:
        return message.text
    blocks += [{"type": "text", "text": message.text}] if message.text.strip() else []
    return blocks + [
        {"type": "tool_use", "id": c.id, "name": c.name, "input": arguments_object(c.arguments)} for c in message.calls
    ]


class _Blocks:
    """Puts the blocks of a reply together, as they must be sent back: thoughts are signed."""

    def __init__(self) -> None:
        self.open: dict[int, dict[str, Any]] = {}

    def done(self, event: dict[str, Any]) -> Iterator[Piece]:
        match event.get("type"):
            case "content_block_start":
                self.open[event["index"]] = _given(event["content_block"])
            case "content_block_delta":
                self._add(self.open[event["index"]], event["delta"])
            case "content_block_stop":
                block = self.open.pop(event["index"])
                if block["type"] == "tool_use":
                    block["input"] = arguments_object(block.pop("json", ""))
                if block["type"] != "text" or block["text"].strip():  # an empty text is refused when it comes back
                    yield Own(block)

    def _add(self, block: dict[str, Any], delta: dict[str, Any]) -> None:
        fields = {"text_delta": "text", "thinking_delta": "thinking", "signature_delta": "signature"}
        if delta["type"] in fields:
            name = fields[delta["type"]]
            block[name] = block.get(name, "") + delta[name]
        elif delta["type"] == "input_json_delta":
            block["json"] = block.get("json", "") + delta["partial_json"]


def _given(fields: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in fields.items() if value is not None}


def _tokens(usage: dict[str, Any]) -> Tokens:
    """Anthropic counts cached tokens beside the input; here they are part of it."""
    read, written = usage.get("cache_read_input_tokens"), usage.get("cache_creation_input_tokens")
    plain = usage.get("input_tokens")
    whole = None if plain is None else plain + (read or 0) + (written or 0)
    reasoning = (usage.get("output_tokens_details") or {}).get("thinking_tokens")
    return Tokens(whole, usage.get("output_tokens"), reasoning, read, written)


def _kind_and_message(error: Any) -> tuple[str, str]:
    inner = error.body.get("error") if isinstance(error.body, dict) else None
    if isinstance(inner, dict):
        return str(inner.get("type", "")), str(inner.get("message", ""))
    return "", str(error)
