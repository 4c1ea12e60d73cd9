"""A model behind a provider's SDK: asks once, tells the outcomes apart, counts tokens and cost.

The SDK sends a request again, with its own back-off, until a reply begins. A reply that breaks off after that is raised as
Broken: whoever asked reserves the money for another one first.
"""

from __future__ import annotations

import difflib
import json
import re
import time
from collections.abc import Iterator
from dataclasses import replace
from typing import Protocol

from kbench.budget import Amount
from kbench.errors import ConfigError, KBenchError, ModelError
from kbench.extract import extract
from kbench.models import Call, Reply, Request
from kbench.models.failures import Broken, Declined, Unreachable
from kbench.models.pieces import Arguments, Ending, Named, Own, Piece, Refusal, Stop, Text, Thought, Tokens, ToolCall
from kbench.models.prices import cost_usd, worst_case
from kbench.models.refusal import is_refusal
from kbench.models.settings import ModelSettings
from kbench.types import ReplyFacts

CHECK_S = 3.0  # with the SDK's import, an error shows within five seconds


class Provider(Protocol):
    """One SDK. `pieces` raises whatever the SDK raises; `explain` says whose fault that was."""

    prices: str | None
    max_tokens: int | None

    @property
    def url(self) -> str: ...
    def sent(self, sample: int) -> dict[str, object]: ...
    def pieces(self, request: Request) -> Iterator[Piece]: ...
    def explain(self, error: Exception, begun: bool) -> Exception: ...
    def check(self, timeout_s: float) -> bool: ...
    def names(self, timeout_s: float) -> list[str]: ...
    def close(self) -> None: ...


MOST_TOKENS = 10**12  # of one reply


class Remote:
    exempt = False

    def __init__(self, name: str, settings: ModelSettings, provider: Provider) -> None:
        self.name, self.settings, self.provider = name, settings, provider
        self.model = name.partition("/")[2]
        self.found = False  # the server said that it has this model

    def identity(self) -> dict[str, object]:
        """What decides its replies beside the prompt, JSON-ready; no key, no time-out."""
        fields = {name: getattr(self.settings, name) for name in ModelSettings.__slots__}
        kept = {name: value for name, value in fields.items() if name not in ("timeout_s", "retries")}
        kept["base_url"] = None if self.settings.base_url is None else _without_login(self.settings.base_url)
        url = _without_login(self.provider.url)
        return {"model": self.name, "url": url, **kept, "max_tokens": self.provider.max_tokens}

    def close(self) -> None:
        """Lets go of its connections; what is in flight breaks off."""
        self.provider.close()

    def unsent(self) -> list[str]:
        """A line for each setting that was asked for and that this model does not take."""
        sent = self.provider.sent(0)
        asked = [name for name in ("temperature", "top_p", "seed") if getattr(self.settings, name) is not None]
        return [f"{self.name} takes no {name}; it is left out" for name in asked if sent.get(name) is None]

    def check(self) -> None:
        """ModelError, within seconds, where the key, the name or the address is wrong. What else fails is left to a request."""
        try:
            self.found = self.provider.check(CHECK_S)
        except KeyError:
            raise self._unknown() from None
        except Exception as error:
            failure = self.provider.explain(error, begun=False)
            status = getattr(error, "status_code", getattr(error, "code", None))
            if isinstance(failure, Unreachable):
                raise ModelError(str(failure)) from error
            if status == 404 and self._listed() not in ([], None):
                raise self._unknown() from error
            if isinstance(failure, ModelError) and status in (400, 401):
                raise failure from error

    def _listed(self) -> list[str] | None:
        """The models that the server lists; None where it lists none or this one, so that its absence says nothing."""
        try:
            names = self.provider.names(CHECK_S)
        except Exception:
            return None
        return None if self.model in names else names

    def _unknown(self) -> ModelError:
        names = self._listed() or []
        close = difflib.get_close_matches(self.model, names, n=4, cutoff=0.3)
        shown = [*close, *(name for name in names if name not in close)][:8]
        return ModelError(f"{self.name}: {self.provider.url} has no such model; it has {', '.join(shown) or 'none'}")

    def worst_case(self, request: Request) -> Amount:
        """What it can cost at most. None where that is not known."""
        texts = [request.system, *(json.dumps([t.name, t.description, t.parameters]) for t in request.tools)]
        for message in request.messages:
            # What is signed counts twice, as text and in the provider's own words: it is the worst case.
            texts += [message.text, *([message.own] if message.own else []), *(c.arguments for c in message.calls)]
            texts += [r.text for r in message.results]
        return worst_case(self.name.partition("/")[0], self.model, self.provider.max_tokens, tuple(texts))

    def charge(self, facts: ReplyFacts) -> Amount:
        """What a whole reply cost; None where the server did not say."""
        if facts.tokens_input is None or facts.tokens_output is None:
            return Amount(None, facts.cost_usd)
        beside = (facts.tokens_reasoning or 0) if self.provider.prices == "google" else 0
        return Amount(facts.tokens_input + facts.tokens_output + beside, facts.cost_usd)

    def generate(self, request: Request) -> Reply:
        """One request, read to its end. Broken, with what is known of it, where it has none."""
        tally = Tally()
        started = time.monotonic()
        try:
            for piece in self.provider.pieces(request):
                tally.add(piece)
        except KBenchError:
            raise
        except Exception as error:
            failure = self.provider.explain(error, begun=tally.begun)
            if isinstance(failure, Declined):
                facts = self._facts(tally, request, time.monotonic() - started)
                detail = json.dumps({"message": str(failure)})
                facts = replace(facts, stop_reason=failure.reason, stop_detail=detail)
                return Reply(str(failure), True, True, None, facts, self.name)
            if isinstance(failure, Broken):
                failure.facts = self._facts(tally, request, time.monotonic() - started)
            raise failure from error
        facts = self._facts(tally, request, time.monotonic() - started)
        if tally.stop is None:
            failure = Broken(f"{self.name}: the reply broke off: the stream ended without a stop reason")
            failure.facts = facts
            raise failure
        return tally.reply(facts, self.name, bool(request.tools))

    def _facts(self, tally: Tally, request: Request, latency_s: float) -> ReplyFacts:
        tokens, stop = tally.tokens, tally.stop
        cost = cost_usd(self.provider.prices, (tally.model, self.model), tokens)
        return ReplyFacts(
            tally.model or self.model, tokens.input, tokens.output, tokens.reasoning, tokens.cached, cost,
            stop.reason if stop is not None else None, latency_s, retries=tally.retries,
            stop_detail=stop.detail if stop is not None else None, sent=self.provider.sent(request.sample),
        )  # fmt: skip


