"""What an embedder is. Implementations live beside this file; `open_embedder` (in embed.choose) picks one."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    import numpy


class Embedder(Protocol):
    """Turns text into unit vectors.

    fingerprint: names the model, its weights and its treatment of text; vectors of two fingerprints are never compared.
    dimension: how many numbers a vector has.
    """

    fingerprint: str
    dimension: int

    def pieces(self, text: str) -> list[str]:
        """`text` cut to pieces that each fit the model's window, none of it lost."""
        ...

    def embed(self, texts: Sequence[str]) -> "numpy.ndarray":
        """(len(texts), dimension) float32 unit vectors. What exceeds the window of one text is not seen."""
        ...


def foresees(embedder: Embedder | None) -> bool:
    """Whether `embedder.expect(text)` begins on a question beside what its asker does meanwhile: see embed/cache.py."""
    return getattr(embedder, "ahead", None) is not None
