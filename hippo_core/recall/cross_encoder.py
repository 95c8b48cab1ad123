"""A reranker on this machine: a cross-encoder that the user put into a folder, run by ONNX Runtime. Nobody pays.

The folder holds `tokenizer.json` and the model, as `model.onnx` or `onnx/model.onnx`. Files are read; nothing is ever
fetched, and nothing leaves the machine. Knows no model by name: any will do that takes BERT's inputs for a pair of
texts and gives it one number, or one against and one for.
"""

import contextlib
import json
import math
import os
import threading
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from typing import TYPE_CHECKING, NamedTuple

from hippo_core.embed.borders import well_formed
from hippo_core.embed.runtime import open_session
from hippo_core.errors import RerankerUnavailableError
from hippo_core.recall.rerank import BUDGET

if TYPE_CHECKING:
    import onnxruntime
    import tokenizers

BATCH = 4  # pairs; between two batches it is seen whether time is up
_MODELS = ("model.onnx", os.path.join("onnx", "model.onnx"))
_MOST_TOKENS = 512  # of a pair, also of a model that could read more
_MOST_LETTERS = 10_000  # of one text: more than the window holds, and not more to take apart


class CrossEncoder:
    """A Reranker. It is loaded at the first question, by a thread that goes on when nobody waits for it any more."""

    def __init__(self, folder: str | None) -> None:
        self._folder = os.path.expanduser(folder or "")
        # Else it would depend on where a command is given what is loaded.
        if not os.path.isabs(self._folder):
            raise RerankerUnavailableError(
                "reranker: local needs reranker_folder, the full path of the model's folder."
            )
        self._model: _Model | None = None
        self._worker = ThreadPoolExecutor(1, "reranker")

    def __call__(self, question: str, candidates: Sequence[tuple[int, str]]) -> Mapping[int, float]:
        """What was read in time, best first."""
        judged: dict[int, float] = {}
        late = _Late()
        reading = self._worker.submit(self._read, question, candidates, judged, late)
        wait([reading], BUDGET)
        if not reading.done():
            late.set()
            if not judged:
                raise RerankerUnavailableError(f"The model in {self._folder} read nothing within {BUDGET:g} s.")
        elif error := reading.exception():
            raise RerankerUnavailableError(f"The model in {self._folder} cannot be used: {_line(error)}") from error
        return dict(judged)

    def _read(
        self, question: str, candidates: Sequence[tuple[int, str]], judged: dict[int, float], late: "_Late"
    ) -> None:
        if self._model is None:
            self._model = _open(self._folder)
        options = late.stopping()
        for start in range(0, len(candidates), BATCH):
            if late.is_set():
                return
            batch = candidates[start : start + BATCH]
            scores = self._model.scores(question, [text for _, text in batch], options)
            judged |= zip([number for number, _ in batch], scores, strict=True)


class _Late(threading.Event):
    """Set when nobody waits any more. A run under way then ends at its next node, for a graph may never end by itself,
    and a process waits for its threads when it ends."""

    _options: "onnxruntime.RunOptions | None" = None

    def stopping(self) -> "onnxruntime.RunOptions":
        """Options for runs that this ends. Whether it is set already has to be asked afterwards."""
        import onnxruntime

        self._options = onnxruntime.RunOptions()
        self._options.log_severity_level = 4  # that a run was ended is no complaint
        return self._options

    def set(self) -> None:
        super().set()
        if self._options is not None:
            self._options.terminate = True


class _Model(NamedTuple):
    tokenizer: "tokenizers.Tokenizer"
    session: "onnxruntime.InferenceSession"

    def scores(self, question: str, texts: Sequence[str], options: "onnxruntime.RunOptions") -> list[float]:
        import numpy

        pairs = [(well_formed(question)[:_MOST_LETTERS], well_formed(text)[:_MOST_LETTERS]) for text in texts]
        encoded = self.tokenizer.encode_batch(pairs)
        shape = len(encoded), max(len(pair.ids) for pair in encoded)
        ids, mask, types = (numpy.zeros(shape, dtype=numpy.int64) for _ in range(3))
        for row, pair in enumerate(encoded):
            ids[row, : len(pair.ids)], mask[row, : len(pair.ids)] = pair.ids, 1
            types[row, : len(pair.ids)] = pair.type_ids
        inputs = {"input_ids": ids, "attention_mask": mask, "token_type_ids": types}
        taken = {one.name: inputs[one.name] for one in self.session.get_inputs() if one.name in inputs}
        given = numpy.asarray(self.session.run(None, taken, options)[0], dtype=float).reshape(len(texts), -1)
        if given.shape[1] not in (1, 2):
            raise ValueError(f"it gives {given.shape[1]} numbers for a pair, which is no cross-encoder")
        scores = (given[:, -1] if given.shape[1] == 1 else given[:, 1] - given[:, 0]).tolist()
        if not all(map(math.isfinite, scores)):
            raise ValueError("it gives what is no number")
        return scores


def _open(folder: str) -> _Model:
    from tokenizers import Tokenizer

    path = next((path for name in _MODELS if os.path.isfile(path := os.path.join(folder, name))), None)
    if path is None:
        raise FileNotFoundError(f"it has no {_MODELS[0]}")
    tokens = os.path.join(folder, "tokenizer.json")
    if not os.path.isfile(tokens):  # a pipe would be waited for with the interpreter held: no budget would end that
        raise FileNotFoundError("it has no tokenizer.json")
    tokenizer = Tokenizer.from_file(tokens)
    tokenizer.no_padding()  # some pad every pair to the full window
    tokenizer.enable_truncation(_window(folder, tokenizer))
    return _Model(tokenizer, open_session(path, os.path.dirname(path)))


def _window(folder: str, tokenizer: "tokenizers.Tokenizer") -> int:
    """How many tokens the model can take, as far as its files say."""
    said = [(tokenizer.truncation or {}).get("max_length")]
    config = os.path.join(folder, "config.json")
    if os.path.isfile(config):
        with (
            contextlib.suppress(OSError, ValueError, KeyError, TypeError),
            open(config, encoding="utf-8") as file,
        ):
            said.append(json.load(file)["max_position_embeddings"])
    return min([_MOST_TOKENS, *(size for size in said if isinstance(size, int))])


def _line(error: BaseException) -> str:
    return (str(error).splitlines() or [type(error).__name__])[0]
