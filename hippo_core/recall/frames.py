"""Words of asking an assistant, left out when the archive is searched: there they match requests, not facts.

"Can you recommend a good way to start" is in every tenth turn of a conversation and says nothing of what it was about.
Curated memories are statements, so their search keeps these words.
"""

import re

from hippo_core.recall.query import Query
from hippo_core.recall.stopwords import STOP_WORDS

FRAME_WORDS = frozenset(
    """
    able advice ask asked asking asks based best better consider considering conversation conversations current
    currently day days decide decided deciding decision discuss discussed discussing discussion feel feeling felt figure
    figured figuring find finding finds follow following follows giving good help helped helping helps idea ideas
    include includes including information keeping look looking looks lot mention mentioned mentioning need needed needs
    new next people plan planning plans possible previous previously provide provides providing question questions
    recent recently recommend recommendation recommendations recommended recommending recommends specific specifically
    start started starting starts suggest suggested suggesting suggestion suggestions suggests taken takes taking
    think thinking thought time times tip tips today total tried try trying want wanted wants way ways week weeks
    wonder wondering work worked working works
    """.split()
)
_WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)?")
_ENDING = re.compile(r"['’](?:s|d|m|t|ll|re|ve)$", re.IGNORECASE)


def archive_words(query: Query) -> tuple[str, ...]:
    """The question's words without these; all of its words when nothing else is left."""
    words = list(dict.fromkeys(word.lower() for token in query.words for word in _WORD.findall(token)))
    kept = [word for word in words if word.replace("’", "'") not in STOP_WORDS and word not in FRAME_WORDS]
    return tuple(dict.fromkeys(_ENDING.sub("", word) for word in kept or words))
