"""A cross-encoder of a few hundred bytes: ONNX by hand, and a tokenizer. Its score counts the words that question and
text share, where "why" and "vault" count as one word."""

import json
import struct

MEANING = {"why": 0, "vault": 0, "gate": 1, "disk": 2}
_SPECIAL = ("[UNK]", "[CLS]", "[SEP]")
_WORDS = [*_SPECIAL, *MEANING]
_MEANINGS = 3
_FLOAT, _INT64, _BOOL = 1, 7, 9


def put(folder, head=(1.0,), inputs=("input_ids", "attention_mask", "token_type_ids"), place="model.onnx", window=None):
    """A folder with such a model. head: what the count is multiplied by, for each number that it gives."""
    (folder / place).parent.mkdir(parents=True, exist_ok=True)
    (folder / place).write_bytes(_model(head, inputs))
    _tokenizer().save(str(folder / "tokenizer.json"))
    if window:
        (folder / "config.json").write_text(json.dumps({"max_position_embeddings": window}), encoding="utf-8")
    return str(folder)


def put_endless(folder):
    """The same with a graph that never ends: a loop that hands its number on."""
    put(folder)
    inner = [_node("Identity", ["going"], "goes_on"), _node("Identity", ["kept"], "handed_on")]
    taken = [_value("turn", _INT64, []), _value("going", _BOOL, []), _value("kept", _FLOAT, ["n", "s"])]
    given = [_value("goes_on", _BOOL, []), _value("handed_on", _FLOAT, ["n", "s"])]
    parts = [(1, inner), (2, [b"body"]), (11, taken), (12, given)]
    body = b"".join(_field(number, data) for number, some in parts for data in some)
    loop = _node("Loop", ["most", "at_first", "number"], "logits")
    loop += _field(5, _field(1, b"body") + _field(6, body) + _number(20, 5))
    nodes = [_node("Cast", ["input_ids"], "number", to=_FLOAT), loop]
    graph = b"".join(_field(1, node) for node in nodes) + _field(2, b"endless")
    graph += _field(5, _single("most", _INT64, struct.pack("<q", 2**62))) + _field(5, _single("at_first", _BOOL, b"\1"))
    graph += _field(11, _value("input_ids", _INT64, ["n", "s"])) + _field(12, _value("logits", _FLOAT, ["n", "s"]))
    (folder / "model.onnx").write_bytes(_file(graph))
    return str(folder)


def _tokenizer():
    from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors

    tokenizer = Tokenizer(models.WordLevel({word: i for i, word in enumerate(_WORDS)}, "[UNK]"))
    tokenizer.normalizer = normalizers.Lowercase()
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.post_processor = processors.TemplateProcessing(
        "[CLS] $A [SEP]", "[CLS] $A [SEP] $B:1 [SEP]:1", [(word, _WORDS.index(word)) for word in _SPECIAL]
    )
    tokenizer.enable_padding(length=64, pad_id=_WORDS.index("vault"))  # as some are published; read, it would count
    return tokenizer


def _model(head, inputs):
    """Of each side the words' rows, summed; then one side times the other. Without token types: all, squared."""
    typed = "token_type_ids" in inputs
    rows = [[float(MEANING.get(word) == column) for column in range(_MEANINGS)] for word in _WORDS]
    of_text, of_question = ("text", "question") if typed else ("mask", "mask")
    nodes = [
        _node("Gather", ["rows", "input_ids"], "words"),
        _node("Cast", ["attention_mask"], "mask", to=_FLOAT),
        *([_node("Cast", ["token_type_ids"], "type", to=_FLOAT)] if typed else []),
        *([_node("Mul", ["type", "mask"], "text"), _node("Sub", ["mask", "text"], "question")] if typed else []),
        _node("Einsum", [of_question, "words"], "asked", equation="ns,nsd->nd"),
        _node("Einsum", [of_text, "words"], "said", equation="ns,nsd->nd"),
        _node("Einsum", ["asked", "said"], "shared", equation="nd,nd->n"),
        _node("Einsum", ["shared", "head"], "logits", equation="n,o->no"),
    ]
    graph = b"".join(_field(1, node) for node in nodes) + _field(2, b"tiny")
    graph += _field(5, _floats("rows", [len(rows), _MEANINGS], sum(rows, [])))
    graph += _field(5, _floats("head", [len(head)], head))
    graph += b"".join(_field(11, _value(name, _INT64, ["n", "s"])) for name in inputs)
    graph += _field(12, _value("logits", _FLOAT, ["n", "o"]))
    return _file(graph)


def _file(graph):
    return _number(1, 8) + _field(7, graph) + _field(8, _number(2, 13))  # version of the format, and of the operators


def _node(operator, inputs, output, to=None, equation=None):
    parts = [_field(1, name.encode()) for name in inputs] + [_field(2, output.encode()), _field(4, operator.encode())]
    if to is not None:
        parts.append(_field(5, _field(1, b"to") + _number(3, to) + _number(20, 2)))
    if equation is not None:
        parts.append(_field(5, _field(1, b"equation") + _field(4, equation.encode()) + _number(20, 3)))
    return b"".join(parts)


def _floats(name, shape, values):
    sizes = b"".join(_number(1, size) for size in shape)
    return sizes + _number(2, _FLOAT) + _field(8, name.encode()) + _field(9, struct.pack(f"<{len(values)}f", *values))


def _single(name, kind, data):
    return _number(2, kind) + _field(8, name.encode()) + _field(9, data)


def _value(name, kind, shape):
    dimensions = b"".join(_field(1, _field(2, size.encode())) for size in shape)
    return _field(1, name.encode()) + _field(2, _field(1, _number(1, kind) + _field(2, dimensions)))


def _field(number, data):
    return _varint(number << 3 | 2) + _varint(len(data)) + data


def _number(number, value):
    return _varint(number << 3) + _varint(value)


def _varint(value):
    parts = bytearray()
    while value > 0x7F:
        parts.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes([*parts, value])
