"""What goes wrong between kbench and a provider, told apart by whose fault it is.

ModelError        ours: the key, the model's name, the request, the account. The run stops with one line.
Declined          the provider refuses the prompt with an error in place of a reply. The model's: a refusal.
ModelUnavailable  theirs, or the network's: rate limits, overload, server errors, time-outs, after the SDK's own retries.
Broken            the same after the reply had begun, or before it where the SDK does not send again. No SDK asks again for
                  these; `Remote` does.
"""

from __future__ import annotations

from collections.abc import Iterable

from kbench import keys
from kbench.errors import ModelError, ModelUnavailable
from kbench.types import ReplyFacts

MESSAGE_CHARS = 400
OVERLOAD = (408, 409, 425, 429)  # and 5xx, 529 among them
# What providers call a prompt that they block with an error, in its code or its text.
DECLINED_CODES = {
    "content_filter",
    "content_policy_violation",
    "invalid_prompt",
    "bio_policy",
    "misalignment_policy_violation",
}
DECLINED_WORDS = ("content filtering policy", "usage policy", "usage policies", "content management policy")
BROKE_WORDS = {"insufficient_quota", "billing_not_active", "billing_hard_limit_reached", "billing_error"}


class Unreachable(ModelUnavailable):
    """No connection could be made."""


class Unanswered(ModelUnavailable):
    """The request was sent, and no reply began. What it cost, if anything, nobody says."""


class Broken(ModelUnavailable):
    """`facts` is what the server had said of the reply before it broke off."""

    facts: ReplyFacts | None = None


class Declined(Exception):
    """`reason` is the provider's word, the text what it says."""

    def __init__(self, reason: str, text: str) -> None:
        super().__init__(text)
        self.reason = reason


def status_failure(name: str, key: str, status: int, code: str | None, message: str) -> Exception:
    """The exception for an HTTP error status of the model `name`, whose key stands in the variable `key`."""
    said = one_line(message)
    if status in OVERLOAD or status >= 500:
        if code in BROKE_WORDS:
            return ModelError(f"{name}: the account has no credit left ({status}: {said}); add some and run it again")
        return ModelUnavailable(f"{name}: the provider answered {status} after all retries: {said}")
    if code in DECLINED_CODES or any(word in message.lower() for word in DECLINED_WORDS):
        return Declined(code or str(status), said)
    if status == 401:
        return ModelError(f"{name}: the key in {key} is not accepted (401: {said}); set a valid one")
    if status == 403:
        return ModelError(f"{name}: this key may not use it (403: {said}); ask for access, or take another model")
    if status == 404:
        return ModelError(f"{name}: there is no such model or path (404: {said}); check the name and --base-url")
    if status == 402 or "credit balance" in message.lower():
        return ModelError(f"{name}: the account has no credit left ({status}: {said}); add some and run it again")
    return ModelError(f"{name}: the provider rejects the request ({status}: {said}); mend the flags and run it again")


def connection_failure(name: str, url: str, error: BaseException) -> ModelUnavailable:
    """For an error of the HTTP client, which the SDK has perhaps wrapped, before a reply had begun."""
    cause = error.__cause__ or error
    kind = type(cause).__name__
    why = one_line(str(cause)) or kind
    if "Connect" in kind or kind == "UnsupportedProtocol":
        mend = "start the server or give its address with --base-url"
        if not name.startswith("local/"):
            mend = "look to this machine's network or proxy (HTTPS_PROXY), or to the address in --base-url"
        return Unreachable(f"{name}: {url} cannot be reached ({why}); {mend}")
    return Unanswered(f"{name}: {url} does not answer ({kind}: {why})")


def missing_key(name: str, names: Iterable[str]) -> ModelError:
    return ModelError(
        f"{name}: {' or '.join(names)} is not set; set it, or take a model that needs no key: builtin/eager, builtin/compile, "
        "replay/PATH, local/NAME"
    )


def one_line(text: str) -> str:
    """`text` on one line, capped, and without any key that this process knows."""
    flat = " ".join(keys.without(text).split())
    return flat if len(flat) <= MESSAGE_CHARS else flat[: MESSAGE_CHARS - 3] + "..."
