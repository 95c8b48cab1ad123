"""How many of something, in words that read right. Knows nothing else."""


def counted(number: int, noun: str) -> str:
    """`1 file`, `2 days`, `1,200 memories`. noun: singular, with what stands before it."""
    plural = f"{noun}es" if noun.endswith(("x", "s")) else f"{noun}s"
    if noun.endswith("y") and noun[-2] not in "aeou":
        plural = f"{noun[:-1]}ies"
    return f"{number:,} {noun if number == 1 else plural}"


def where_sessions_are(sessions: int, projects: int, outside: int) -> str:
    """`77 sessions: 32 in 15 projects, 45 outside any`. outside: sessions that belong to no project."""
    if not outside:
        return f"{counted(sessions, 'session')} in {counted(projects, 'project')}"
    if outside == sessions:
        return f"{counted(sessions, 'session')} outside any project"
    inside = f"{sessions - outside:,} in {counted(projects, 'project')}"
    return f"{counted(sessions, 'session')}: {inside}, {outside:,} outside any"
