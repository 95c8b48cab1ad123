"""Secrets of every usual shape go, everything else stays, and redacting takes time in proportion to the text.

No token stands here in one piece: each is put together, so that no scanner takes this file for a leak.
"""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hippo_core.guard.redact import redact

MIXED = "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8s9T0u1V2w3X4y5Z6" * 3
HEX = "0123456789abcdef" * 8
UPPER = "A1B2C3D4E5F6G7H8I9J0K1L2M3N4O5P6Q7R8S9T0" * 2
B64 = "Ab3+" * 40


def token(*parts):
    """A prefix, and what fills it up."""
    return "".join(parts)


def jwt(body=60):
    return ".".join(["ey" + "J" + MIXED[:20], "ey" + "J" + MIXED[:body], MIXED[:43]])


TOKENS = {
    "anthropic": token("sk-", "ant-api03-", MIXED[:90]),
    "openai": token("sk-", MIXED[:48]),
    "openai project": token("sk-", "proj-", MIXED[:120]),
    "aws": token("AK", "IA", UPPER[:16]),
    "aws session": token("AS", "IA", UPPER[:16]),
    "google": token("AI", "za", MIXED[:35]),
    "google oauth": token("ya", "29.", MIXED[:100]),
    "google secret": token("GOC", "SPX-", MIXED[:28]),
    "github": token("gh", "p_", MIXED[:36]),
    "github app": token("gh", "s_", MIXED[:36]),
    "github fine-grained": token("github", "_pat_", MIXED[:22], "_", MIXED[:59]),
    "gitlab": token("gl", "pat-", MIXED[:20]),
    "gitlab runner": token("gl", "rt-", MIXED[:20]),
    "slack": token("xo", "xb-", "1234567890-1234567890123-", MIXED[:24]),
    "slack app": token("xa", "pp-1-", UPPER[:11], "-1234567890123-", HEX[:64]),
    "slack hook": token("https://hooks.", "slack.com/services/", "T00000000/B00000000/", MIXED[:24]),
    "discord hook": token("https://discord.com/api/", "webhooks/", "123456789012345678/", MIXED[:68]),
    "stripe": token("sk", "_live_", MIXED[:24]),
    "stripe test": token("rk", "_test_", MIXED[:24]),
    "stripe hook": token("wh", "sec_", MIXED[:32]),
    "npm": token("np", "m_", MIXED[:36]),
    "pypi": token("py", "pi-", "AgEIcHlwaS5vcmc", MIXED[:80]),
    "huggingface": token("h", "f_", "abcdefghijKLMNOPQRSTuvwxyzABCDEFGH"),
    "sendgrid": token("S", "G.", MIXED[:22], ".", MIXED[:43]),
    "twilio": token("S", "K", HEX[:32]),
    "mailgun": token("ke", "y-", HEX[:32]),
    "mailchimp": token(HEX[:32], "-us", "12"),
    "telegram": token("123456789", ":AA", MIXED[:33]),
    "discord": token("MTIz", MIXED[:20], ".", MIXED[:6], ".", MIXED[:38]),
    "jwt": jwt(),
    "jwt unsigned": jwt().rpartition(".")[0] + ".",
    "digitalocean": token("do", "p_v1_", HEX[:64]),
    "databricks": token("da", "pi", HEX[:32]),
    "shopify": token("shp", "at_", HEX[:32]),
    "square": token("sq0", "atp-", MIXED[:22]),
    "notion": token("nt", "n_", MIXED[:46]),
    "supabase": token("sb", "p_", HEX[:40]),
    "vault": token("hv", "s.", MIXED[:24]),
    "terraform": token(MIXED[:14], ".atlas", "v1.", MIXED[:67]),
    "grafana": token("gl", "sa_", MIXED[:32], "_", HEX[:8]),
    "docker": token("dckr", "_pat_", MIXED[:27]),
    "postman": token("PM", "AK-", HEX[:24], "-", HEX[:34]),
    "atlassian": token("ATA", "TT3", MIXED[:60]),
    "linear": token("lin", "_api_", MIXED[:40]),
    "figma": token("fig", "d_", MIXED[:40]),
    "new relic": token("NR", "AK-", UPPER[:27]),
    "langsmith": token("lsv2", "_pt_", HEX[:32], "_", HEX[:10]),
    "tailscale": token("ts", "key-auth-", MIXED[:11], "-", MIXED[:32]),
    "doppler": token("dp", ".pt.", MIXED[:43]),
    "groq": token("gs", "k_", MIXED[:52]),
    "xai": token("xa", "i-", MIXED[:80]),
    "age": token("AGE-", "SECRET-KEY-", "1", UPPER[:58]),
    "azure": token("abc", "8Q~", MIXED[:34]),
    "azure storage": token(B64[:86], "=="),
}
SURROUNDINGS = [
    "{}",
    "Use {} for now.",
    "key: '{}',",
    "({})",
    '{{"a":"{}"}}',
    "x={}&y=1",
    "\n{}\n",
    "`{}`",
    "<{}>",
    "\\n{}",
]


