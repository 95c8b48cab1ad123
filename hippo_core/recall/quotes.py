"""What a question quotes."""

import re

QUOTED = re.compile(r"\"([^\"\n]{2,80})\"|`([^`\n]{2,80})`|“([^”\n]{2,80})”|«([^»\n]{2,80})»")


def quotations(text: str) -> list[str]:
    """What stands in quotes, of any kind."""
    return [next(filter(None, found)).strip() for found in QUOTED.findall(text)]
