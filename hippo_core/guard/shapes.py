"""The shapes of tokens that give themselves away by a prefix: one row for each family of issuers.

Facts about the shapes come from the issuers' documentation and from the public rule lists of gitleaks and
detect-secrets; the patterns are our own. A pattern takes all that could belong to the token, however long, and none
needs a second look at the same run of characters, so that matching is linear in the text.
"""

import re
from typing import NamedTuple

from hippo_core.guard.plausible import is_jumbled


class Shape(NamedTuple):
    """kind: named in place of the secret. hints: literals without one of which nothing can match.

    digit: whether a match needs a digit or letters as in no word, where words could have the same shape.
    probe: a cheap pattern that every match contains, where the hints are in all texts.
    """

    kind: str
    hints: tuple[str, ...]
    pattern: re.Pattern[str]
    digit: bool = False
    probe: re.Pattern[str] | None = None


# Where a token may begin: not inside a word, but behind what stands escaped (a line feed, a sign in a URL or in JSON)
# and behind the codes that colour a terminal.
_START = (
    r"(?:(?<![A-Za-z0-9_])|(?<=\\[nrt])|(?<=%[0-9A-F][0-9A-Fa-f])|(?<=\\u00[0-9A-Fa-f]{2})"
    r"|(?<=[\[;]\dm)|(?<=[\[;]\d\dm))"
)


def _shape(kind: str, hints: str, pattern: str, *, digit: bool = False, probe: str | None = None) -> Shape:
    compiled = re.compile(_START + "(?:" + pattern + ")")
    return Shape(kind, tuple(hints.split()), compiled, digit, re.compile(probe) if probe else None)


