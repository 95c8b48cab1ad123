"""Secrets in command lines where only the program tells that the option holds one: `mysql -pX`, `docker login -p X`.

The option is looked for first and the program in what stands before it on the same command line: for most programs -p
is a port, a path or a project. Every look is bounded, so that the whole is linear.
"""

import re
from typing import NamedTuple

from hippo_core.guard.plausible import is_placeholder

MARKER = "[redacted:login]"


class Option(NamedTuple):
    """programs: lower-case literals, without one of which nothing can match. option: has groups `lead` and `secret`.

    program: must be found on the command line before the option; None where `option` holds the whole of it.
    """

    programs: tuple[str, ...]
    option: re.Pattern[str]
    program: re.Pattern[str] | None


_VALUE = r"\\?[\"']?)(?P<secret>[^\s\"'`<>|;&\\]{3,200})"
_GAP = r"[ \t]{1,3}"
_MORE = r"(?:[\s\\]+--?[\w-]+(?:[ \t=]+[^\s-]\S*)?){0,6}"  # other options


def _option(programs: str, option: str, program: str, value: str = _VALUE) -> Option:
    """option: what stands before the value, behind the first dash and up to the quotes around the value."""
    return Option(
        tuple(programs.split(",")),
        re.compile(r"(?P<lead>-(?<![^\s\"'\[(]-)" + option + value),
        re.compile(r"(?i)(?<![\w.-])(?:" + program + r")(?:\.exe)?(?=[\s\"'])"),
    )


def _whole(program: str, pattern: str) -> Option:
    return Option((program,), re.compile(r"(?P<lead>(?<![\w.-])" + pattern + _VALUE), None)


_PAIR = r"\\?[\"']?[^\s:\"'$<]{1,80}:)(?P<secret>[^\s\"'<>]{3,200})"
OPTIONS: tuple[Option, ...] = (
    _option("mysql,mariadb,mycli", "p", r"mysql\w*|mariadb(?:-\w+)?|mycli"),
    _option("7z,rar ", "p", r"7za?|7zz|(?:un)?rar"),
    _option(
        "mongo,sshpass,cqlsh,rabbitmqadmin",
        rf"p(?:{_GAP})?",
        r"mongo(?:sh|dump|restore|export|import|stat|top|files)?|sshpass|cqlsh|rabbitmqadmin",
    ),
    _option(
        "login",
        rf"p(?:{_GAP}|=)",
        r"(?:docker|podman|nerdctl|buildah|skopeo|helm|oras|crane|az|oc|cf|ibmcloud|argocd|quarkus)"
        rf"(?:[ \t]+[\w.-]{{1,60}}){{0,3}}[ \t]+login{_MORE}(?:[\s\\]+[\w.:/-]+)?{_MORE}(?=[\s\\]*\Z)",
    ),
    _option("sqlcmd,bcp ,tsql,zip ,mosquitto_", rf"P(?:{_GAP})?", r"sqlcmd|bcp|tsql|(?:un)?zip|mosquitto_\w+"),
    _option("redis-,valkey-,keydb-", rf"a{_GAP}", r"(?:redis|valkey|keydb)-cli|redis-benchmark"),
    _option("ldap", rf"w{_GAP}", r"ldap\w+"),
    _option("openssl", rf"[kK]{_GAP}", r"openssl[ \t]+(?:enc|aes\S+|des\S*|rsa|pkcs\d+)"),
    _option("smbclient,rpcclient", rf"(?:U|-user)(?:{_GAP}|=)?\\?[\"']?[^\s%\"'$<]{{1,80}}%", r"smbclient|rpcclient"),
    _option("lftp", rf"u{_GAP}\\?[\"']?[^\s,\"'$<]{{1,80}},", "lftp"),
    # For docker `-u a:b` is a user and a group.
    _option("curl", rf"(?:[A-Za-z]{{0,5}}[uU]|-user|-proxy-user)(?:{_GAP}|=)?", "curl", _PAIR),
    _option("http ,https ,xh ,httpie ", rf"(?:a|-auth)(?:{_GAP}|=)", "https?|xh|httpie", _PAIR),
    _option("gh secret", rf"(?:b|-body)(?:{_GAP}|=)", r"gh[ \t]+secret[ \t]+set"),
    # Here the whole form gives the secret away.
    _whole("htpasswd", r"htpasswd[ \t]+-\w{0,5}b\w{0,5}[ \t]+[^\s]{1,200}[ \t]+[^\s]{1,80}[ \t]+"),
    _whole("sqlplus", r"sqlplus[ \t]+(?:-\w+[ \t]+){0,3}\\?[\"']?\w{1,60}/"),
    _whole("requirepass", r"requirepass[ \t]+"),
    _whole("masterauth", r"masterauth[ \t]+"),
    Option(
        ("sudo", "-stdin", "--with-token"),
        re.compile(
            r"(?P<lead>(?:echo|printf)[ \t]+(?:-n[ \t]+|'?%s'?[ \t]+)?[\"']?)(?P<secret>[^\s\"'`<>|;&\\]{3,200})"
            r"(?=[\"']?[ \t]*\|[ \t]*(?:sudo[ \t]+(?:-\w+[ \t]+){0,3}-\w{0,4}S|[^|\n]{1,120}(?:-stdin|--with-token)))"
        ),
        None,
    ),
    Option(
        ("chpasswd",),
        re.compile(
            r"(?P<lead>(?:echo|printf)[ \t]+(?:-\w+[ \t]+)?[\"']?[\w.@$-]{1,60}:)(?P<secret>[^\s\"'`<>|;&\\]{3,200})"
            r"(?=(?:\\n)?[\"']?[ \t]*\|[ \t]*(?:sudo[ \t]+)?chpasswd)"
        ),
        None,
    ),
)
_HINTS = tuple((program, number) for number, option in enumerate(OPTIONS) for program in option.programs)
_WHOLE_HINTS = tuple((program, number) for program, number in _HINTS if OPTIONS[number].program is None)
_OPTION = re.compile(r"-(?<![^\s\"'\[(]-)-?\w")  # unlike the dash of a list or of a word
_LONGEST_COMMAND = 300
_COMMAND_BORDER = re.compile(r"[|;]|&&|(?<!\\)\r?\n")
_NO_SECRET = re.compile(r"[\d.:]+(?:/\w+)?\Z|thread\Z|ipe\Z|--?[a-z]")


def redact_commands(text: str, folded: str) -> str:
    """`text` with every secret in one of the OPTIONS replaced. folded: the text in lower case."""
    if _OPTION.search(folded):
        hints = _HINTS
    elif "pass" in folded or "auth" in folded or "sudo" in folded or "sqlplus" in folded:
        hints = _WHOLE_HINTS
    else:
        return text
    possible = {number for program, number in hints if program in folded}
    for number in sorted(possible):
        option = OPTIONS[number]
        text = option.option.sub(lambda match: _replaced(match, option.program), text)  # noqa: B023
    return text


def _replaced(match: re.Match[str], program: re.Pattern[str] | None) -> str:
    secret = match["secret"]
    if is_placeholder(secret) or program and _NO_SECRET.match(secret) and ":" not in match["lead"]:
        return match[0]
    if program and not program.search(_command_before(match)):
        return match[0]
    return match["lead"] + MARKER


def _command_before(match: re.Match[str]) -> str:
    """The command line up to the option, without what was piped or chained before; it may go over several lines."""
    before = match.string[max(0, match.start() - _LONGEST_COMMAND) : match.start()]
    return _COMMAND_BORDER.split(before)[-1]
