"""Text to the model's tokens: the WordPiece of BERT uncased, and cutting text to pieces that fit the window.

Loading the library that does this is a tenth of a cold question's time. So the first text, where it is short and plain
ASCII, is taken apart here: for such text BERT's rules are few. Knows the vocabulary and the window, nothing of weights
or vectors.
"""

import os
import re
import threading
import zlib
from typing import TYPE_CHECKING

from hippo_core.embed.borders import best_cut, well_formed

if TYPE_CHECKING:
    import tokenizers

VOCABULARY = os.path.join(os.path.dirname(__file__), "vocabulary", "bert_base_uncased.txt.gz")
_CLS, _SEP = 101, 102
WINDOW = 256
_ROOM = WINDOW - 2  # [CLS] and [SEP]
# BERT makes one unknown token of a word over 100 letters, and so would lose it. Such a run (a hash, base64) is broken
# up instead. One letter becomes at most three tokens (Hangul decomposes), so a part always fits the window.
_LONGEST_WORD = 80
_TOO_LONG = re.compile(rf"[^\W_]{{{_LONGEST_WORD}}}(?=[^\W_])")
_MOST_TOKENS_A_LETTER = 3
_FEW_LETTERS, _LONGEST_TOKEN = 300, 18
_PLAIN_WORDS = rb"[a-z0-9]+|[^a-z0-9 ]"  # each punctuation mark by itself


class WordPiece:
    """Loads what it needs when it is first needed."""

    version = "wordpiece-1"

    def __init__(self) -> None:
        self._tokenizer: tokenizers.Tokenizer | None = None
        self._loading = threading.Lock()
        self._asked = False

    def ids(self, text: str) -> list[int]:
        """The tokens of `text` with [CLS] and [SEP]; what exceeds the window is cut off."""
        text = _prepared(text)
        first = not self._asked and self._tokenizer is None
        self._asked = True
        if first and len(text) <= _FEW_LETTERS and text.isascii() and text.isprintable():
            ids = _plain_ids(text)
        else:
            ids = self._encode(text).ids
        return [_CLS, *ids[:_ROOM], _SEP]

    def pieces(self, text: str) -> list[str]:
        """`text` in parts that fit the window. Only white space between parts, or inside an over-long word, differs."""
        text = _prepared(text)
        if len(text) * _MOST_TOKENS_A_LETTER <= _ROOM:
            return [text]
        encoding = self._encode(text)
        starts = [start for start, _ in encoding.offsets]
        words = encoding.word_ids  # a new list at each access
        cuts, first = [0], 0
        while len(starts) - first > _ROOM:
            high = first + _ROOM
            while high > first + 1 and words[high] == words[high - 1]:
                high -= 1  # inside a word the rest would be other tokens
            cut = best_cut(text, starts[first + (high - first) // 2], starts[high])
            cuts.append(cut)
            while first < len(starts) and starts[first] < cut:
                first += 1
        parts = [text[start:end].strip() for start, end in zip(cuts, [*cuts[1:], len(text)], strict=True)]
        return [part for part in parts if part] or [""]

    def load(self) -> "tokenizers.Tokenizer":
        with self._loading:
            if self._tokenizer is None:
                self._tokenizer = _open_tokenizer()
            return self._tokenizer

    def _encode(self, text: str) -> "tokenizers.Encoding":
        return self.load().encode(text, add_special_tokens=False)


def _prepared(text: str) -> str:
    return _TOO_LONG.sub(r"\g<0> ", well_formed(text))


def _plain_ids(text: str) -> list[int]:
    """The tokens of printable ASCII: of each word the longest beginning that is one, then of its rest.

    There always is one, for each letter, digit and mark is.
    """
    words = re.findall(_PLAIN_WORDS, text.lower().encode())
    wanted = {  # to pick out of the vocabulary what could be needed takes less than to make a dictionary of all
        (b"##" if start else b"") + word[start:end]
        for word in words
        for start in range(len(word))
        for end in range(start + 1, min(len(word), start + _LONGEST_TOKEN) + 1)
    }
    numbers = {token: number for number, token in enumerate(_vocabulary().split(b"\n")) if token in wanted}
    ids: list[int] = []
    for word in words:
        start, mark = 0, b""
        while start < len(word):
            ends = range(min(len(word), start + _LONGEST_TOKEN), start, -1)
            start, token = next((end, piece) for end in ends if (piece := mark + word[start:end]) in numbers)
            ids.append(numbers[token])
            mark = b"##"
    return ids


def _vocabulary() -> bytes:
    """A token a line, in the order of their numbers."""
    with open(VOCABULARY, "rb") as file:
        return zlib.decompress(file.read(), wbits=31)


def _open_tokenizer() -> "tokenizers.Tokenizer":
    from tokenizers import Tokenizer, models, normalizers, pre_tokenizers

    vocabulary = {word: number for number, word in enumerate(_vocabulary().decode("utf-8").splitlines())}
    model = models.WordPiece(
        vocabulary, unk_token="[UNK]", max_input_chars_per_word=_LONGEST_WORD * _MOST_TOKENS_A_LETTER
    )
    tokenizer = Tokenizer(model)
    tokenizer.normalizer = normalizers.BertNormalizer(lowercase=True)  # which also strips accents and parts CJK
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    return tokenizer