SHAPES: tuple[Shape, ...] = (
    _shape("anthropic", "sk-ant-", r"sk-ant-[A-Za-z0-9_-]{16,}"),
    _shape("openai", "sk-", r"sk-(?:proj-|svcacct-|admin-|or-v1-)?[A-Za-z0-9_-]{20,}", digit=True),
    _shape("aws", "AKIA ASIA ABIA ACCA", r"(?:AKIA|ASIA|ABIA|ACCA)[A-Z0-9]{16,}"),
    _shape("google", "AIza ya29. GOCSPX-", r"AIza[A-Za-z0-9_-]{35,}|ya29\.[A-Za-z0-9_-]{20,}|GOCSPX-[\w-]{20,}"),
    _shape(
        "github",
        "ghp_ gho_ ghu_ ghs_ ghr_ github_pat_",
        r"gh[pousr]_[A-Za-z0-9]{20,}|github_pat_[A-Za-z0-9_]{20,}",
    ),
    _shape(
        "gitlab",
        "glpat- glptt- gldt- glrt- glrtr- glcbt- glft- glsoat- glimt- glagent- gloas- glffct- GR1348941",
        r"gl(?:pat|ptt|dt|rt|rtr|cbt|ft|soat|imt|agent|oas|ffct)-[A-Za-z0-9_-]{20,}(?:\.[A-Za-z0-9_-]+)*|"
        r"GR1348941[\w-]{20,}",
        digit=True,
    ),
    _shape("slack", "xox xapp-", r"xox[a-z](?:\.xox[a-z])?-[A-Za-z0-9-]{12,}|xapp-\d-[A-Za-z0-9-]{10,}"),
    _shape(
        "webhook",
        "hooks.slack.com discord webhook.office.com hooks.zapier.com",
        r"hooks\.slack\.com/(?:services|workflows|triggers)/[\w/+-]{20,}"
        r"|discord(?:app)?\.com/api/(?:v\d{1,2}/)?webhooks/\d{10,25}/[\w-]{40,}"
        r"|webhook\.office\.com/webhookb2/[\w@/-]{40,}|hooks\.zapier\.com/hooks/catch/\d{3,12}/\w{5,}",
    ),
    _shape(
        "stripe",
        "_live_ _test_ _prod_ whsec_",
        r"(?:sk|rk|pk)_(?:live|test|prod)_[A-Za-z0-9]{10,}|whsec_[\w+/=]{20,}",
    ),
    _shape("npm", "npm_", r"npm_[A-Za-z0-9]{36,}"),
    _shape("pypi", "pypi-", r"pypi-[A-Za-z0-9_-]{50,}"),
    _shape("huggingface", "hf_ api_org_", r"hf_[A-Za-z0-9]{30,}|api_org_[A-Za-z0-9]{30,}"),
    _shape("sendgrid", "SG.", r"SG\.[A-Za-z0-9_-]{16,32}\.[A-Za-z0-9_-]{16,}"),
    _shape("twilio", "SK", r"SK[0-9a-f]{32,}"),
    _shape("mailgun", "key-", r"key-[0-9a-f]{32,}"),
    _shape("mailchimp", "-us", r"[0-9a-f]{32}-us\d{1,2}"),
    _shape("telegram", ":AA", r"(?:bot)?\d{8,10}:AA[A-Za-z0-9_-]{32,}"),
    # The id of the bot, the time, the signature; the digits of an id begin with M, N or O in Base64.
    _shape(
        "discord",
        ".",
        r"[MNO][A-Za-z0-9_-]{22,27}\.[A-Za-z0-9_-]{6}\.[A-Za-z0-9_-]{27,}",
        probe=r"\.[A-Za-z0-9_-]{6}\.[A-Za-z0-9_-]{27}",
    ),
    _shape("discord", "mfa.", r"mfa\.[A-Za-z0-9_-]{60,}"),
    _shape("mapbox", "k.eyJ", r"[pst]k\.eyJ[A-Za-z0-9_-]{16,}\.[A-Za-z0-9_-]{20,}"),
    # Signed tokens and cookies of three parts, encrypted ones of five.
    _shape(
        "jwt",
        "eyJ",
        r"(?<!-)eyJ[A-Za-z0-9_-]{8,}(?:\.eyJ[A-Za-z0-9_-]{8,}(?:\.[A-Za-z0-9_-]*){0,3}"
        r"|\.[A-Za-z0-9_-]{6,}\.[A-Za-z0-9_-]{20,}|\.[A-Za-z0-9_-]*(?:\.[A-Za-z0-9_-]{10,}){3})",
    ),
    # The armour of a private key, in Base64 once more as a cluster keeps it; certificates and public keys may be seen.
    _shape("private-key", "LS0tLS1CRUdJTiB", r"LS0tLS1CRUdJTiB(?!DRVJU|QVUJMSUM)[A-Za-z0-9+/=]{24,}"),
    _shape("digitalocean", "_v1_", r"do[opr]_v1_[a-f0-9]{64,}"),
    _shape("databricks", "dapi", r"dapi[a-f0-9]{32,}(?:-\d)?"),
    _shape("shopify", "shp", r"shp(?:at|ca|pa|ss|ua)_[a-fA-F0-9]{32,}"),
    _shape("square", "sq0", r"sq0[a-z]{3}-[A-Za-z0-9_-]{22,}"),
    _shape("notion", "ntn_ secret_", r"ntn_[A-Za-z0-9]{40,}|secret_[A-Za-z0-9]{43,}"),
    _shape("supabase", "sbp_ sb_secret_", r"sbp_[a-f0-9]{40,}|sb_secret_[\w-]{20,}"),
    _shape("vault", "hvs. hvb. hvr.", r"hv[sbr]\.[A-Za-z0-9_-]{20,}"),
    _shape("terraform", ".atlasv1.", r"[A-Za-z0-9]{14}\.atlasv1\.[A-Za-z0-9_=-]{60,}"),
    _shape("grafana", "glc_ glsa_", r"gl(?:c|sa)_[A-Za-z0-9+/=_]{30,}"),
    _shape("sentry", "sntry", r"sntry[su]_[A-Za-z0-9+/=_]{40,}"),
    _shape("docker", "dckr_", r"dckr_(?:pat|oat)_[\w-]{20,}"),
    _shape("postman", "PMAK-", r"PMAK-[a-f0-9]{24}-[a-f0-9]{34,}"),
    _shape("atlassian", "ATATT3 ATCTT3", r"AT[AC]TT3[A-Za-z0-9_=-]{50,}"),
    _shape("linear", "lin_", r"lin_(?:api|oauth)_[A-Za-z0-9]{32,}"),
    _shape("figma", "figd_ figo_ figu_ figr_", r"fig[dour]_[A-Za-z0-9_-]{30,}"),
    _shape("newrelic", "NRA", r"NRA[KA]-[A-Z0-9]{27,}"),
    _shape("langsmith", "lsv2_", r"lsv2_(?:pt|sk)_[a-f0-9]{32}_[a-f0-9]{10,}"),
    _shape("tailscale", "tskey-", r"tskey-[a-z]{2,10}-[A-Za-z0-9-]{16,}"),
    _shape("doppler", "dp.", r"dp\.[a-z]{2,6}\.(?:[a-z0-9_-]{2,35}\.)?[A-Za-z0-9]{40,}"),
    _shape(
        "model-host",
        "gsk_ xai- r8_ pplx- tvly- csk- tgp_v1_ jina_",
        r"(?:gsk_|xai-|r8_|pplx-|csk-)[A-Za-z0-9]{32,}|tvly-[\w-]{20,}|(?:tgp_v1_|jina_)[\w-]{40,}",
    ),
    _shape("model-host", "fw_", r"fw_[A-Za-z0-9]{22,}", digit=True, probe=r"fw_[A-Za-z0-9]{22}"),
    _shape("model-host", "pa-", r"pa-(?=[\w-]{0,60}[A-Z])[\w-]{40,}", digit=True, probe=r"pa-[\w-]{40}"),
    _shape("facebook", "EAA", r"EAA[A-Za-z0-9]{80,}"),
    _shape("rubygems", "rubygems_", r"rubygems_[a-f0-9]{40,}"),
    _shape("pulumi", "pul-", r"pul-[a-f0-9]{40,}"),
    _shape("fly", "fm2_", r"fm2_[A-Za-z0-9+/=_-]{40,}"),
    _shape("contentful", "CFPAT-", r"CFPAT-[\w-]{40,}"),
    _shape("posthog", "phx_", r"phx_[A-Za-z0-9]{40,}"),
    _shape("nvidia", "nvapi-", r"nvapi-[\w-]{40,}"),
    _shape("bitbucket", "BBDC-", r"BBDC-[A-Za-z0-9+/=]{30,}"),
    _shape("apify", "apify_api_", r"apify_api_[A-Za-z0-9]{30,}"),
    _shape("hubspot", "pat-na1- pat-eu1-", r"pat-(?:na|eu)1-[a-f0-9-]{30,}"),
    _shape("1password", "ops_eyJ", r"ops_eyJ[A-Za-z0-9_=-]{40,}"),
    _shape("dropbox", "sl.u.", r"sl\.u\.[A-Za-z0-9_-]{100,}"),
    _shape("age", "AGE-SECRET-KEY-", r"AGE-SECRET-KEY-(?:PQ-)?1[0-9A-Z]{50,}"),
    _shape("azure", "Q~", r"[A-Za-z0-9_~.-]{3}\dQ~[A-Za-z0-9_~.-]{31,}"),
    _shape("azure", "==", r"(?<![+/])(?<!sha512-)[A-Za-z0-9+/]{86}=="),  # the hash of a package has the same form
    _shape("artifactory", "AKCp", r"AKCp[A-Za-z0-9]{60,}"),
    _shape("sonar", "sqp_ sqa_ squ_", r"sq[apu]_[a-f0-9]{40,}"),
    _shape("netlify", "nfp_", r"nfp_[A-Za-z0-9]{30,}"),
    _shape("planetscale", "pscale_", r"pscale_(?:tkn|pw|oauth)_[A-Za-z0-9_.=-]{30,}"),
    _shape("pinecone", "pcsk_", r"pcsk_[A-Za-z0-9_]{50,}"),
    _shape("resend", "re_", r"re_[A-Za-z0-9]{8}_[A-Za-z0-9]{20,}", digit=True, probe=r"re_[A-Za-z0-9]{8}_"),
    _shape("brevo", "xkeysib-", r"xkeysib-[a-f0-9]{60,}-[A-Za-z0-9]{10,}"),
    _shape("buildkite", "bkua_", r"bkua_[a-f0-9]{40,}"),
    _shape("prefect", "pnu_ pnb_", r"pn[ub]_[A-Za-z0-9]{36,}"),
    _shape("dynatrace", "dt0c01. dt0s01. dt0s16.", r"dt0[a-z]\d\d\.[A-Z0-9]{24}\.[A-Z0-9]{60,}"),
    _shape("frameio", "fio-u-", r"fio-u-[\w-]{60,}"),
    _shape("readme", "rdme_", r"rdme_[a-z0-9]{60,}"),
    _shape("scalingo", "tk-us-", r"tk-us-[\w-]{40,}", digit=True),
    _shape("shippo", "shippo_", r"shippo_(?:live|test)_[a-f0-9]{40,}"),
    _shape("duffel", "duffel_", r"duffel_(?:live|test)_[\w-]{40,}"),
    _shape("openshift", "sha256~", r"sha256~[\w-]{43,}"),
    _shape("mongodb", "mdb_sa_sk_", r"mdb_sa_sk_[\w-]{38,}"),
    _shape("typeform", "tfp_", r"tfp_[A-Za-z0-9_-]{40,}", digit=True),
    _shape("adafruit", "aio_", r"aio_[A-Za-z0-9]{28,}", digit=True),
    _shape("flutterwave", "FLWSECK- FLWSECK_", r"FLWSECK(?:_TEST)?-[0-9a-zA-Z]{32,}(?:-X)?"),
    _shape("maxmind", "_mmk", r"[A-Za-z0-9]{6}_[A-Za-z0-9]{29}_mmk"),
    _shape("harness", "pat.", r"pat\.[\w-]{22}\.[0-9a-f]{24}\.[A-Za-z0-9]{20,}", probe=r"pat\.[\w-]{22}\."),
    _shape("render", "rnd_", r"rnd_[A-Za-z0-9]{28,}", digit=True),
    _shape("firecrawl", "fc-", r"fc-[a-f0-9]{32,}", probe=r"fc-[a-f0-9]{32}"),
    _shape("elevenlabs", "sk_", r"sk_[a-f0-9]{48,}", probe=r"sk_[a-f0-9]{48}"),
)


