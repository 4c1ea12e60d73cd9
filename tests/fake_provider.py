"""A real HTTP server on this machine that speaks the wire protocols of Anthropic, Google, OpenAI (both APIs) and local servers.

It answers what `reply_to(prompt)` says and breaks what `fault_of(n)` says of the n-th generation request: an HTTP status, a
"stall:SECONDS", "reset_before" a reply or a "reset" amid it (what was sent just before it may be lost), a "cut" amid it (all that
was sent arrives), "malformed" JSON, or an "early_end" of the stream without a stop reason. It keeps a log of
what it was asked and of the tokens that it said it used, which is what tests hold kbench's own count against.
Run as a program it serves shipped solutions: python -m tests.fake_provider PORT [latency_s].
"""

from __future__ import annotations

import base64
import itertools
import json
import socket
import struct
import sys
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cache
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

KEY = "test-key-0123456789"
CHUNK = 120
GOOGLE_CHUNK = 480  # Gemini sends some sentences at a time, the others a few words
SIGNATURE = "c2lnbmVkIGJ5IHRoZSBzZXJ2ZXI="  # of thoughts, which must come back as it is
_ids = itertools.count(1)


@dataclass(frozen=True)
class Answer:
    """One reply, whatever the protocol. `stop` is the provider's own word; None is its word for a natural end."""

    text: str = ""
    thinking: str = ""
    stop: str | None = None
    input: int = 900
    output: int | None = 400
    reasoning: int | None = None
    cached: int | None = None
    refusal: str = ""
    tool: str | None = None
    calls: tuple[tuple[str, str], ...] = ()  # name and arguments as text; each is given an id of its own
    blocked: str | None = None  # Google: of the prompt
    status: int = 200  # of an error in place of a reply
    code: str = ""
    message: str = "said the server"
    detail: dict[str, Any] | None = None

    def tool_calls(self) -> tuple[tuple[str, str], ...]:
        return self.calls or (((self.tool, "{}"),) if self.tool else ())


@dataclass(frozen=True)
class Asked:
    """One generation request as it arrived, and what became of it."""

    path: str
    body: dict[str, Any]
    prompt: str
    fault: str
    answer: Answer | None  # None where a fault came in its place
    whole: bool  # sent to its end
    at: float
    headers: dict[str, str] = field(default_factory=dict)


SETTLE_S = 2.0  # how long requests in flight are waited for


