"""Plain data and the policy table. No I/O.

Named tuples, as all that a search of memories imports: to make a dataclass takes half a millisecond, and a cold search
nineteen.
"""
