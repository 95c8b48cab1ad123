"""An embedder that keeps what it embedded in a folder, so that the next run of a benchmark need not embed it again."""

import hashlib
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from hippo_core.embed.base import Embedder

if TYPE_CHECKING:
    import numpy

_KEY = 16


class CachingEmbedder:
    """As `embedder`; vectors of texts seen before come from two files, keys and float32 rows in the same order."""

    def __init__(self, embedder: Embedder, folder: Path):
        import numpy

        self._embedder = embedder
        self.fingerprint, self.dimension = embedder.fingerprint, embedder.dimension
        name = hashlib.sha256(embedder.fingerprint.encode()).hexdigest()[:12]
        self._keys, self._rows = folder / f"vectors-{name}.keys", folder / f"vectors-{name}.f32"
        folder.mkdir(parents=True, exist_ok=True)
        self._known: dict[bytes, numpy.ndarray] = {}
        if self._keys.exists():
            keys = self._keys.read_bytes()
            rows = numpy.fromfile(self._rows, dtype="<f4")
            whole = min(len(keys) // _KEY, len(rows) // self.dimension)  # a run that was ended may leave half a row
            rows = rows[: whole * self.dimension].reshape(-1, self.dimension)
            self._known = {keys[i * _KEY : (i + 1) * _KEY]: rows[i] for i in range(whole)}

    def pieces(self, text: str) -> list[str]:
        return self._embedder.pieces(text)

    def embed(self, texts: Sequence[str]) -> "numpy.ndarray":
        import numpy

        keys = [hashlib.blake2b(text.encode(), digest_size=_KEY).digest() for text in texts]
        new = {key: text for key, text in zip(keys, texts, strict=True) if key not in self._known}
        if new:
            self.add(list(new), self._embedder.embed(list(new.values())).astype("<f4", copy=False))
        return numpy.stack([self._known[key] for key in keys]) if keys else numpy.zeros((0, self.dimension), "<f4")

    def add(self, keys: Sequence[bytes], rows: "numpy.ndarray") -> None:
        """Keep these vectors."""
        with self._rows.open("ab") as file:
            file.write(rows.tobytes())
        with self._keys.open("ab") as file:
            file.write(b"".join(keys))
        self._known.update(zip(keys, rows, strict=True))
