"""Plain data and the policy table. No I/O.

Named tuples on the way of a search: a dataclass takes half a millisecond to make, nineteen of them a fifth of a cold one.
"""