def is_count(value: object) -> bool:
    """Whether it can be a number of tokens: a confused server says negative ones, texts, and more than there can be."""
    return type(value) is int and 0 <= value <= MOST_TOKENS


class Tally:
    """Gathers the pieces of one reply."""

    def __init__(self) -> None:
        self.model, self.retries = "", 0
        self.texts: list[str] = []
        self.thoughts: list[str] = []
        self.refusals: list[str] = []
        self.calls: dict[int, Call] = {}
        self.own: list[dict[str, object]] = []
        self.tokens = Tokens()
        self.stop: Stop | None = None
        self.begun = False

    def add(self, piece: Piece) -> None:
        self.begun = True
        match piece:
            case Text(text):
                self.texts.append(text)
            case Thought(text):
                self.thoughts.append(text)
            case Refusal(text):
                self.refusals.append(text)
            case ToolCall(name, ident, at):
                self.calls[at] = Call(ident, name, "")
            case Arguments(text, at):
                call = self.calls.setdefault(at, Call("", "", ""))
                self.calls[at] = replace(call, arguments=call.arguments + text)
            case Own(block):
                self.own.append(block)
            case Tokens():
                told = {k: v for k in Tokens.__slots__ if (v := getattr(piece, k)) is not None}
                self.tokens = replace(self.tokens, **{k: v if is_count(v) else None for k, v in told.items()})
            case Named(model, retries):
                self.model, self.retries = model, retries or 0
            case Stop():
                self.stop = piece

    def reply(self, facts: ReplyFacts, origin: str, tools: bool = False) -> Reply:
        """`tools` were offered, so that calls are an answer."""
        assert self.stop is not None
        ending = self.stop.ending
        said, thinking, refusal = "".join(self.texts), "".join(self.thoughts), "".join(self.refusals)
        finished = ending in (Ending.DONE, Ending.TOOL)
        has_code = extract(said, finished) is not None
        calls = tuple(self.calls[at] for at in sorted(self.calls)) if tools else ()
        refused = ending is Ending.REFUSED or bool(refusal) or (not has_code and not calls and is_refusal(said))
        if tools:
            own = json.dumps(self.own) if self.own else ""
            return Reply(said or refusal, finished, refused, None, facts, origin, thinking, calls, own)
        note = "" if has_code or refused else self.why_no_code(ending, said, thinking)
        text = said or refusal
        return Reply(text, finished, refused, None, replace(facts, note=note), origin, thinking)

    def why_no_code(self, ending: Ending, said: str, thinking: str) -> str:
        if ending is Ending.LENGTH:
            return "cut off at the token limit" + ("" if said.strip() else ", before any text")
        if ending is Ending.TOOL or self.calls:
            names = ", ".join(call.name for call in self.calls.values())
            return f"a tool call instead of text ({names or 'malformed'})"
        if extract(thinking, True) is not None:
            return "code in the thinking part only"
        if not said.strip():
            return "an empty reply"
        return "no code block that defines ModelNew"


def _without_login(url: str) -> str:
    return re.sub(r"//[^/@]*@", "//", url)


def open_remote(name: str, settings: ModelSettings) -> Remote:
    """ConfigError or ModelError where it cannot be opened; no request is made."""
    provider, _, model = name.partition("/")
    if not model:
        raise ConfigError(f"no model {name!r}; give the name after the slash, as in {provider}/NAME")
    url = settings.base_url
    if url is not None and not url.startswith(("http://", "https://")):
        raise ConfigError(f"--base-url {url!r}: give it with http:// or https://")
    return Remote(name, settings, _provider(provider, model, settings))


def _provider(provider: str, model: str, settings: ModelSettings) -> Provider:
    if provider == "anthropic":
        from kbench.models.claude import Claude

        return Claude(model, settings)
    if provider == "google":
        from kbench.models.gemini import Gemini

        return Gemini(model, settings)
    from kbench.models.gpt import Gpt

    return Gpt(model, settings, local=provider == "local")
