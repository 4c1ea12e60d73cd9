"""Is a reply without code a refusal in plain text? A documented rule; the text is kept for a person to read.

A reply is a refusal where all three hold:

1. It holds no fence and no code (the caller has looked for code first).
2. In its first 400 characters, apart from a greeting, someone says of themselves that they cannot, may not or will not do
   it, or apologise, in one of the languages below.
3. It does not go on to ask for something that was missing ("I cannot see the module; please paste it"): that is no refusal
   but a misunderstanding.

The rule is about the words alone. It does not know sarcasm, nor languages that are not listed; those count as `no_code`.
"""

from __future__ import annotations

import re

HEAD_CHARS = 400
_HELP = r"(?:help|assist|comply|provide|do|write|create|generate|fulfil|fulfill|produce|offer|support|complete|engage|continue)"
_SAYS_NO = re.compile(
    # English
    rf"\bI(?:'m| am) (?:really |very |so )?(?:sorry|unable|not able|not going to|not permitted|not allowed|not comfortable)\b"
    rf"|\bI (?:cannot|can't|can not|won't|will not|must decline|have to decline|decline|must refuse|refuse)\b"
    rf"|\b(?:sorry|apologies|unfortunately)\b[^.!?]*\b(?:can't|cannot|unable|not able|won't)\b"
    rf"|\bunable to {_HELP}\b|\b(?:can't|cannot) {_HELP}\b"
    r"|\b(?:against|violates?) (?:my|our|the) (?:usage )?(?:policy|policies|guidelines)\b"
    # German, French, Spanish, Italian, Portuguese, Dutch, Polish
    r"|\bich (?:kann|darf|werde|möchte)\b[^.!?]*\bnicht\b|\btut mir (?:sehr )?leid\b|\bleider (?:kann|darf) ich\b"
    r"|\bje (?:ne )?(?:peux|puis|suis|souhaite)\b[^.!?]*\b(?:pas|désolée?)\b|\bdésolée?\b"
    r"|\bno (?:puedo|podré|debo)\b|\blo siento\b|\blamento\b|\bnon posso\b|\bmi dispiace\b|\bspiacente\b"
    r"|\bnão (?:posso|consigo)\b|\b(?:desculpe|lamento)\b|\bhet spijt me\b|\bik kan\b[^.!?]*\bniet\b|\bnie mogę\b|\bprzykro mi\b"
    # Russian, Ukrainian, Turkish, Arabic, Hindi
    r"|не могу|извините|не можу|вибачте|üzgünüm|yapamam|yardımcı olamam|لا أستطيع|لا يمكنني|آسف|माफ़? कीजिए|नहीं कर सकत"
    # Chinese, Japanese, Korean
    r"|无法|不能|抱歉|無法|できません|いたしかねます|申し訳|할 수 없습니다|죄송합니다",
    re.IGNORECASE,
)
_ASKS = re.compile(
    r"\b(?:please|could you|can you)\b[^.!?]*\b(?:provide|share|paste|send|include|attach|clarify)\b"
    r"|\b(?:missing|was not included|were not included|don't see|do not see|can(?:no|')t see|can not see)\b",
    re.IGNORECASE,
)


def is_refusal(text: str) -> bool:
    head = text.replace("’", "'")[:HEAD_CHARS]
    return "```" not in text and "~~~" not in text and bool(_SAYS_NO.search(head)) and not _ASKS.search(head)