def _group_hints() -> tuple[tuple[str, tuple[tuple[str, int], ...]], ...]:
    """The hints by the rarest sign in them: a text without the sign is spared the search for all of them."""
    groups: dict[str, list[tuple[str, int]]] = {}
    for number, shape in enumerate(SHAPES):
        for hint in shape.hints:
            sign = next((sign for sign in "~=_-." if sign in hint), "")
            groups.setdefault(sign, []).append((hint, number))
    return tuple((sign, tuple(hints)) for sign, hints in groups.items())


_HINTS = _group_hints()
_SHORTEST = 17  # no token of any shape is shorter, and none holds white space


def redact_shapes(text: str) -> str:
    """`text` with every token of a known shape replaced."""
    words = " ".join([word for word in text.split() if len(word) >= _SHORTEST])
    if not words:
        return text
    possible = {number for sign, hints in _HINTS if sign in words for hint, number in hints if hint in words}
    for number in sorted(possible):
        shape = SHAPES[number]
        if shape.probe and not shape.probe.search(words):
            continue
        marker = f"[redacted:{shape.kind}]"
        if shape.digit:
            text = shape.pattern.sub(lambda match: marker if _is_random(match[0]) else match[0], text)  # noqa: B023
        else:
            text = shape.pattern.sub(marker, text)
    return text


def _is_random(token: str) -> bool:
    return any(c.isdigit() for c in token) or any(is_jumbled(part) for part in re.split("[-_]", token))
