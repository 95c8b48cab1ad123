"""The model's graph, rewritten before it is loaded, so that loading takes a fifth of the memory and of the time.

The weights stay in their file, which the runtime then maps instead of copying. And a text's words pick their rows out
of the table of all words before these are turned from bytes into numbers: the model as published turns 30,000 rows to
pick a few. Neither changes a result.

Knows ONNX's format as far as it needs it (protocol buffers; onnx.proto in github.com/onnx/onnx has the field numbers);
what it does not recognise it leaves as it is. Raises ValueError or IndexError for what is no model.
"""

from collections import Counter
from collections.abc import Iterator
from typing import NamedTuple

# Field numbers of ModelProto, GraphProto, NodeProto, TensorProto and StringStringEntryProto.
_GRAPH = 7
_NODE, _INITIALIZER = 1, 5
_INPUT, _OUTPUT, _NAME, _OPERATOR = 1, 2, 3, 4
_RAW, _EXTERNAL, _LOCATION = 9, 13, 14
_KEY, _VALUE = 1, 2
_VARINT, _FIXED64, _BYTES, _FIXED32 = 0, 1, 2, 5
_SMALLEST = 1024  # bytes of a weight that is worth leaving in its file


class _Field(NamedTuple):
    """number: which; whole: its bytes, tag and all; data: of one that holds bytes, those; start: where data begins."""

    number: int
    whole: memoryview
    data: memoryview
    start: int


class _Node(NamedTuple):
    """whole: its field in the model as published, None for a new one."""

    operator: str
    inputs: list[str]
    outputs: list[str]
    attributes: bytes
    whole: memoryview | None = None


def lean(model: memoryview, file_name: str) -> bytes:
    """The graph of `model`, which lies in a file of that name beside the one it will be loaded from."""
    return b"".join(
        _graph(field, file_name) if field.number == _GRAPH else bytes(field.whole) for field in _fields(model, 0)
    )


def _graph(graph: _Field, file_name: str) -> bytes:
    fields = list(_fields(graph.data, graph.start))
    nodes = _rows_first([_node(field) for field in fields if field.number == _NODE])
    parts = [_bytes(_NODE, _packed(node)) if node.whole is None else node.whole for node in nodes]
    for field in fields:
        if field.number == _INITIALIZER:
            parts.append(_bytes(_INITIALIZER, _outside(field, file_name)))
        elif field.number != _NODE:
            parts.append(field.whole)
    return _bytes(_GRAPH, b"".join(parts))


def _rows_first(nodes: list[_Node]) -> list[_Node]:
    """Cast(table), Mul by its scale, Gather(rows) as Gather of both, Cast, Mul: of a few rows, not of all."""
    makers = {output: node for node in nodes for output in node.outputs}
    uses = Counter(name for node in nodes for name in node.inputs)
    done: list[_Node] = []
    replaced: list[_Node] = []
    for node in nodes:
        scaled = makers.get(node.inputs[0]) if node.operator == "Gather" else None
        cast = makers.get(scaled.inputs[0]) if scaled and scaled.operator == "Mul" else None
        if not cast or cast.operator != "Cast" or uses[scaled.outputs[0]] != 1 or uses[cast.outputs[0]] != 1:
            done.append(node)
            continue
        replaced += [scaled, cast]
        (name,), rows = node.outputs, node.inputs[1]
        done += [
            _Node("Gather", [cast.inputs[0], rows], [f"{name}/bytes"], node.attributes),
            _Node("Gather", [scaled.inputs[1], rows], [f"{name}/scale"], node.attributes),
            _Node("Cast", [f"{name}/bytes"], [f"{name}/unscaled"], cast.attributes),
            _Node("Mul", [f"{name}/unscaled", f"{name}/scale"], [name], scaled.attributes),
        ]
    return [node for node in done if node not in replaced]


def _outside(tensor: _Field, file_name: str) -> bytes:
    """A weight as the place of its bytes in the file, unless it is small."""
    parts = []
    for field in _fields(tensor.data, tensor.start):
        if field.number == _RAW and len(field.data) >= _SMALLEST:
            place = {"location": file_name, "offset": str(field.start), "length": str(len(field.data))}
            for key, value in place.items():
                parts.append(_bytes(_EXTERNAL, _bytes(_KEY, key.encode()) + _bytes(_VALUE, value.encode())))
            parts.append(_varint(_LOCATION << 3 | _VARINT) + b"\1")
        else:
            parts.append(field.whole)
    return b"".join(parts)


def _node(node: _Field) -> _Node:
    operator, inputs, outputs, attributes = "", [], [], b""
    for number, whole, data, _ in _fields(node.data, node.start):
        if number == _INPUT:
            inputs.append(str(data, "utf-8"))
        elif number == _OUTPUT:
            outputs.append(str(data, "utf-8"))
        elif number == _OPERATOR:
            operator = str(data, "utf-8")
        elif number != _NAME:  # which is optional, and two may not have the same
            attributes += whole
    return _Node(operator, inputs, outputs, attributes, node.whole)


def _packed(node: _Node) -> bytes:
    parts = [_bytes(_INPUT, name.encode()) for name in node.inputs]
    parts += [_bytes(_OUTPUT, name.encode()) for name in node.outputs]
    return b"".join([*parts, _bytes(_OPERATOR, node.operator.encode()), node.attributes])


def _fields(data: memoryview, start: int) -> Iterator[_Field]:
    """The fields of a message. start: where the message begins in the file."""
    at = 0
    while at < len(data):
        tag, inner = _read_varint(data, at)
        kind = tag & 7
        if kind == _BYTES:
            size, inner = _read_varint(data, inner)
            end = inner + size
        elif kind == _VARINT:
            _, end = _read_varint(data, inner)
        elif kind in (_FIXED32, _FIXED64):
            end = inner + (4 if kind == _FIXED32 else 8)
        else:
            raise ValueError("no ONNX model")
        if end > len(data):
            raise ValueError("an ONNX model that is cut off")
        yield _Field(tag >> 3, data[at:end], data[inner:end], start + inner)
        at = end


def _read_varint(data: memoryview, at: int) -> tuple[int, int]:
    """(the number at that place, the place after it)."""
    if (number := data[at]) < 0x80:  # as most are
        return number, at + 1
    number = shift = 0
    while True:
        byte = data[at]
        number |= (byte & 0x7F) << shift
        at, shift = at + 1, shift + 7
        if byte < 0x80:
            return number, at


def _varint(number: int) -> bytes:
    parts = bytearray()
    while number > 0x7F:
        parts.append(number & 0x7F | 0x80)
        number >>= 7
    return bytes([*parts, number])


def _bytes(number: int, data: bytes) -> bytes:
    return _varint(number << 3 | _BYTES) + _varint(len(data)) + data
