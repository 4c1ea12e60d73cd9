"""The real SDKs against a real server that speaks their wire protocols: each way in which a reply can come or fail."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from kbench import errors
from kbench.models import Message, Reply, Request
from kbench.models.failures import Broken
from kbench.models.opening import full_name, open_model
from kbench.models.remote import Remote
from kbench.models.settings import ModelSettings, with_options
from kbench.types import Problem

from .fake_provider import KEY, Answer, FakeProvider, close_all, fenced, opened

CODE = "import torch\n\n\nclass ModelNew(torch.nn.Module):\n    def forward(self, x):\n        return x.relu()\n"
DRAFT = CODE.replace("relu", "tanh")
WAYS = ("anthropic", "google", "responses", "chat", "local")
NAMES = {
    "anthropic": "anthropic/claude-opus-4-8", "google": "google/gemini-2.5-pro", "responses": "openai/gpt-5",
    "chat": "openai/gpt-4o", "local": "local/stub",
}  # fmt: skip
# US dollars a million tokens (input, cached input, output), from the providers' price lists of 2026-11.
PRICES = {
    "anthropic": (5.0, 0.5, 25.0),
    "google": (1.25, 0.125, 10.0),
    "responses": (1.25, 0.125, 10.0),
    "chat": (2.5, 1.25, 10.0),
}
CUT = {
    "anthropic": "max_tokens",
    "google": "MAX_TOKENS",
    "responses": "max_output_tokens",
    "chat": "length",
    "local": "length",
}
Ask = Callable[..., Reply]


def request(text: str = "Make it fast.", sample: int = 0) -> Request:
    return Request(Problem("level1/1_a", 1, "a.py", "", "0"), sample, "You write kernels.", (Message("user", text),))


@pytest.fixture
def serve(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., FakeProvider]]:
    """Starts a server that gives one answer to everything, and points the SDKs at it."""
    with ExitStack() as stack:
        stack.callback(close_all)

        def start(answer: Answer, **more: Any) -> FakeProvider:
            fake = stack.enter_context(FakeProvider(lambda _: answer, **more))
            for name, value in fake.environment().items():
                monkeypatch.setenv(name, value)
            return fake

        yield start


def open_way(way: str, fake: FakeProvider, **settings: Any) -> Remote:
    if way == "chat":
        settings.setdefault("api", "chat")
    if way == "local":
        settings.setdefault("base_url", f"{fake.url}/v1")
    settings.setdefault("retries", 3)
    return opened(NAMES[way], ModelSettings(**settings))


# ---- a reply as it should be -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("way", WAYS)
def test_a_reply_arrives_whole_with_its_facts(serve: Ask, way: str) -> None:
    text = "Some thoughts on it.\n" * 30 + fenced(CODE)
    fake = serve(Answer(text, thinking=f"A draft:\n{fenced(DRAFT)}", input=1000, output=500, reasoning=200, cached=100))
    reply = open_way(way, fake).generate(request())
    facts = reply.facts
    assert facts is not None
    assert reply.text == text
    assert reply.finished
    assert not reply.refused
    assert "x.tanh()" in reply.thinking
    counted = (facts.tokens_input, facts.tokens_output, facts.tokens_reasoning, facts.tokens_cached)
    assert counted == (1000, 500, 200, 100)
    assert facts.model == NAMES[way].partition("/")[2]
    assert facts.note == ""
    assert facts.retries == 0
    assert facts.latency_s is not None
    if way == "local":
        assert facts.cost_usd is None  # nobody knows what a server of one's own costs
    else:
        plain, cached, out = PRICES[way]
        billed = 700 if way == "google" else 500  # Google bills thoughts beside the output
        assert facts.cost_usd == pytest.approx((900 * plain + 100 * cached + billed * out) / 1e6)


@pytest.mark.parametrize("way", WAYS)
def test_every_request_is_streamed_and_says_what_was_asked(serve: Ask, way: str) -> None:
    fake = serve(Answer(fenced(CODE)))
    model = open_way(way, fake, max_tokens=64_000)
    model.generate(request("the very words"))
    (asked,) = fake.asked
    assert "the very words" in asked.prompt
    assert "You write kernels." in asked.prompt
    assert "64000" in json.dumps(asked.body)
    assert asked.body.get("stream") or ":streamGenerateContent" in asked.path


def test_what_was_sent_is_recorded_and_what_was_not_is_none(serve: Ask) -> None:
    fake = serve(Answer(fenced(CODE)))
    reply = open_way("chat", fake, temperature=0.7, seed=40).generate(request(sample=2))
    assert reply.facts is not None
    assert reply.facts.sent["temperature"] == fake.asked[0].body["temperature"] == 0.7
    assert reply.facts.sent["seed"] == fake.asked[0].body["seed"] == 42  # one seed a sample
    assert reply.facts.sent["top_p"] is None
    assert "top_p" not in fake.asked[0].body


@pytest.mark.parametrize("way", ["anthropic", "responses"])
def test_temperature_is_left_out_where_the_model_takes_none(serve: Ask, way: str) -> None:
    fake = serve(Answer(fenced(CODE)))
    model = open_way(way, fake, temperature=0.7, **({"thinking_budget": 2048} if way == "anthropic" else {}))
    model.generate(request())
    assert "temperature" not in fake.asked[0].body
    assert model.unsent() == [f"{NAMES[way]} takes no temperature; it is left out"]


@pytest.mark.parametrize(
    ("way", "settings", "place", "value"),
    [
        ("anthropic", {"reasoning_effort": "high"}, ("output_config", "effort"), "high"),
        ("anthropic", {"thinking_budget": 4096}, ("thinking", "budget_tokens"), 4096),
        ("google", {"reasoning_effort": "low"}, ("generationConfig", "thinkingConfig", "thinking_level"), "LOW"),
        ("google", {"thinking_budget": 4096}, ("generationConfig", "thinkingConfig", "thinking_budget"), 4096),
        ("responses", {"reasoning_effort": "high"}, ("reasoning", "effort"), "high"),
        ("local", {"reasoning_effort": "high"}, ("reasoning_effort",), "high"),
        ("local", {"body": {"top_k": 20}}, ("top_k",), 20),
        ("anthropic", {"body": {"top_k": 20}}, ("top_k",), 20),
        ("google", {"body": {"labels": {"a": "b"}}}, ("labels", "a"), "b"),
    ],
)
def test_reasoning_and_extra_fields_reach_the_wire(
    serve: Ask, way: str, settings: dict[str, Any], place: tuple[str, ...], value: object
) -> None:
    fake = serve(Answer(fenced(CODE)))
    open_way(way, fake, **settings).generate(request())
    found: Any = fake.asked[0].body
    for name in place:
        found = found[name]
    assert found == value


def test_a_server_that_only_speaks_chat_completions_is_asked_that_way(serve: Ask) -> None:
    fake = serve(Answer(fenced(CODE)), only_chat=True)
    model = opened("openai/gpt-4o", ModelSettings())
    first, second = model.generate(request()), model.generate(request())
    assert first.text == second.text == fenced(CODE)
    assert [asked.path for asked in fake.asked] == ["/v1/chat/completions"] * 2
    assert first.facts is not None
    assert first.facts.sent["api"] == "chat"


# ---- replies without code --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize(
    ("answer", "note"),
    [
        (Answer("class ModelNew would be the way to go."), "no code block that defines ModelNew"),
        (Answer(""), "an empty reply"),
        (Answer("Wait.", thinking=fenced(CODE)), "code in the thinking part only"),
        (Answer("", tool="bash"), "a tool call instead of text (bash)"),
    ],
)
def test_a_reply_without_code_says_why(serve: Ask, way: str, answer: Answer, note: str) -> None:
    fake = serve(answer)
    reply = open_way(way, fake).generate(request())
    assert reply.facts is not None
    assert reply.facts.note == note
    assert not reply.refused


@pytest.mark.parametrize("way", WAYS)
def test_a_reply_cut_off_at_the_token_limit_is_told_so(serve: Ask, way: str) -> None:
    fake = serve(Answer("```python\n" + CODE, stop=CUT[way]))
    reply = open_way(way, fake).generate(request())
    assert reply.facts is not None
    assert not reply.finished
    assert reply.facts.note == "cut off at the token limit"
    assert reply.facts.stop_reason == CUT[way]


@pytest.mark.parametrize("way", WAYS)
def test_several_blocks_are_no_fault(serve: Ask, way: str) -> None:
    fake = serve(Answer(fenced(DRAFT) + fenced(CODE)))
    reply = open_way(way, fake).generate(request())
    assert reply.facts is not None
    assert reply.facts.note == ""


def test_thoughts_that_used_up_the_limit_are_no_outage(serve: Ask) -> None:
    fake = serve(Answer("", stop="MAX_TOKENS", output=None, reasoning=2045))
    reply = open_way("google", fake).generate(request())
    assert reply.facts is not None
    assert (reply.facts.tokens_reasoning, reply.facts.tokens_output) == (2045, 0)
    assert reply.facts.stop_reason == "MAX_TOKENS"
    assert reply.facts.note == "cut off at the token limit, before any text"


# ---- refusals --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("way", "answer", "reason"),
    [
        ("anthropic", Answer("I will", stop="refusal", detail={"type": "refusal", "category": "cyber"}), "refusal"),
        ("anthropic", Answer(fenced(CODE), stop="refusal"), "refusal"),
        ("anthropic", Answer(status=400, code="invalid_request_error", message="Output blocked by content filtering policy"),
         "invalid_request_error"),
        ("google", Answer("", stop="SAFETY", output=None), "SAFETY"),
        ("google", Answer("", stop="PROHIBITED_CONTENT", output=None), "PROHIBITED_CONTENT"),
        ("google", Answer("", stop="RECITATION", output=None), "RECITATION"),
        ("google", Answer(blocked="PROHIBITED_CONTENT"), "PROHIBITED_CONTENT"),
        ("responses", Answer(refusal="I can't help with that."), "completed"),
        ("responses", Answer("", stop="content_filter"), "content_filter"),
        ("responses", Answer(code="invalid_prompt", message="flagged as potentially violating our usage policy"), "invalid_prompt"),
        ("responses", Answer(status=400, code="invalid_prompt", message="flagged"), "invalid_prompt"),
        ("chat", Answer(refusal="I can't help with that."), "stop"),
        ("chat", Answer("", stop="content_filter"), "content_filter"),
        ("local", Answer("I'm sorry, but I can't help with writing GPU kernels."), "stop"),
    ],
)  # fmt: skip
def test_a_refusal_is_a_reply_and_its_words_are_kept(serve: Ask, way: str, answer: Answer, reason: str) -> None:
    fake = serve(answer)
    reply = open_way(way, fake).generate(request())
    assert reply.refused
    assert reply.facts is not None
    assert reply.facts.stop_reason == reason
    assert (answer.text or answer.refusal or reply.facts.stop_detail or "") in (
        reply.text,
        reply.facts.stop_detail or "",
    )


def test_what_the_provider_says_of_a_refusal_is_kept(serve: Ask) -> None:
    fake = serve(Answer("", stop="refusal", detail={"type": "refusal", "category": "cyber", "explanation": "because"}))
    reply = open_way("anthropic", fake).generate(request())
    assert reply.facts is not None
    assert json.loads(reply.facts.stop_detail or "")["category"] == "cyber"


# ---- failures --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("status", ["429", "500", "503", "529"])
def test_a_burst_of_overload_is_retried_by_the_sdk(serve: Ask, way: str, status: str, quick_google: None) -> None:
    fake = serve(Answer(fenced(CODE)), fault_of=lambda n: status if n < 2 else "")
    reply = open_way(way, fake).generate(request())
    assert reply.facts is not None
    assert reply.facts.retries == 2
    assert len(fake.asked) == 3


@pytest.mark.parametrize("way", WAYS)
def test_overload_without_end_is_not_the_models_fault(serve: Ask, way: str, quick_google: None) -> None:
    fake = serve(Answer(fenced(CODE)), fault_of=lambda n: "529")
    with pytest.raises(errors.ModelUnavailable, match="529"):
        open_way(way, fake, retries=1).generate(request())
    assert len(fake.asked) == 2  # one owner of retries


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("fault", ["reset", "cut", "malformed", "early_end"])
def test_a_reply_that_breaks_off_is_not_taken_for_one(serve: Ask, way: str, fault: str) -> None:
    fake = serve(Answer(fenced(CODE) * 4), fault_of=lambda n: fault)
    with pytest.raises(Broken) as raised:
        open_way(way, fake).generate(request())
    assert raised.value.facts is not None
    assert "broke off" in str(raised.value)
    assert "\n" not in str(raised.value)
    if way in ("anthropic", "google") and fault != "reset":  # these say at the start what the input was
        assert raised.value.facts.tokens_input == 900


@pytest.mark.parametrize("way", WAYS)
def test_a_server_that_stalls_is_given_up_after_the_timeout(serve: Ask, way: str) -> None:
    fake = serve(Answer(fenced(CODE)), fault_of=lambda n: "stall:1.5")
    with pytest.raises(errors.ModelUnavailable):
        open_way(way, fake, timeout_s=0.3, retries=0).generate(request())


def test_an_error_event_inside_a_stream_is_the_providers_fault(serve: Ask) -> None:
    fake = serve(Answer(code="server_error", message="boom"))
    with pytest.raises(Broken, match="boom"):
        open_way("responses", fake).generate(request())


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize(
    ("status", "says"),
    [(400, "rejects the request"), (401, "not accepted"), (403, "may not"), (422, "rejects the request")],
)
def test_a_mistake_of_ours_is_one_line_that_says_how_to_mend_it(serve: Ask, way: str, status: int, says: str) -> None:
    fake = serve(Answer(status=status, code="invalid_request_error", message=f"no\nwith {KEY}"))
    with pytest.raises(errors.ModelError, match=says) as raised:
        open_way(way, fake).generate(request())
    assert "\n" not in str(raised.value)
    assert KEY not in str(raised.value)
    assert len(fake.asked) == 1


# ---- before anything is asked ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "full"),
    [
        ("claude-opus-4-8", "anthropic/claude-opus-4-8"), ("gemini-2.5-pro", "google/gemini-2.5-pro"),
        ("gpt-5", "openai/gpt-5"), ("o3", "openai/o3"), ("o4-mini", "openai/o4-mini"), ("local/a/b", "local/a/b"),
        ("opus", "opus"),
    ],
)  # fmt: skip
def test_a_bare_name_finds_its_provider(name: str, full: str) -> None:
    assert full_name(name) == full


@pytest.mark.parametrize("way", WAYS)
def test_a_model_that_is_there_passes_the_check(serve: Ask, way: str) -> None:
    fake = serve(Answer())
    open_way(way, fake).check()
    assert not fake.asked


@pytest.mark.parametrize("way", WAYS)
def test_an_unknown_model_is_told_with_those_that_there_are(serve: Ask, way: str) -> None:
    fake = serve(Answer(), models=("alpha-1", "beta-2"))
    with pytest.raises(errors.ModelError, match="no such model") as raised:
        open_way(way, fake).check()
    assert "alpha-1" in str(raised.value)
    assert "beta-2" in str(raised.value)


@pytest.mark.parametrize("way", ["anthropic", "google", "responses", "chat"])
def test_a_wrong_key_is_told_with_its_variable(serve: Ask, way: str, monkeypatch: pytest.MonkeyPatch) -> None:
    fake = serve(Answer())
    for name in ("ANTHROPIC_API_KEY", "OPENAI_API_KEY", "GEMINI_API_KEY"):
        monkeypatch.setenv(name, "wrong-key-9876543210")
    with pytest.raises(errors.ModelError, match="_API_KEY is not accepted") as raised:
        open_way(way, fake).check()
    assert "wrong-key-9876543210" not in str(raised.value)


@pytest.mark.parametrize("way", ["anthropic", "google", "responses", "chat"])
def test_a_missing_key_is_told_with_a_model_that_needs_none(way: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "OPENAI_API_KEY", "GEMINI_API_KEY", "GOOGLE_API_KEY"):
        monkeypatch.delenv(name, raising=False)
    with pytest.raises(errors.ModelError, match=r"_API_KEY is not set.*builtin/eager"):
        open_model(NAMES[way])


@pytest.mark.parametrize("way", WAYS)
def test_an_address_where_nobody_answers_is_told(serve: Ask, way: str) -> None:
    fake = serve(Answer())
    with pytest.raises(errors.ModelError, match=r"cannot be reached.*--base-url"):
        open_way(way, fake, base_url="http://127.0.0.1:9/v1").check()


def test_a_server_of_ones_own_is_never_sent_the_openai_key(serve: Ask) -> None:
    fake = serve(Answer(fenced(CODE)))
    open_way("local", fake).generate(request())
    assert KEY not in json.dumps(fake.asked[0].headers)


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (["temperatur=1"], "temperatur"),
        (["max_tokens=many"], "whole number"),
        (["max_tokens"], "key=value"),
        (["api=grpc"], "responses"),
        (["reasoning_effort=huge"], "minimal"),
    ],
)
def test_a_setting_that_is_none_is_told(options: list[str], says: str) -> None:
    with pytest.raises(errors.ConfigError, match=says):
        with_options(ModelSettings(), options)


def test_the_worst_case_is_never_below_what_a_reply_can_cost(serve: Ask, tmp_path: Path) -> None:
    fake = serve(Answer(fenced(CODE), input=1500, output=2000))
    model = open_way("anthropic", fake, max_tokens=2000)
    asked = request("x" * 1500)
    worst, reply = model.worst_case(asked), model.generate(asked)
    assert reply.facts is not None
    assert worst.cost_usd is not None
    assert reply.facts.cost_usd is not None
    assert reply.facts.cost_usd <= worst.cost_usd <= 2 * reply.facts.cost_usd
