"""How many of something, in words that read right. Knows nothing else."""


def counted(number: int, noun: str) -> str:
    """`1 file`, `2 days`, `1,200 memories`. noun: singular, with what stands before it."""
    plural = f"{noun}es" if noun.endswith(("x", "s")) else f"{noun}s"
    if noun.endswith("y") and noun[-2] not in "aeou":
        plural = f"{noun[:-1]}ies"
    return f"{number:,} {noun if number == 1 else plural}"
