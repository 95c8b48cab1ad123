"""Sketches of vectors: two bits for each number, from which a question's cosine to each is estimated.

The bits say where a number lies, as -3, -1, 1 or 3: the usual distance from zero, 1/√d in a unit vector, parts the
middle from the ends. The question's numbers are rounded to four bits, so that a product of both is a count of common
bits. Needs NumPy. Knows nothing of tables.
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy

_WEIGHTS = (1, 2, 4, -8)  # of the question's four bits
_CUT = 3.0  # the question's numbers end there, in usual ones: a single large one would make all others coarse
# How far an estimate is usually off for a question of length 1, from half of a sketch and from all of it; and by how
# many times that much none of the nearest is.
_HALF_OFF, _OFF, _TIMES = 0.30, 0.32, 4.5
_MOST_EACH = 40  # for each that is wanted, so many at most are likely; of real vectors 2 to 12 are
_STRIDE = 8_192  # compared at once, so that they stay in the processor's cache


def words(bits: "numpy.ndarray") -> "numpy.ndarray":
    """Rows of bits as rows of machine words, filled up with zeros."""
    import numpy

    packed = numpy.packbits(bits, axis=1)
    filled = numpy.zeros((len(packed), width(bits.shape[1])), "u1")
    filled[:, : packed.shape[1]] = packed
    return filled.view("<u8")


def width(bits: int) -> int:
    """Bytes of so many bits: whole machine words."""
    return -(-bits // 64) * 8


def sketches(vectors: "numpy.ndarray") -> "numpy.ndarray":
    """Of each row its sketch, as machine words: whether its numbers are above zero, then which half of that side."""
    import numpy

    positive, far = vectors > 0, numpy.abs(vectors) > vectors.shape[1] ** -0.5
    return numpy.concatenate([words(positive), words(positive == far)], axis=1)


class Question:
    """What sketches are compared with."""

    def __init__(self, vector: "numpy.ndarray"):
        import numpy

        most = min(_CUT / len(vector) ** 0.5, float(numpy.abs(vector).max(initial=0.0))) or 1.0
        rounded = numpy.clip(numpy.rint(vector / most * 7), -7, 7).astype("i1")
        self._planes = words(numpy.stack([rounded >> place & 1 for place in range(len(_WEIGHTS))]))
        self._length = float(numpy.linalg.norm(rounded.astype("f4")))

    def likeliest(self, sketches: "numpy.ndarray", taken: "numpy.ndarray", limit: int) -> "numpy.ndarray":
        """Places in `sketches`, in order, of the vectors that may be among the nearest `limit`; of those `taken`."""
        import numpy

        half = sketches.shape[1] // 2
        if numpy.count_nonzero(taken) <= limit:
            return numpy.flatnonzero(taken)
        parts = (sketches[start : start + _STRIDE, :half] for start in range(0, len(sketches), _STRIDE))
        likeness = numpy.concatenate([self._common(part) for part in parts])
        likeness[taken == 0] = numpy.iinfo("i4").min
        places = numpy.flatnonzero(likeness >= _best(likeness, limit) - _TIMES * _HALF_OFF * self._length)
        likeness = 2 * likeness[places] + self._common(sketches[places, half:])
        likely = likeness >= _best(likeness, limit) - _TIMES * _OFF * self._length
        if numpy.count_nonzero(likely) > (most := _MOST_EACH * limit):
            return numpy.sort(places[numpy.argsort(-likeness, kind="stable")[:most]])
        return places[likely]

    def _common(self, rows: "numpy.ndarray") -> "numpy.ndarray":
        """The sum of the question's numbers where a row has a bit."""
        import numpy

        columns = numpy.ascontiguousarray(rows.T)
        total = numpy.zeros(len(rows), "i4")
        for weight, plane in zip(_WEIGHTS, self._planes, strict=True):
            common = numpy.bitwise_count(columns & plane[:, None]).sum(axis=0, dtype="u2")
            total += common.astype("i4") * weight
        return total


def _best(likeness: "numpy.ndarray", limit: int) -> int:
    """What the best `limit` reach."""
    import numpy

    return numpy.partition(likeness, -limit)[-limit]
