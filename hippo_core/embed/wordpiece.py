"""Text to the model's tokens: the WordPiece of BERT uncased, and cutting text to pieces that fit the window.

Knows the vocabulary and the window, nothing of weights or vectors.
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


class WordPiece:
    """Loads the vocabulary when it is first needed."""

    version = "wordpiece-1"

    def __init__(self) -> None:
        self._tokenizer: tokenizers.Tokenizer | None = None
        self._loading = threading.Lock()

    def ids(self, text: str) -> list[int]:
        """The tokens of `text` with [CLS] and [SEP]; what exceeds the window is cut off."""
        return [_CLS, *self._encode(_prepared(text)).ids[:_ROOM], _SEP]

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


def _open_tokenizer() -> "tokenizers.Tokenizer":
    from tokenizers import Tokenizer, models, normalizers, pre_tokenizers

    with open(VOCABULARY, "rb") as file:
        words = zlib.decompress(file.read(), wbits=31).decode("utf-8").splitlines()
    vocabulary = {word: number for number, word in enumerate(words)}
    model = models.WordPiece(
        vocabulary, unk_token="[UNK]", max_input_chars_per_word=_LONGEST_WORD * _MOST_TOKENS_A_LETTER
    )
    tokenizer = Tokenizer(model)
    tokenizer.normalizer = normalizers.BertNormalizer(lowercase=True)  # which also strips accents and parts CJK
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    return tokenizer