class FakeProvider:
    """A server on a free port of the loopback interface; a context manager."""

    def __init__(
        self,
        reply_to: Callable[[str], Answer],
        fault_of: Callable[[int], str] = lambda n: "",
        models: tuple[str, ...] = ("claude-opus-4-8", "gemini-2.5-pro", "gpt-5", "gpt-4o", "stub"),
        latency_s: float = 0.0,
        port: int = 0,
        only_chat: bool = False,
        whole_replies: bool = False,
    ) -> None:
        self.reply_to, self.fault_of, self.models, self.latency_s = reply_to, fault_of, models, latency_s
        self.only_chat, self.whole_replies = only_chat, whole_replies  # the latter for agent programs: kbench streams
        self.heard: list[Asked] = []
        self.begun = self.in_flight = self.most_in_flight = 0
        self.lock = threading.Lock()
        fake = self

        class Handler(_Handler):
            provider = fake

        class Server(ThreadingHTTPServer):
            daemon_threads = True
            request_queue_size = 256

            def handle_error(self, request: Any, client_address: Any) -> None:
                """A client that went away is no news; anything else is a fault of this server."""
                if not isinstance(sys.exception(), OSError):
                    super().handle_error(request, client_address)

        self.server = Server(("127.0.0.1", port), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_address[1]}"

    def __enter__(self) -> FakeProvider:
        threading.Thread(target=self.server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self.server.shutdown()
        self.server.server_close()

    @property
    def asked(self) -> list[Asked]:
        """What was asked so far. A client may have its answer before the request is noted here: those are waited for."""
        deadline = time.monotonic() + SETTLE_S
        while self.in_flight and time.monotonic() < deadline:
            time.sleep(0.005)
        return self.heard

    def whole(self) -> list[Asked]:
        return [asked for asked in self.asked if asked.whole]

    def environment(self) -> dict[str, str]:
        """The SDKs' own variables that point at this server."""
        return {
            "ANTHROPIC_API_KEY": KEY, "OPENAI_API_KEY": KEY, "GEMINI_API_KEY": KEY, "ANTHROPIC_BASE_URL": self.url,
            "OPENAI_BASE_URL": f"{self.url}/v1", "GOOGLE_GEMINI_BASE_URL": self.url,
        }  # fmt: skip


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    provider: FakeProvider

    def log_message(self, *_: object) -> None:
        pass

    def authorised(self) -> bool:
        given = (
            self.headers.get("x-api-key")
            or self.headers.get("x-goog-api-key")
            or self.headers.get("Authorization", "").removeprefix("Bearer ")
        )
        return given in (KEY, "none")

    def do_GET(self) -> None:
        name = self.path.split("?")[0].rstrip("/").rsplit("/", 1)[-1]
        google = "x-goog-api-key" in self.headers
        if not self.authorised():
            given = self.headers.get("x-api-key") or self.headers.get("Authorization") or ""
            self.send_error_body(401, "authentication_error", f"invalid key: {given}", google)
            return
        entries = [{"id": m, "object": "model", "type": "model", "created": 0, "owned_by": "t", "display_name": m,
                    "created_at": "2026-01-01T00:00:00Z", "name": f"models/{m}"} for m in self.provider.models]  # fmt: skip
        if name == "models":
            self.send_json(
                200, {"models": entries} if google else {"object": "list", "data": entries, "has_more": False}
            )
        elif name in self.provider.models:
            self.send_json(200, next(entry for entry in entries if entry["id"] == name))
        else:
            self.send_error_body(404, "model_not_found", f"no model {name}", google)

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers.get("Content-Length", 0))))
        provider = self.provider
        with provider.lock:
            number = provider.begun
            provider.begun += 1
            provider.in_flight += 1
            provider.most_in_flight = max(provider.most_in_flight, provider.in_flight)
        try:
            self.answer(number, body)
        finally:
            with provider.lock:
                provider.in_flight -= 1

    def answer(self, number: int, body: dict[str, Any]) -> None:
        path, google = self.path.split("?")[0], "x-goog-api-key" in self.headers
        if not self.authorised():
            self.send_error_body(401, "authentication_error", "invalid key", google)
            return
        if self.provider.only_chat and path.endswith("/responses"):
            self.send_error_body(404, "", "Not Found", google)
            return
        fault = self.provider.fault_of(number)
        prompt = _prompt_of(body)
        answer = self.provider.reply_to(prompt)
        time.sleep(self.provider.latency_s)
        whole = False
        try:
            if fault.startswith("stall:"):
                time.sleep(float(fault.removeprefix("stall:")))
            whole = self.deliver(fault, body, answer, google)
        finally:
            with self.provider.lock:
                sent = (
                    answer
                    if fault in ("", "reset", "cut", "malformed", "early_end") or fault.startswith("stall:")
                    else None
                )
                self.provider.heard.append(
                    Asked(path, body, prompt, fault, sent, whole, time.time(), dict(self.headers.items()))
                )

    def deliver(self, fault: str, body: dict[str, Any], answer: Answer, google: bool) -> bool:
        """Whether the reply was sent to its end."""
        if fault.isdigit():
            kind = {"429": "rate_limit_error", "529": "overloaded_error"}.get(fault, "api_error")
            self.send_error_body(int(fault), kind, "busy", google)
            return False
        if fault == "reset_before":
            self.reset()
            return False
        if answer.status != 200:
            self.send_error_body(answer.status, answer.code, answer.message, google)
            return False
        if self.provider.whole_replies and not body.get("stream") and self.path.endswith("/completions"):
            self.send_json(200, _completion(body, answer))
            return True
        assert body.get("stream") or ":streamGenerateContent" in self.path, "kbench always streams"
        events = list(self.events(body, answer))
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Connection", "close")
        if fault == "cut":
            self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        self.close_connection = True
        upto = len(events) if fault in ("", "malformed") or fault.startswith("stall:") else max(1, len(events) // 2)
        for at, (name, value) in enumerate(events[:upto]):
            data = '{"cut": ' if fault == "malformed" and at == len(events) // 2 else value
            event = (f"event: {name}\n" if name else "").encode() + f"data: {data}\n\n".encode()
            self.wfile.write(f"{len(event):x}\r\n".encode() + event + b"\r\n" if fault == "cut" else event)
            self.wfile.flush()
        if fault == "reset":
            time.sleep(0.05)
            self.reset()
        return fault == "" or fault.startswith("stall:")

    def reset(self) -> None:
        """Ends the connection with RST."""
        self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.connection.close()
        self.close_connection = True

    def events(self, body: dict[str, Any], answer: Answer) -> Iterator[tuple[str | None, str]]:
        if self.path.split("?")[0].endswith("/messages"):
            made = _anthropic(body, answer)
        elif "x-goog-api-key" in self.headers:
            made = _google(self.path, answer)
        elif self.path.endswith("/responses"):
            made = _responses(body, answer)
        else:
            made = _chat(body, answer)
        for name, value in made:
            yield name, value if isinstance(value, str) else json.dumps(value)

    def send_error_body(self, status: int, code: str, message: str, google: bool) -> None:
        if google:
            error: dict[str, Any] = {
                "error": {"code": status, "message": message, "status": code.upper() or "NOT_FOUND"}
            }
        elif self.path.split("?")[0].endswith("/messages") or self.headers.get("x-api-key"):
            error = {"type": "error", "error": {"type": code or "not_found_error", "message": message}}
        else:
            error = {"error": {"message": message, "type": "invalid_request_error", "code": code or None}}
        self.send_json(status, error)

    def send_json(self, status: int, value: Any) -> None:
        data = json.dumps(value).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        if status >= 429:
            self.send_header("Retry-After-Ms", "20")
        self.end_headers()
        self.wfile.write(data)


def _prompt_of(body: dict[str, Any]) -> str:
    """Everything that was said, in one text."""
    return json.dumps(
        [body.get(k) for k in ("system", "instructions", "systemInstruction", "messages", "input", "contents")],
        ensure_ascii=False,
    )


def new_id() -> str:
    return f"call_{next(_ids)}"


def _pieces(text: str, size: int = CHUNK) -> list[str]:
    return [text[i : i + size] for i in range(0, len(text), size)]


def _anthropic(body: dict[str, Any], a: Answer) -> Iterator[tuple[str | None, Any]]:
    def event(kind: str, **more: Any) -> tuple[str, Any]:
        return kind, {"type": kind, **more}

    usage: dict[str, Any] = {"input_tokens": a.input - (a.cached or 0), "output_tokens": 1}
    if a.cached is not None:
        usage["cache_read_input_tokens"] = a.cached
    head = {"id": new_id(), "type": "message", "role": "assistant", "model": body["model"], "content": []}
    yield event("message_start", message={**head, "stop_reason": None, "stop_sequence": None, "usage": usage})
    yield event("ping")
    blocks: list[tuple[dict[str, Any], list[dict[str, Any]]]] = []
    if a.thinking:
        deltas = [{"type": "thinking_delta", "thinking": piece} for piece in _pieces(a.thinking)]
        deltas.append({"type": "signature_delta", "signature": SIGNATURE})
        blocks.append(({"type": "thinking", "thinking": "", "signature": ""}, deltas))
    if a.text:
        blocks.append(({"type": "text", "text": ""}, [{"type": "text_delta", "text": p} for p in _pieces(a.text)]))
    for name, arguments in a.tool_calls():
        deltas = [{"type": "input_json_delta", "partial_json": piece} for piece in _pieces(arguments)]
        blocks.append(({"type": "tool_use", "id": new_id(), "name": name, "input": {}}, deltas))
    for index, (block, deltas) in enumerate(blocks):
        yield event("content_block_start", index=index, content_block=block)
        for delta in deltas:
            yield event("content_block_delta", index=index, delta=delta)
        yield event("content_block_stop", index=index)
    stop = a.stop or ("tool_use" if a.tool_calls() else "end_turn")
    delta = {"stop_reason": stop, "stop_sequence": None, **({"stop_details": a.detail} if a.detail else {})}
    told: dict[str, Any] = {"output_tokens": a.output}
    if a.reasoning is not None:
        told["output_tokens_details"] = {"thinking_tokens": a.reasoning}
    yield event("message_delta", delta=delta, usage=told)
    yield event("message_stop")


def _google(path: str, a: Answer) -> Iterator[tuple[str | None, Any]]:
    model = path.rsplit("/", 1)[-1].partition(":")[0]
    usage: dict[str, Any] = {
        "promptTokenCount": a.input,
        "totalTokenCount": a.input + (a.output or 0) + (a.reasoning or 0),
    }
    told = (
        ("candidatesTokenCount", a.output),
        ("thoughtsTokenCount", a.reasoning),
        ("cachedContentTokenCount", a.cached),
    )
    usage |= {name: value for name, value in told if value is not None}
    tail = {"modelVersion": model, "responseId": "r"}
    if a.blocked:
        yield (
            None,
            {"promptFeedback": {"blockReason": a.blocked}, "usageMetadata": {"promptTokenCount": a.input}, **tail},
        )
        return
    parts: list[dict[str, Any]] = [{"text": piece, "thought": True} for piece in _pieces(a.thinking, GOOGLE_CHUNK)]
    parts += [{"text": piece} for piece in _pieces(a.text, GOOGLE_CHUNK)]
    for name, arguments in a.tool_calls():
        call = {"functionCall": {"name": name, "args": json.loads(arguments)}}
        parts.append({**call, "thoughtSignature": base64.b64encode(SIGNATURE.encode()).decode()})
    early = {"promptTokenCount": a.input}
    for part in parts:
        candidate = {"content": {"role": "model", "parts": [part]}, "index": 0}
        yield None, {"candidates": [candidate], "usageMetadata": early, **tail}
    last = {"content": {"role": "model"}, "finishReason": a.stop or "STOP", "index": 0}
    yield None, {"candidates": [last], "usageMetadata": usage, **tail}


def _responses(body: dict[str, Any], a: Answer) -> Iterator[tuple[str | None, Any]]:
    number = iter(range(10**6))

    def event(kind: str, **more: Any) -> tuple[str, Any]:
        return kind, {"type": kind, "sequence_number": next(number), **more}

    base = {"id": "resp", "object": "response", "created_at": 0, "model": body["model"], "output": [], "tools": [],
            "parallel_tool_calls": True, "tool_choice": "auto", "incomplete_details": None, "error": None}  # fmt: skip
    yield event("response.created", response={**base, "status": "in_progress"})
    place = {"item_id": "m", "output_index": 0, "content_index": 0}
    for piece in _pieces(a.thinking):
        yield event("response.reasoning_summary_text.delta", item_id="m", output_index=0, summary_index=0, delta=piece)
    for piece in _pieces(a.text):
        yield event("response.output_text.delta", **place, delta=piece, logprobs=[])
    if a.refusal:
        yield event("response.refusal.delta", **place, delta=a.refusal)
    if a.thinking and a.calls:
        item = {"type": "reasoning", "id": "rs", "summary": [], "encrypted_content": SIGNATURE}
        yield event("response.output_item.done", output_index=8, item=item)
    for at, (name, arguments) in enumerate(a.tool_calls()):
        item = {"type": "function_call", "name": name, "arguments": "", "call_id": new_id(), "id": f"f{at}",
                "status": "in_progress"}  # fmt: skip
        yield event("response.output_item.added", output_index=at, item=item)
        for piece in _pieces(arguments):
            yield event("response.function_call_arguments.delta", output_index=at, item_id=f"f{at}", delta=piece)
        done = {**item, "arguments": arguments, "status": "completed"}
        yield event("response.output_item.done", output_index=at, item=done)
    usage = {"input_tokens": a.input, "output_tokens": a.output, "total_tokens": a.input + (a.output or 0),
             "input_tokens_details": {"cached_tokens": a.cached or 0},
             "output_tokens_details": {"reasoning_tokens": a.reasoning or 0}}  # fmt: skip
    if a.code:  # a failure inside the stream
        yield event(
            "response.failed", response={**base, "status": "failed", "error": {"code": a.code, "message": a.message}}
        )
    elif a.stop:
        ended = {**base, "status": "incomplete", "incomplete_details": {"reason": a.stop}, "usage": usage}
        yield event("response.incomplete", response=ended)
    else:
        yield event("response.completed", response={**base, "status": "completed", "usage": usage})


def _chat(body: dict[str, Any], a: Answer) -> Iterator[tuple[str | None, Any]]:
    base = {"id": "c", "object": "chat.completion.chunk", "created": 0, "model": body["model"]}

    def chunk(delta: dict[str, Any], finish: str | None = None) -> tuple[None, Any]:
        return None, {**base, "choices": [{"index": 0, "delta": delta, "finish_reason": finish}]}

    yield chunk({"role": "assistant", "content": ""})
    for piece in _pieces(a.thinking):
        yield chunk({"reasoning_content": piece})
    for piece in _pieces(a.text):
        yield chunk({"content": piece})
    if a.refusal:
        yield chunk({"refusal": a.refusal})
    for at, (name, arguments) in enumerate(a.tool_calls()):
        head = {"index": at, "id": new_id(), "type": "function", "function": {"name": name, "arguments": ""}}
        yield chunk({"tool_calls": [head]})
        for piece in _pieces(arguments):
            yield chunk({"tool_calls": [{"index": at, "function": {"arguments": piece}}]})
    yield chunk({}, a.stop or ("tool_calls" if a.tool_calls() else "stop"))
    usage: dict[str, Any] = {
        "prompt_tokens": a.input,
        "completion_tokens": a.output,
        "total_tokens": a.input + (a.output or 0),
    }
    if a.reasoning is not None:
        usage["completion_tokens_details"] = {"reasoning_tokens": a.reasoning}
    if a.cached is not None:
        usage["prompt_tokens_details"] = {"cached_tokens": a.cached}
    if (body.get("stream_options") or {}).get("include_usage"):
        yield None, {**base, "choices": [], "usage": usage}
    yield None, "[DONE]"


def _completion(body: dict[str, Any], a: Answer) -> dict[str, Any]:
    calls = [
        {"id": new_id(), "type": "function", "function": {"name": name, "arguments": arguments}}
        for name, arguments in a.tool_calls()
    ]
    message = {"role": "assistant", "content": a.text or None, **({"tool_calls": calls} if calls else {})}
    usage = {"prompt_tokens": a.input, "completion_tokens": a.output, "total_tokens": a.input + (a.output or 0)}
    choice = {"index": 0, "message": message, "finish_reason": "tool_calls" if calls else "stop"}
    return {
        "id": "c",
        "object": "chat.completion",
        "created": 0,
        "model": body["model"],
        "choices": [choice],
        "usage": usage,
    }


_opened: list[Any] = []


def opened(name: str, settings: Any) -> Any:
    """A model behind a network, closed by `close_all`."""
    from kbench.models.opening import open_model

    _opened.append(open_model(name, settings))
    return _opened[-1]


def close_all() -> None:
    while _opened:
        _opened.pop().close()


def fenced(code: str) -> str:
    return f"Here it is.\n\n```python\n{code}```\n"


def shipped(prompt: str) -> Answer:
    """The shipped C++ solution of the problem whose name stands in the prompt; a text without code where there is none."""
    return next((answer for name, answer in _shipped().items() if name in prompt), Answer("I do not know that one."))


@cache
def _shipped() -> dict[str, Answer]:
    from kbench.registry import builtin_root

    paths = sorted((builtin_root() / "solutions").rglob("level*/*.py"))
    return {
        f"{p.parent.name}/{p.stem.partition('__')[0]}": Answer(fenced(p.read_text()))
        for p in paths
        if "__cpp" in p.stem
    } | {f"{p.parent.name}/{p.stem}": Answer(fenced(p.read_text())) for p in paths if "__" not in p.stem}


if __name__ == "__main__":
    with FakeProvider(
        shipped, port=int(sys.argv[1]), latency_s=float(sys.argv[2]) if len(sys.argv) > 2 else 0.0
    ) as fake:
        print(fake.url, flush=True)
        threading.Event().wait()