@pytest.mark.parametrize("name", TOKENS)
def test_a_token_goes_and_its_surroundings_stay(name):
    for around in SURROUNDINGS:
        before, after = around.format("\0").split("\0")
        cleaned = redact(before + TOKENS[name] + after)
        assert TOKENS[name] not in cleaned and "[redacted:" in cleaned, around
        assert cleaned.startswith(before) or "url" in cleaned or "x=" in before and cleaned.startswith("x="), around
        assert cleaned.endswith(after), around


@pytest.mark.parametrize("name", TOKENS)
def test_hardly_a_piece_of_a_token_is_left(name):
    secret = TOKENS[name]
    cleaned = redact(f"Use {secret} for now.")
    body = secret[-12:].rstrip("=")
    assert body not in cleaned and secret[len(secret) // 2 :][:10] not in cleaned


PASSWORD = "hunter" + "2" + "Xy"
NAMED = [
    "DB_PASSWORD={}",
    "export DB_PASSWORD={} && run",
    "DB_PASSWORD='{}'",
    'MYSQL_ROOT_PASSWORD="{}"',
    "PASS={}",
    "PGPASSWORD={} psql -h db",
    "SECRET_KEY={}",
    "AWS_SECRET_ACCESS_KEY={}",
    "aws_secret_access_key = {}",
    "API_KEY={}",
    "api_key: {}",
    'api_key: "{}"',
    "api-key: {}",
    "X-Api-Key: {}",
    "apiKey: '{}',",
    '{{"password": "{}"}}',
    '{{"password":"{}","user":"me"}}',
    '{{\\"password\\": \\"{}\\"}}',
    "{{'clientSecret': '{}'}}",
    "password: {}",
    "password = {}",
    "password={}",
    "password='{}'",
    "Password={};Server=db",
    "AccountKey={};EndpointSuffix=x",
    "db.password={}",
    "spring.datasource.password={}",
    'config["password"] = "{}"',
    'os.environ["API_TOKEN"] = "{}"',
    "accessToken := `{}`",
    "const authToken = '{}'",
    ":password => '{}'",
    "https://x.io/?token={}&page=2",
    "https://x.io/?access_token={}",
    "tool --password {}",
    "tool --password={} --verbose",
    "tool --api-key {} go",
    "tool --db-password '{}'",
    "sshpass --pass {}",
    "my password is {}",
    "the password is: {}",
    "The API key is {}.",
    "machine x login me password {}",
    "CREATE USER me WITH PASSWORD '{}'",
    "<password>{}</password>",
    "postgres://me:{}@db.example.org:5432/shop",
    "redis://:{}@cache:6379/0",
    "mongodb+srv://me:{}@cluster.example.org",
    "git clone https://me:{}@git.example.org/x.git",
    "curl -u me:{} https://x.io",
    "curl --user 'me:{}' https://x.io",
    "Authorization: Bearer {}",
    "authorization: Basic {}",
    "-H 'Authorization: token {}'",
    '"Authorization": "Bearer {}"',
    "Bearer {}",
    "Cookie: session={}",
    "Set-Cookie: sid={}; Path=/",
    "https://x.blob.example.org/a?sv=1&sig={}&se=2",
]


@pytest.mark.parametrize("form", NAMED)
@pytest.mark.parametrize("secret", [PASSWORD + MIXED[:20], MIXED[:40], PASSWORD + "Zq4-_x" + MIXED[:10]], ids="abc")
def test_what_a_name_or_a_place_gives_away_goes(form, secret):
    before, after = form.format("\0").split("\0")
    cleaned = redact("Set it so:\n" + before + secret + after + "\nand go on.")
    assert secret not in cleaned and secret[:12] not in cleaned and secret[-12:] not in cleaned
    assert cleaned.startswith("Set it so:\n" + before) and cleaned.endswith("\nand go on.")


@pytest.mark.parametrize(
    "text, secret",
    [
        ("DB_PASSWORD=supersecret", "supersecret"),
        ("DB_PASSWORD=value", "value"),
        ("ADMIN_PASSWORD=letmein", "letmein"),
        ("DB_PASSWORD=p@ss,w(or)d&1", "p@ss,w(or)d&1"),
        ("password: 'letmein'", "letmein"),
        ('"password": "correct horse battery 9"', "correct horse battery 9"),
        ("PASSWORD=123456", "123456"),
        ("https://user:password@example.org/x", ":password@"),
        ("https://user:p@ss@example.org/x", "p@ss"),
        ("password=letmein", "letmein"),
        ("tool --password letmein", "letmein"),
        ("DB_PASSWORD: letmein", "letmein"),
        ("passphrase: 'four words of mine'", "four words"),
        ("my passwort is Geheim!1", "Geheim!1"),
    ],
)
def test_weak_passwords_are_passwords_too(text, secret):
    assert secret not in redact(text)


PEM_BODY = "\n".join([MIXED[:64]] * 12)
BEGIN, END = "-----BEGIN {}PRIVATE " + "KEY{}-----", "-----END {}PRIVATE " + "KEY{}-----"


@pytest.mark.parametrize(
    "kind, block", [("", ""), ("RSA ", ""), ("OPENSSH ", ""), ("EC ", ""), ("ENCRYPTED ", ""), ("PGP ", " BLOCK")]
)
class TestPrivateKeys:
    def test_whole(self, kind, block):
        key = f"{BEGIN.format(kind, block)}\n{PEM_BODY}\n{END.format(kind, block)}"
        assert redact(f"Here:\n{key}\nUse it.") == "Here:\n[redacted:private-key]\nUse it."

    def test_on_one_line_with_escaped_line_feeds(self, kind, block):
        key = f"{BEGIN.format(kind, block)}\n{PEM_BODY}\n{END.format(kind, block)}\n".replace("\n", "\\n")
        cleaned = redact('{"k": "' + key + '"}')
        assert MIXED[:12] not in cleaned and cleaned.startswith('{"k": "') and cleaned.endswith('"}')

    def test_cut_off(self, kind, block):
        for cut in (f"\n{PEM_BODY}", f"\n{PEM_BODY}\n{MIXED[:7]}", f"\n{PEM_BODY}\n\nThat was it.", ""):
            cleaned = redact("Here: " + BEGIN.format(kind, block) + cut)
            assert MIXED[:12] not in cleaned and cleaned.startswith("Here: [redacted:private-key]")
            assert cleaned.endswith("That was it.") == cut.endswith("That was it.")

    def test_with_header_lines(self, kind, block):
        header = "\nProc-Type: 4,ENCRYPTED\nDEK-Info: AES-128-CBC,0123456789ABCDEF\n\n"
        assert redact(BEGIN.format(kind, block) + header + PEM_BODY) == "[redacted:private-key]"

    def test_one_without_its_end_does_not_take_the_next(self, kind, block):
        key = f"{BEGIN.format(kind, block)}\n{PEM_BODY}\n"
        text = f"{key}Between the two.\n{key}{END.format(kind, block)}"
        assert redact(text) == "[redacted:private-key]\nBetween the two.\n[redacted:private-key]"


ORDINARY = """
Use port 8080. The token expires after 5 minutes; the password must contain 8 characters, the secret is to wait.
commit 3f2a9c1b8d7e6f5a4b3c2d1e0f9a8b7c6d5e4f3a, request 550e8400-e29b-41d4-a716-446655440000
PASSWORD=<your password> API_KEY=your-api-key TOKEN=${GITHUB_TOKEN} SECRET=$SECRET PASSWORD=changeme
API_KEY=xxxxxxxxxxxx TOKEN=... PASSWORD=******** password: ********
api_key = os.environ["OPENAI_API_KEY"]
token = get_token(user) ; password = getpass.getpass() ; secret = config.secret ; token=self.token
def login(username: str, password: str, token: Optional[str] = None) -> Token:
class Credentials(BaseModel):\n    password: SecretStr\n    token: str | None = None
login(user=user, password=password, token=auth_token)
max_tokens: 4096, total_tokens=123456, tokens = 12, "input_tokens": 1200, num_tokens=200000
PASSWORD_MIN_LENGTH=12 TOKEN_URL=https://auth.example.org/token SECRET_NAME=shop-db-prod2 PASSWORD_FILE=/run/secrets/db1
const { token, secret } = req.body; if (!token) throw new Error("Token is missing");
"password": "string", "token": "string", password: z.string().min(8), secret: process.env.SECRET
type Token = "identifier" | "keyword"
tokenizer = BertTokenizer2.from_pretrained("bert-base-uncased")
var STORAGE_KEY = 'quire-folio-theme'
primary_key=user_id1, cache_key = "users:42:profile", foreign_key: orders2, key: "ArrowDown1", keyboard2=on
https://localhost:3000/@vite/client http://example.org:8080/a@b user@example.org git@github.com:me/repo.git
docker run -u 1000:1000 img; git push -u origin main; chown root:root x
PASS: test_login_2fa (0.3 s)\nFAIL: test_token_refresh_v2
Basic authentication and bearer authentication are both supported. Authorization: required
sk-some-long-css-class-name-here task-list-item-checkbox-element risk-assessment-for-the-quarter
hooks/session_start.py --token-file /etc/token1 use the --token flag to log in, --password is deprecated
-----BEGIN CERTIFICATE-----\nMIIBszCCAVmgAwIBAgIUabc\n-----END CERTIFICATE-----
ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIabcdefghijklmnopqrstuvwxyz me@host
sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08
The eyJ prefix marks a token; ghp_ marks one of GitHub's; AKIA one of Amazon's. See sk-ant- and xoxb- too.
SELECT password FROM users WHERE token IS NOT NULL; ALTER TABLE users ADD COLUMN api_key VARCHAR(64);
Das Passwort ist falsch. 密码：必填。 mot de passe : obligatoire
""".strip().splitlines()


@pytest.mark.parametrize("text", ORDINARY)
def test_ordinary_prose_and_code_stay_as_they_are(text):
    text = text.replace("\\n", "\n")
    assert redact(text) == text


def test_ordinary_text_together_stays_too():
    text = "\n".join(ORDINARY)
    assert redact(text) == text


def test_a_key_behind_a_line_feed_is_found_in_decoded_text():
    """In raw JSON the `n` of an escaped line feed stands before the key, where a word boundary is expected."""
    assert TOKENS["aws"] not in redact("keys:\n" + TOKENS["aws"] + "\n")


_words = st.sampled_from(
    [*TOKENS.values(), *(form.format(PASSWORD + MIXED[:9]) for form in NAMED), BEGIN.format("", ""), END.format("", "")]
    + [
        "password",
        "=",
        ":",
        '"',
        "token is",
        " ",
        "\n",
        "[redacted:jwt]",
        "[",
        "]",
        "://",
        "@",
        "a",
        "--",
        "Bearer",
        "<",
        "\\",
    ]
)


@settings(max_examples=300, deadline=None)
@given(st.lists(_words | st.text(max_size=6), max_size=12).map("".join))
def test_redacting_twice_is_redacting_once(text):
    once = redact(text)
    assert redact(once) == once


@settings(max_examples=200, deadline=None)
@given(st.text())
def test_no_text_raises(text):
    redact(text)


@settings(max_examples=300, deadline=None)
@given(st.text(max_size=40), st.sampled_from(sorted(TOKENS)), st.sampled_from(" \n\t'\"(,;"), st.text(max_size=40))
def test_no_token_survives_any_neighbourhood(before, name, border, after):
    assert TOKENS[name] not in redact(before + border + TOKENS[name] + border + after)


@settings(max_examples=300, deadline=None)
@given(
    st.sampled_from(["DB_PASSWORD={}", 'password: "{}"', '{{"api_key": "{}"}}', "--token {}", "https://me:{}@h.org"]),
    st.from_regex(r"[A-Za-z][0-9][A-Za-z0-9_]{10,40}", fullmatch=True).filter(lambda s: "xxxxx" not in s.lower()),
)
def test_no_generated_password_survives_its_name(form, secret):
    assert secret not in redact(f"run {form.format(secret)} now")


@pytest.mark.parametrize(
    "piece",
    [
        "a",
        "password=",
        "password='",
        'token: "',
        "key",
        "secret_",
        "--password ",
        "A1b2",
        "sk-",
        "eyJ",
        "eyJa.",
        "://",
        "://a:",
        "a@",
    ]
    + [
        "Bearer ",
        "-----BEGIN PRIVATE " + "KEY-----",
        "-----BEGIN PRIVATE " + "KEY-----\nAAAA",
        "=",
        "\n",
        " ",
        "\\n",
        "[redacted:x]",
    ]
    + [
        "SG.a",
        "xoxb-",
        "M",
        "N.",
        "Cookie: a=",
        "Authorization: ",
        "?sig=",
        "-u a:",
        "password is ",
        "<password>",
        "..",
        "api ",
        "'",
    ],
)
def test_a_megabyte_of_anything_is_done_in_linear_work(piece):
    """A pattern that backtracks over a megabyte would not come back."""
    text = piece * (1_000_000 // len(piece))
    assert isinstance(redact(text), str)
