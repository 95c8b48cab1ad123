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
_ERROR = 0.32 * 4.5  # an estimate's usual error for a question of length 1, and how many of them it may be off


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
    """What sketches are compared with. doubt: how far a likeness may be off."""

    def __init__(self, vector: "numpy.ndarray"):
        import numpy

        most = min(_CUT / len(vector) ** 0.5, float(numpy.abs(vector).max(initial=0.0))) or 1.0
        rounded = numpy.clip(numpy.rint(vector / most * 7), -7, 7).astype("i1")
        bits = numpy.stack([rounded >> place & 1 for place in range(len(_WEIGHTS))])
        self._planes = words(bits)
        self.doubt = _ERROR * float(numpy.linalg.norm(rounded.astype("f4")))

    def likeness(self, sketches: "numpy.ndarray") -> "numpy.ndarray":
        """Whole numbers that grow with the estimated cosine."""
        import numpy

        columns = numpy.ascontiguousarray(sketches.T)
        half = len(columns) // 2
        likeness = numpy.zeros(len(sketches), "i4")
        for side, twice in ((columns[:half], 2), (columns[half:], 1)):
            for weight, plane in zip(_WEIGHTS, self._planes, strict=True):
                common = numpy.bitwise_count(side & plane[:, None]).sum(axis=0, dtype="u2")
                likeness += common.astype("i4") * (twice * weight)
        return likeness
