"""Cues for other languages than English: German, French, Spanish, Chinese and Japanese.

A smaller table than the English one: rules, preferences, decisions, causes, figures, and what the user states of the
project. A sentence stays in the language it was said in. Knows single sentences only, like `cues` and `noise`.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from hippo_core.distill.cues import Cue
from hippo_core.distill.subject import is_anchored, quoted, with_stop
from hippo_core.model.types import MemoryType as T


@dataclass(frozen=True)
class Tongue:
    """words: function words by which it is told from others; empty where its script tells. cues: in order of weight.

    lead: words in front that state nothing. empty: narration, talk to the other, doubt, hypotheses. leans: a beginning
    that points to the sentence before. me: the speaker speaks of themselves. symptom: half of a remedy, no fact.
    """

    words: frozenset[str]
    cues: tuple[Cue, ...]
    lead: re.Pattern[str]
    empty: re.Pattern[str]
    leans: re.Pattern[str]
    me: re.Pattern[str]
    symptom: re.Pattern[str]


def tongues_in(text: str) -> tuple[Tongue, ...]:
    """The languages that a message may hold sentences of; none for most, so that English costs one look."""
    if not text.isascii() and _SCRIPT.search(text):
        return (_EAST,)
    words = set(text[:_ENOUGH].lower().split())
    if len(words & _FOREIGN) < _FEWEST:
        return ()
    return tuple(tongue for tongue in _WEST if len(words & tongue.words) >= _FEWEST)


def tongue_of(sentence: str, possible: tuple[Tongue, ...]) -> Tongue | None:
    """Of these languages the one that a sentence is in, None for English."""
    if _EAST in possible and _SCRIPT.search(sentence):
        return _EAST
    words = set(_WORD.findall(sentence.lower()))
    best = max(possible, key=lambda tongue: len(words & tongue.words))
    count = len(words & best.words)
    return best if count >= _FEWEST and count > len(words & _ENGLISH) else None


def find_foreign_cue(text: str, tongue: Tongue, *, spoken: bool) -> Cue | None:
    """The first cue of that language in a sentence, None also where the sentence states nothing that lasts."""
    bare = tongue.lead.sub("", text)
    if tongue.empty.search(bare) or text.endswith(("?", "？", ":", "：")):
        return None
    for cue in tongue.cues:
        if (spoken or not cue.spoken) and cue.pattern.search(bare):
            return None if cue.type is T.FACT and tongue.symptom.search(bare) else cue
    return None


def foreign_standalone(text: str, tongue: Tongue, project: str, *, by_user: bool) -> str | None:
    """`text` so that it can be read without its surroundings, or None where it cannot."""
    bare = tongue.lead.sub("", text)
    if tongue.leans.search(bare):
        return None
    if by_user and tongue.me.search(bare):
        return quoted(bare)
    told = with_stop(bare)
    return told if is_anchored(bare) or not project else f"In {project}: {told}"


def _cues(*rows: tuple[T, float, bool, str]) -> Iterator[Cue]:
    for kind, strength, spoken, pattern in rows:
        yield Cue(kind, strength, (pattern,), spoken)


def _west(words: str, lead: str, empty: str, leans: str, me: str, symptom: str, *cues: tuple) -> Tongue:
    lead = rf"^(?:(?:{lead})(?:[,:;.!]+\s+|\s+(?=\S)))+"
    patterns = (re.compile(pattern, re.IGNORECASE) for pattern in (lead, empty, leans, me, symptom))
    return Tongue(frozenset(words.split()), tuple(_cues(*cues)), *patterns)


_FEWEST = 2
_ENOUGH = 600  # characters from which a message's languages can be told
_WORD = re.compile(r"[^\W\d_]+")
_SCRIPT = re.compile("[\u3040-\u30ff\u4e00-\u9fff]{5}")
_ENGLISH = frozenset("the and of to is it we that this for with you are be by".split())

_GERMAN = _west(
    "der das und nicht ist wir ich ein eine einen für auf mit weil den dem im bitte niemals immer nie auch wird werden "
    "ohne bevorzuge haben habe nur noch aber oder wenn sind bei nach aus vor statt von zum zur des keine kein sich "
    "wie uns alle ab",
    "genau|also|übrigens|noch was|ja|nein|nee|ok|okay|super|gut|und|aber|außerdem|btw|für die zukunft|wichtig|achtung|"
    "merk dir|klar|prima|danke|sehr gut|erledigt|fertig",
    r"^(?:ich (?:sehe|schaue?|prüfe|werde|kann|mache|lese|suche|teste)\b|soll(?:en)? |lass |gerne|kannst|könntest|"
    r"schau|"
    r"mach(?:en wir)? |wollen wir|verstanden)|\b(?:vielleicht|mal sehen|irgendwann|eventuell|evtl|könnten?|"
    r"würden?|hätten?|wäre|stell dir vor|schau mal|glaube ich|vermutlich|wahrscheinlich|dir|deine?)\b",
    r"^(?:das|die|der|es|sie|er|dies\w*|den|dem|dort|dann|damit|dabei|dadurch|deshalb|daher) (?:ist|sind|war|waren|"
    r"wird|"
    r"werden|hat|haben|habe|liegt|geht|kann|muss|soll|sollte|macht|bleibt|reicht|passt|funktioniert|ich|wir|kommt)\b|"
    r"\b(?:heute|morgen|gestern|gerade eben|oben|unten|hier)\b",
    r"\b(?:ich|mir|mich|mein\w*)\b",
    r"\b(?:falsch\w*|kaputt|fehlt|fehlen|stürzt|hängt|langsam|fehler\w*|nicht mehr|schlägt|geht nicht|abbr\w+|"
    r"bricht)\b",
    (
        T.RULE,
        0.9,
        True,
        r"\b(?:niemals|nie wieder|auf keinen fall|ab (?:jetzt|sofort))\b|^(?:bitte )?(?:immer|nie|keine?)\b|"
        r"\b(?:immer|nie|stets)\b.*\b(?:muss|müssen|sollen?|darf|dürfen)\b|\b(?:muss|müssen|sollen?|darf|dürfen)\b.*"
        r"\b(?:immer|nie|stets|nicht|keine?n?)\b|^\w+e? (?:bitte )?(?:immer|nie) ",
    ),
    (
        T.PREFERENCE,
        0.85,
        True,
        r"\bich (?:bevorzuge|mag|hasse|hätte lieber|will lieber|arbeite (?:lieber|am liebsten)|nutze (?:lieber|am "
        r"liebsten|immer))\b|\b(?:ist|sind) mir\b.*\blieber\b",
    ),
    (
        T.DECISION,
        0.9,
        False,
        r"\bvon .{2,40} (?:auf|zu) .{2,40} (?:umgestiegen|gewechselt|umgestellt|migriert)\b|"
        r"\b(?:wir|ich) hab(?:en?)?\b.{0,80}\b(?:entschieden|beschlossen|festgelegt|geeinigt)\b|\bentscheidung: |"
        r"\bwir (?:nehmen|nutzen|verwenden|benutzen|setzen|bleiben|steigen|wechseln|stellen)\b.{3,}\b(?:statt|weil|"
        r"da)\b",
    ),
    (
        T.DECISION,
        0.75,
        True,
        r"\bwir (?:nehmen|nutzen|verwenden|benutzen|setzen|bleiben|steigen|wechseln|stellen)\b.{8,}",
    ),
    (
        T.INSIGHT,
        0.9,
        False,
        r"\b(?:ursache|problem|fehler|grund)\b.{0,40}\b(?:ist|war|liegt|lag|kommt|kam)\b|\b(?:liegt|lag) daran\b|"
        r"\b(?:schl\w+ fehl|bricht ab|hängt|stürzt ab)\b.*\bweil\b|^`[^`]+`.*\bweil\b",
    ),
    (
        T.RESULT,
        0.85,
        False,
        r"\d.{0,20}\bstatt (?:vorher |bisher )?\d|\bvon \d\S*.{0,20} auf \d|\d.{0,20}\b(?:schneller|kleiner|weniger)\b",
    ),
    (T.TODO, 0.75, False, r"\b(?:müssen|muss) (?:wir |ich )?noch\b|\bfehlt noch\b|\bnoch (?:offen|zu tun)\b"),
    (T.PROCEDURE, 0.75, False, r"`[^`]{4,}`.*\b(?:ausführen|aufrufen|starten|laufen lassen)\b"),
    (
        T.FACT,
        0.65,
        True,
        r"^(?!ich\b|du\b|kannst|es\b|das ist)(?:\S+ ){1,6}(?:ist|sind|hat|haben|läuft|laufen|liegt|liegen|bekommt|"
        r"bekommen|wird|werden|gibt|kommt|kommen|gehört|gehören|braucht|nutzt|steht|stehen|speichert|heißt|verwendet|"
        r"geht|gehen)\b(?: \S+){2,}",
    ),
)

_FRENCH = _west(
    "le la les des est une un dans pour que qui ne pas nous je tu avec du au aux et mais parce toujours jamais sont ce "
    "cette il elle se sa son par plus quand si d l on de n",
    "ah|ok|oui|non|top|d'accord|et|mais|au fait|note|bon|donc|alors|super|parfait|merci|important",
    r"^(?:je (?:regarde|vais|vérifie|peux|lance|lis|cherche|retire)\b|voulez|veux-tu|tu (?:peux|veux)|peux-tu|on "
    r"(?:peut|va)"
    r" )|\b(?:peut-être|on verra|un jour|imagine|pourrai\w*|serai\w*|si on|tu peux|tu veux|vous|je pense|corrige)\b",
    r"^(?:ça|cela|ceci|ce|c'est|celui|celle|ils?(?! faut)|elles?|y|en|là|donc)\b|\b(?:aujourd'hui|demain|hier|"
    r"ci-dessus|"
    r"ci-dessous)\b",
    r"\b(?:je|j'\w+|mon|ma|mes|moi)\b",
    r"\b(?:plante|se vide|échoue|cassé\w*|lente?|erreur|bloque|ne marche|ne fonctionne)\b",
    (
        T.RULE,
        0.9,
        True,
        r"\bn(?:e |')\S+ (?:jamais|pas d)|\bne jamais\b|^(?:\w+ )?toujours\b|\bil ne? faut\b.*\b(?:toujours|jamais|"
        r"pas)\b|"
        r"\b(?:désormais|à partir de maintenant)\b|\bdoi(?:t|vent) (?:toujours|jamais)\b",
    ),
    (T.PREFERENCE, 0.85, True, r"\bje (?:préfère|n'aime pas|déteste)\b|\bj'aime mieux\b"),
    (
        T.DECISION,
        0.9,
        False,
        r"\b(?:passés?|migré) de .{2,40} à |\bremplacé .{2,40} par |"
        r"\b(?:on a|nous avons|j'ai) (?:décidé|choisi|opté|retenu|abandonné)\b|\b(?:on|nous) (?:utilis\w+|gard\w+|"
        r"rest\w+|"
        r"pass\w+)\b.{3,}\b(?:parce|car|au lieu|plutôt)\b",
    ),
    (T.DECISION, 0.75, True, r"\b(?:on|nous) (?:utilis\w+|gard\w+|rest\w+|pass\w+ (?:à|sur))\b.{8,}"),
    (
        T.INSIGHT,
        0.9,
        False,
        r"\b(?:le (?:problème|bug|souci)|la cause|l'erreur)\b.{0,30}\b(?:vient|venait|est|était|c'est)\b|"
        r"^corrigé ?: |\b(?:échoue\w*|plante\w*|bloque\w*) (?:parce|car)\b|^`[^`]+`.*\b(?:parce|car)\b",
    ),
    (T.RESULT, 0.85, False, r"\bde \d\S*.{0,20} à \d|\d.{0,20}\bau lieu de \d|\bcontre \d.* avant\b"),
    (T.TODO, 0.75, False, r"\bil (?:reste|manque)\b|\bil faut encore\b|\breste à faire\b"),
    (T.PROCEDURE, 0.75, False, r"\b(?:lance[rz]?|exécute[rz]?|utilise[rz]?) `[^`]{4,}`"),
    (
        T.FACT,
        0.65,
        True,
        r"^(?:les?|la|l'|nos|notre|tout\w*|chaque)\b.{2,60}?\b(?:est|sont|a|ont|utilisent?|tournent?|stockent?|"
        r"doi(?:t|vent)|passent?|vi(?:t|vent))\b(?: \S+){2,}",
    ),
)

_SPANISH = _west(
    "el la los las es una un en para que con por se lo del al siempre nunca porque está son hay de su y como pero "
    "si más "
    "sin cuando decidimos prefiero",
    "vale|sí|no|entonces|ah|y|pero|por cierto|perfecto|bueno|ok|gracias|además|importante|hola",
    r"^(?:voy a|déjame|puedo|¿|vamos a (?:ver|revisar)|reviso|miro|puedes|podrías|lo haré)|\b(?:quizás?|tal vez|"
    r"algún día|"
    r"a lo mejor|imagina|podría\w*|creo que|sería|te|tú|puedes)\b",
    r"^(?:eso|esto|ese|esa|ello|lo|así|allí|aquí|entonces|él|ella|ellos)\b|\b(?:hoy|mañana|ayer|arriba|abajo)\b",
    r"\b(?:yo|mis?|me|prefiero|quiero|odio)\b",
    r"\b(?:se cierra|falla\w*|roto|lento|no funciona|no carga|error|se cuelga)\b",
    (
        T.RULE,
        0.9,
        True,
        r"\b(?:nunca|jamás)\b|^(?:por favor,? )?siempre\b|\bsiempre (?:hay que|deben?|tiene)\b|\b(?:de|a partir de) "
        r"ahora "
        r"(?:en adelante)?|^(?:por favor,? )?no (?:uses|hagas|subas|toques|pongas|escribas|borres)\b",
    ),
    (T.PREFERENCE, 0.85, True, r"\b(?:prefiero|me gusta más|no me gusta|odio)\b"),
    (
        T.DECISION,
        0.9,
        False,
        r"\b(?:cambiamos|pasamos|migramos) de .{2,40} a |"
        r"\b(?:decidimos|hemos decidido|decidí|elegimos|optamos|nos quedamos con)\b|\b(?:usamos|"
        r"usaremos)\b.{3,}\b(?:porque"
        r"|en (?:vez|lugar) de)\b",
    ),
    (T.DECISION, 0.75, True, r"\b(?:usamos|usaremos|vamos a usar|seguimos con)\b.{8,}"),
    (
        T.INSIGHT,
        0.9,
        False,
        r"\b(?:el (?:problema|error|fallo)|la causa)\b.{0,30}\b(?:era|es|está|estaba|fue|viene|venía)\b|\bfalla\w* "
        r"porque\b|"
        r"^`[^`]+`.*\bporque\b",
    ),
    (T.RESULT, 0.85, False, r"\bde \d\S*.{0,20} a \d|\d.{0,20}\ben (?:vez|lugar) de \d"),
    (T.TODO, 0.75, False, r"\b(?:falta|queda) (?:por )?\w+r\b|\btodavía (?:hay que|falta)\b"),
    (T.PROCEDURE, 0.75, False, r"\b(?:ejecuta\w*|usa|lanza\w*) `[^`]{4,}`"),
    (
        T.FACT,
        0.65,
        True,
        r"^(?:el|la|los|las|nuestr\w+|tod\w+|cada)\b.{2,60}?\b(?:es|está|están|son|tienen?|usan?|corren?|viven?|se "
        r"guardan?|"
        r"van|pasan?)\b(?: \S+){2,}",
    ),
)
_WEST = (_GERMAN, _FRENCH, _SPANISH)
_FOREIGN = frozenset().union(*(tongue.words for tongue in _WEST))

_EAST = Tongue(
    frozenset(),
    tuple(
        _cues(
            (
                T.RULE,
                0.9,
                True,
                "永远不要|千万不要|绝对不要|绝不能|务必|一律|以后都|以后不要|不要(?:用|使用|提交|修改|删)|必须"
                "|必ず|絶対に|今後は|しないで(?:ください|くれ)|禁止",
            ),
            (T.PREFERENCE, 0.85, True, "我(?:更)?(?:喜欢|偏好)|我习惯|の方が好き|が好みです|のほうがいい"),
            (
                T.DECISION,
                0.9,
                False,
                "我们决定|决定(?:用|采用|使用|不)|改用|改成|换成|ことにし(?:た|ました)|に決め(?:た|ました)|を採用",
            ),
            (T.INSIGHT, 0.9, False, "(?:根本)?原因(?:是|在于)|问题(?:是|在于|出在)|原因は|ためです。?$|のが原因"),
            (T.RESULT, 0.85, False, r"从\s?\d.{0,20}(?:降到|减少到|缩短到|提升到|提高到)\s?\d|\d\S{0,12}から\s?\d"),
            (T.TODO, 0.75, False, "还没(?:有)?(?:做|完成|实现)|待办|未対応|まだ.{2,20}(?:ていない|ていません)"),
        )
    ),
    re.compile("^(?:好的|对了|另外|顺便|ところで|ちなみに|あと)[,，、。:：]?"),
    re.compile("^(?:让我|我来|我先|我会|看看|まず|では)|也许|可能|如果|或许|吗$|かもしれ|たぶん|もし"),
    re.compile("^(?:这|那|它|他|她|これ|それ|あれ|この|その)"),
    re.compile("我(?!们)|私|僕|俺"),
    re.compile("报错|失败|崩溃|エラー"),
)
