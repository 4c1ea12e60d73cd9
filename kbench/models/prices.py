"""What a reply costs, by the genai-prices library. None where a model's price is not known."""

from __future__ import annotations

from kbench.budget import Amount
from kbench.models.pieces import Tokens
from kbench.models.settings import PRICED_AS

BYTES_A_MESSAGE = 64  # more than any chat template puts round one
ROLE_AND_START = 512


def cost_usd(provider: str | None, models: tuple[str, ...], tokens: Tokens) -> float | None:
    """US dollars for these tokens at the price of the first of `models` that is known (as the server names it, as asked).

    Google bills thoughts, which it counts beside the output, as output.
    """
    if provider is None or tokens.input is None or tokens.output is None:
        return None
    from genai_prices import Usage, calc_price

    output = tokens.output + ((tokens.reasoning or 0) if provider == "google" else 0)
    usage = Usage(
        input_tokens=tokens.input, output_tokens=output, cache_read_tokens=tokens.cached or 0,
        cache_write_tokens=tokens.cache_written or 0,
    )  # fmt: skip
    for model in models:
        try:
            return float(calc_price(usage, model, provider_id=provider).total_price)
        except (LookupError, ValueError):
            continue
    return None


def worst_case(
    provider: str, model: str, max_tokens: int | None, texts: tuple[str, ...], tokens_before: int = 0
) -> Amount:
    """What a request of these messages can cost at most: the input counted a token a byte, the output at its limit.

    `tokens_before` is more input, already in tokens. None where a limit or a price is not known.
    """
    if max_tokens is None:
        return Amount(None, None)
    into = most_input_tokens(texts) + tokens_before
    return Amount(into + max_tokens, cost_usd(PRICED_AS[provider], (model,), Tokens(into, max_tokens)))


def most_input_tokens(texts: tuple[str, ...]) -> int:
    """At least as many tokens as any tokenizer makes of these messages: none makes more than one of a byte."""
    return sum(len(text.encode("utf-8", "replace")) + BYTES_A_MESSAGE for text in texts) + ROLE_AND_START
