"""The shapes of tokens that give themselves away by a prefix: one row for each family of issuers.

Facts about the shapes come from the issuers' documentation and from the public rule lists of gitleaks and
detect-secrets; the patterns are our own. Every repetition is bounded, and a pattern can only begin where a word begins,
so that matching is linear in the text.
"""

import re
from typing import NamedTuple


class Shape(NamedTuple):
    """kind: named in place of the secret. hints: lower-case literals without one of which nothing can match."""

    kind: str
    hints: tuple[str, ...]
    pattern: re.Pattern[str]
    needs_digit: bool = False


_START, _END = r"(?<![A-Za-z0-9_])", r"(?![A-Za-z0-9])"


def _shape(kind: str, hints: str, pattern: str, *, needs_digit: bool = False) -> Shape:
    return Shape(kind, tuple(hints.split()), re.compile(_START + "(?:" + pattern + ")" + _END), needs_digit)


SHAPES: tuple[Shape, ...] = (
    _shape("anthropic", "sk-ant-", r"sk-ant-[A-Za-z0-9_-]{16,300}"),
    _shape("openai", "sk-", r"sk-(?:proj-|svcacct-|admin-|or-v1-)?[A-Za-z0-9_-]{20,300}", needs_digit=True),
    _shape("aws", "akia asia abia acca", r"(?:AKIA|ASIA|ABIA|ACCA)[A-Z0-9]{16}"),
    _shape("google", "aiza ya29. gocspx-", r"AIza[A-Za-z0-9_-]{35}|ya29\.[A-Za-z0-9_-]{20,2000}|GOCSPX-[\w-]{20,60}"),
    _shape(
        "github",
        "ghp_ gho_ ghu_ ghs_ ghr_ github_pat_",
        r"gh[pousr]_[A-Za-z0-9]{20,255}|github_pat_[A-Za-z0-9_]{20,255}",
    ),
    _shape("gitlab", "gl gr1348941", r"gl[a-z]{1,6}-[A-Za-z0-9_.-]{20,300}|GR1348941[\w-]{20,60}", needs_digit=True),
    _shape("slack", "xox xapp-", r"xox[a-z](?:\.xox[a-z])?-[A-Za-z0-9-]{10,300}|xapp-\d-[A-Za-z0-9-]{10,300}"),
    _shape(
        "webhook",
        "hooks.slack.com discord webhook.office.com",
        r"hooks\.slack\.com/(?:services|workflows|triggers)/[\w/+-]{20,200}"
        r"|discord(?:app)?\.com/api/webhooks/\d{10,25}/[\w-]{40,120}"
        r"|[\w-]{1,60}\.webhook\.office\.com/webhookb2/[\w@/-]{40,300}",
    ),
    _shape(
        "stripe",
        "_live_ _test_ _prod_ whsec_",
        r"(?:sk|rk|pk)_(?:live|test|prod)_[A-Za-z0-9]{10,250}|whsec_[\w+/=]{20,100}",
    ),
    _shape("npm", "npm_", r"npm_[A-Za-z0-9]{36}"),
    _shape("pypi", "pypi-", r"pypi-[A-Za-z0-9_-]{50,1000}"),
    _shape("huggingface", "hf_ api_org_", r"hf_[A-Za-z0-9]{30,60}|api_org_[A-Za-z0-9]{30,60}"),
    _shape("sendgrid", "sg.", r"SG\.[A-Za-z0-9_-]{16,32}\.[A-Za-z0-9_-]{16,64}"),
    _shape("twilio", "sk", r"SK[0-9a-f]{32}"),
    _shape("mailgun", "key-", r"key-[0-9a-f]{32}"),
    _shape("mailchimp", "-us", r"[0-9a-f]{32}-us\d{1,2}"),
    _shape("telegram", ":aa", r"\d{8,10}:AA[A-Za-z0-9_-]{32,34}"),
    _shape("discord", ".", r"[MNO][A-Za-z0-9_-]{23,27}\.[A-Za-z0-9_-]{6}\.[A-Za-z0-9_-]{27,45}"),
    _shape("jwt", "eyj", r"eyJ[A-Za-z0-9_-]{8,4000}\.eyJ[A-Za-z0-9_-]{8,8000}(?:\.[A-Za-z0-9_-]{0,4000}){0,3}"),
    _shape("digitalocean", "_v1_", r"do[opr]_v1_[a-f0-9]{64}"),
    _shape("databricks", "dapi", r"dapi[a-f0-9]{32}(?:-\d)?"),
    _shape("shopify", "shp", r"shp(?:at|ca|pa|ss|ua)_[a-fA-F0-9]{32}"),
    _shape("square", "sq0", r"sq0[a-z]{3}-[A-Za-z0-9_-]{22,50}"),
    _shape("notion", "ntn_ secret_", r"ntn_[A-Za-z0-9]{40,60}|secret_[A-Za-z0-9]{43}"),
    _shape("supabase", "sbp_ sb_secret_", r"sbp_[a-f0-9]{40}|sb_secret_[\w-]{20,60}"),
    _shape("vault", "hvs. hvb. hvr.", r"hv[sbr]\.[A-Za-z0-9_-]{20,300}"),
    _shape("terraform", ".atlasv1.", r"[A-Za-z0-9]{14}\.atlasv1\.[A-Za-z0-9_=-]{60,70}"),
    _shape("grafana", "glc_ glsa_", r"gl(?:c|sa)_[A-Za-z0-9+/=_]{30,400}"),
    _shape("sentry", "sntry", r"sntry[su]_[A-Za-z0-9+/=_]{40,400}"),
    _shape("docker", "dckr_", r"dckr_(?:pat|oat)_[\w-]{20,60}"),
    _shape("postman", "pmak-", r"PMAK-[a-f0-9]{24}-[a-f0-9]{34}"),
    _shape("atlassian", "atatt3 atctt3", r"AT[AC]TT3[A-Za-z0-9_=-]{50,300}"),
    _shape("linear", "lin_", r"lin_(?:api|oauth)_[A-Za-z0-9]{32,64}"),
    _shape("figma", "fig", r"fig[dour]_?[a-z]?_[A-Za-z0-9_-]{30,80}"),
    _shape("newrelic", "nra", r"NRA[KA]-[A-Z0-9]{27}"),
    _shape("langsmith", "lsv2_", r"lsv2_(?:pt|sk)_[a-f0-9]{32}_[a-f0-9]{10}"),
    _shape("tailscale", "tskey-", r"tskey-[a-z]{2,10}-[A-Za-z0-9-]{16,80}"),
    _shape("doppler", "dp.", r"dp\.[a-z]{2,6}\.[A-Za-z0-9_.-]{30,80}"),
    _shape("model-host", "gsk_ xai- r8_ pplx- tvly-", r"(?:gsk_|xai-|r8_|pplx-)[A-Za-z0-9]{32,120}|tvly-[\w-]{20,60}"),
    _shape("age", "age-secret-key-", r"AGE-SECRET-KEY-(?:PQ-)?1[0-9A-Z]{50,2000}"),
    _shape("azure", "8q~ 7q~ q~", r"[A-Za-z0-9_~.-]{3}\dQ~[A-Za-z0-9_~.-]{31,34}"),
    _shape("azure", "==", r"[A-Za-z0-9+/]{86}=="),
)
