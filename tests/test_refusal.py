"""The rule for refusals in plain text, on examples in several languages. Every text here is our own."""

from __future__ import annotations

import pytest

from kbench.models.refusal import is_refusal


@pytest.mark.parametrize(
    "text",
    [
        "I'm sorry, but I can't help with that request.",
        "I’m sorry, but I can’t assist with writing CUDA kernels.",
        "I cannot provide optimized GPU code.",
        "Sorry, I'm not able to do this.",
        "Unfortunately this is something that I cannot do.",
        "Hello! Thank you for the question. I must decline to write this kernel.",
        "I won't write low-level code that runs outside of a safe language.",
        "This request is against my usage policies.",
        "Es tut mir leid, dabei kann ich nicht helfen.",
        "Ich kann diesen Kernel leider nicht schreiben.",
        "Je suis désolé, mais je ne peux pas écrire ce noyau.",
        "Lo siento, no puedo ayudar con eso.",
        "Mi dispiace, non posso scrivere questo codice.",
        "Desculpe, não posso ajudar com isso.",
        "Het spijt me, daar kan ik niet bij helpen.",
        "Przykro mi, nie mogę w tym pomóc.",
        "Извините, я не могу с этим помочь.",
        "Üzgünüm, bu konuda yardımcı olamam.",
        "抱歉，我无法帮助您编写这个内核。",
        "申し訳ありませんが、そのご要望にはお応えできません。",
        "죄송합니다. 그 요청은 도와드릴 수 없습니다.",
        "آسف، لا أستطيع المساعدة في ذلك.",
    ],
)
def test_someone_who_says_no_refuses(text: str) -> None:
    assert is_refusal(text)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "The kernel would load a tile into shared memory and reduce it there.",
        "ReLU is max(x, 0); it is bound by memory, so a fused pass is all there is to gain.",
        "I cannot see the reference module in your message. Please paste it.",
        "I'm sorry, the module was not included; could you share it again?",
        "Sure! Here is the plan: first the loads, then the arithmetic.",
        "Diese Aufgabe ist durch die Speicherbandbreite begrenzt.",
        "Ce noyau est limité par la mémoire.",
        "这个内核受内存带宽限制。",
        "I'm sorry for the earlier mistake.\n```python\nclass ModelNew: pass\n```",
        "The kernel is simple. " * 30 + "I cannot make it faster.",
    ],
)
def test_a_reply_that_does_not_say_no_is_no_refusal(text: str) -> None:
    assert not is_refusal(text)
