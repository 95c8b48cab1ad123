"""A table of places in which secrets stand, and one of places that only look like it.

Every secret is made up when the test runs: nothing here can be taken for a leak, and no pattern can be fitted to one.
"""

import base64
import json
import random
import string

import pytest

from hippo_core.guard.redact import redact

LETTERS, DIGITS = string.ascii_lowercase, string.digits
MIXED = string.ascii_letters + DIGITS


class Maker:
    """Makes strings as generators of passwords and tokens do; always the same ones for the same seed."""

    def __init__(self, seed):
        self._random = random.Random(seed)

    def of(self, signs, length):
        return "".join(self._random.choice(signs) for _ in range(length))

    def mixed(self, length):
        return "a7" + self.of(MIXED, length - 2)

    def hexed(self, length):
        return "a7" + self.of("0123456789abcdef", length - 2)

    def base64(self, length):
        return base64.b64encode(self._random.randbytes(length)).decode()

    def aws(self):
        return "aZ7/" + self.of(MIXED + "/+", 36)

    def jwt(self):
        parts = ({"alg": "HS256", "typ": "JWT"}, {"sub": self.mixed(8), "iat": 1})
        head = ".".join(base64.urlsafe_b64encode(json.dumps(part).encode()).decode().rstrip("=") for part in parts)
        return head + "." + self.mixed(43)

    def letters(self, length):
        """Small letters alone, without a vowel: no word."""
        return self.of("bcdfghjklmnpqrstvwxz", length)

    def armour(self, kind):
        body = "\n".join(self.base64(48) for _ in range(4))
        return f"-----BEGIN {kind}PRIVATE KEY-----\n{body}\n-----END {kind}PRIVATE KEY-----\n"


# What the secret is made by; then how it is written, {} for it.
PINS = (
    "PIN: {}|PIN={}|my pin is {}|PIN-Code: {}|Pin code is {}.|SIM_PIN={}|the PIN for the safe is {}|'pin': '{}'|"
    "**PIN:** {}|Die PIN lautet {}|pin: {}, ask Eva"
)
SMALL_LETTERS = (
    "password: {}|password = {}|the password is {}|Passwort: {}|Kennwort: {}|  password: {}\n  host: db|pw: {}|"
    "db password: {}|password for staging: {}|password (root): {}|PASSWORD {}|my password is {}.|"
    "username: bob, password: {}|user=bob\npassword={}|mot de passe : {}|contraseña: {}|senha: {}|пароль: {}|密码：{}|"
    "パスワードは{}|machine api.example.com login me password {}|machine h\n  login me\n  password {}|"
    "default login me password {}|db.example.org:5432:app:me:{}|localhost:5433:*:me:{}|*:*:*:me:{}|"
    "Server=db;User Id=sa;Password={};Encrypt=yes|Server=db;Uid=sa;Pwd={};|host=db user=app password={} dbname=x|"
    "jdbc:sqlserver://h;user=sa;password={};|jdbc:postgresql://h/db?user=a&password={}|postgres://u:{}@h/db|"
    "redis://:{}@h:6379|mongodb+srv://u:{}@c.example|mysql+pymysql://root:{}@h/x|amqp://u:{}@h|"
    "curl -u admin:{} https://x|curl --user admin:{} x|curl -uadmin:{} x|wget --password={} x|http -a me:{} x|"
    "sshpass -p {} ssh x|mysql -u root -p{} x|PGPASSWORD={} psql|ansible_become_pass={}|<password>{}</password>|"
    '"password": "{}"|password := "{}"|:password => "{}"|IDENTIFIED BY \'{}\'|WITH PASSWORD \'{}\'|requirepass {}|'
    '<property name="password" value="{}"/>|spring.datasource.password={}|keyPassword = "{}"|root password {}'
).split("|")
HANDED_OVER = (
    "docker login -u me --password-stdin <<< \"{}\"|gh auth login --with-token <<< {}|passwd me <<< '{}'|"
    "sudo -S apt update <<< {}|chpasswd <<< 'root:{}'|echo \"root:{}\" ~ chpasswd|echo 'me:{}' ~ sudo chpasswd|"
    "cryptsetup luksOpen /dev/sda2 x <<< \"{}\"|vault login - <<< {}|read -r PASSWORD <<< '{}'|"
    "openssl enc -aes256 -pass stdin <<< '{}'|gh secret set DEPLOY_KEY <<< {}|"
    "docker login --password-stdin <<EOF\n{}\nEOF|mysql_config_editor set --password <<EOF\n{}\nEOF|"
    "sudo chpasswd <<EOF\nme:{}\nEOF|cat > ~/.vault_pass <<'EOF'\n{}\nEOF|cat <<EOF > secret.txt\n{}\nEOF|"
    "cat > token.txt << EOF\n{}\nEOF|cat > .pgpass <<'EOF'\ndb:5432:app:me:{}\nEOF|tee api_key <<-END\n{}\n\tEND"
).split("|")
TOKENS = (
    'export FOO_TOKEN={}|export FOO_TOKEN="{}"|$env:FOO_TOKEN = "{}"|set FOO_TOKEN={}|setx FOO_TOKEN {}|ENV '
    "FOO_TOKEN {}|"
    'foo_token: {}|fooToken: "{}"|foo_token = "{}"|"fooToken":"{}"|<token>{}</token>|<add key="ApiToken" value="{}"/>|'
    'api_key: {}|apikey = "{}"|- name: API_TOKEN\n  value: {}|--token {}|--api-key={}|[auth]\ntoken={}|foo.api.key={}|'
    'token "{}"|auth_token => "{}"|my api key is {}|here is the token: {}|API-Schlüssel: {}|encryption_key = b"{}"|'
    '//registry.example/:_authToken={}|npmAuthToken: "{}"|X-Api-Key: {}|x-auth-token: {}|PRIVATE-TOKEN: {}|'
    "Cookie: session={}; theme=dark|Set-Cookie: sessionid={}; Path=/; HttpOnly|Cookie: theme=dark; sessionid={}|"
    'document.cookie = "auth_token={}"|curl -b "session={}" x|curl --cookie "JSESSIONID={}" x|connect.sid=s%3A{}|'
    '"identitytoken": "{}"|"client_secret": "{}"|AZURE_CLIENT_SECRET={}|"Authorization": "Bearer {}"'
).split("|")
AWS = (
    'aws_secret_access_key = {}|AWS_SECRET_ACCESS_KEY={}|secretAccessKey: "{}"|AWS_SECRET_KEY: {}|aws secret {}|'
    '"SecretAccessKey": "{}"|aws_secret={}|aws configure set aws_secret_access_key {}|S3_SECRET={}|'
    "the aws secret access key is {}"
).split("|")
SAID = (
    'psk={}|psk="{}"|the PSK is {}|WPA2 key: {}|hmac key = {}|webhook secret {}|twilio auth token {}|'
    "cohere api key {}\nthen go on|Authorization: SSWS {}|login: admin / {}|creds are admin:{}|use {} as the password|"
    "take `{}` as your new password, please"
).split("|")
BASE64 = (
    'Authorization: Basic {}|curl -H \'Authorization: Basic {}\' x|{{"auths":{{"r.example":{{"auth":"{}"}}}}}}|'
    '"auth": "{}"|_auth={}|//x/:_password={}|AccountName=x;AccountKey={};EndpointSuffix=y|SharedAccessKey={}'
).split("|")
JWTS = (
    "https://x.example/cb?token={}|https://x.example/#access_token={}&expires=3|wss://x.example/s?jwt={}|/v/{}/y"
).split("|")
PREFIXED = (
    "sk_live_ 24|rk_live_ 24|whsec_ 32|xoxb- 40|xoxp- 40|xoxe.xoxp-1- 60|ghp_ 36|gho_ 36|ghu_ 36|ghs_ 36|ghr_ 36|"
    "github_pat_ 82|glpat- 20|gldt- 20|glrt- 20|glptt- 20|glcbt- 20|glsoat- 20|glft- 20|npm_ 36|"
    "pypi-AgEIcHlwaS5vcmc 60|"
    "hf_ 34|sk-proj- 48|sk- 48|sk-svcacct- 48|sk-ant-api03- 90|AIza 35|ya29. 60|EAACEdEose0cBA 90|nvapi- 64|phx_ 43|"
    "apify_api_ 36|dckr_pat_ 27|CFPAT- 43|fm2_ 60|BBDC- 40|gsk_ 52|lin_api_ 40|secret_ 43|hvs. 24|"
    "AKCp 69|nfp_ 36|pscale_tkn_ 43|pscale_pw_ 43|pcsk_ 60|pnu_ 36|fio-u- 64|tk-us- 48|duffel_test_ 43|sha256~ 43|"
    "mdb_sa_sk_ 40|tfp_ 59|aio_ 28|rnd_ 32|csk- 48|tgp_v1_ 43|jina_ 60|fw_ 24|pa- 43|re_a1B2c3D4_ 24"
).split("|")
HEXED = (
    "rubygems_ 48|pul- 40|dop_v1_ 64|shpat_ 32|key- 32|sbp_ 40|dapi 32|pat-na1- 36|sqp_ 40|squ_ 40|bkua_ 40|rdme_ 70|"
    "shippo_live_ 40|fc- 32|sk_ 48|FLWSECK- 32"
).split("|")


def cases(kind, forms, make):
    for number, form in enumerate(forms if isinstance(forms, (list, tuple)) else forms.split("|")):
        yield pytest.param(form, make(Maker(number)), id=f"{kind}-{form.splitlines()[0][:40]}")


@pytest.mark.parametrize(
    ("form", "secret"),
    [
        *cases("pin", PINS, lambda maker: maker.of(DIGITS, 4)),
        *cases("pin6", PINS, lambda maker: maker.of(DIGITS, 6)),
        *cases("letters", SMALL_LETTERS, lambda maker: maker.letters(12)),
        *cases("mixed", SMALL_LETTERS, lambda maker: maker.mixed(14)),
        *cases("handed", HANDED_OVER, lambda maker: maker.letters(14)),
        *cases("handed-mixed", HANDED_OVER, lambda maker: maker.mixed(24)),
        *cases("token", TOKENS, lambda maker: maker.mixed(34)),
        *cases("said", SAID, lambda maker: maker.mixed(32)),
        *cases("aws", AWS, Maker.aws),
        *cases("base64", BASE64, lambda maker: maker.base64(24)),
        *cases("jwt", JWTS, Maker.jwt),
    ],
)
def test_a_secret_goes_from_where_it_stands(form, secret):
    cleaned = redact(form.replace("~", "|").format(secret))
    assert secret not in cleaned and secret[4:-4] not in cleaned.replace("[redacted:", "") or len(secret) < 9, cleaned
    assert secret not in cleaned and "[redacted:" in cleaned


@pytest.mark.parametrize("shape", [*PREFIXED, *HEXED])
def test_a_token_goes_by_its_prefix_alone(shape):
    prefix, length = shape.split()
    maker = Maker(shape)
    rest = maker.hexed(int(length)) if shape in HEXED else maker.mixed(int(length))
    assert redact(f"it was {prefix}{rest}, see above").startswith("it was [redacted:")
    assert rest[8:] not in redact(f'{{"x": "{prefix}{rest}"}}')


@pytest.mark.parametrize("kind", ["", "RSA ", "EC ", "DSA ", "OPENSSH ", "ENCRYPTED "])
@pytest.mark.parametrize("write", [str, lambda key: json.dumps({"private_key": key}), lambda key: key[:200]])
def test_every_kind_of_private_key_goes_in_every_spelling(kind, write):
    key = Maker(kind).armour(kind)
    cleaned = redact("before\n" + write(key))
    assert cleaned.startswith("before\n") and "[redacted:private-key]" in cleaned
    assert not any(line in cleaned for line in key.splitlines()[1:-1])


def test_keys_of_putty_and_ssh2_go_and_their_public_part_may_stay():
    maker = Maker("putty")
    public, private = maker.base64(48), [maker.base64(48) for _ in range(4)]
    putty = f"PuTTY-User-Key-File-3: ssh-ed25519\nEncryption: none\nPublic-Lines: 1\n{public}\nPrivate-Lines: 4\n"
    for text in (
        putty + "\n".join(private) + "\nPrivate-MAC: " + maker.hexed(40),
        "---- BEGIN SSH2 ENCRYPTED PRIVATE KEY "
        "----\n" + "\n".join(private) + "\n---- END SSH2 ENCRYPTED PRIVATE KEY ----",
    ):
        cleaned = redact(text)
        assert not any(line in cleaned for line in private) and "[redacted:private-key]" in cleaned
    assert public in redact(putty + "\n".join(private) + "\nPrivate-MAC: x")


STAYS = r"""
the password is stored hashed|PIN: see wiki|the PIN is entered on the device|PIN: 4 digits|PIN: optional
pin: numpy==1.26.4|PIN the version to 3.11|pin: 17|GPIO pin: 18|pins: 4, 5|LED_PIN=13|#define LED_PIN 13
pin 13 is the LED|pin: 2024.1.0|pin=A0|pin_count=1000|pincode 560001 is in Bangalore|spin: 4711|pinned: 4711
zip code: 4711|port: 4711|PID: 4711|pin-project = "1.0"|PIN messages in Slack|pin: 1.2345|the shipping: 4711
the password is correct|password: required|password: see 1password|the password: a short history|password: string
password: str = None|password: optional|password: must have 8 characters|password: minimum length|password field
password: forgotten|Passwort: vergessen|Passwort: siehe Wiki|Kennwort: siehe Wiki|mot de passe : voir le wiki
contraseña: ver wiki|密码：见维基|password: administrator|password: kubernetes|password: documentation
password: keychain
password: confirmation|password: environment|password: authentication|password: development|password: description
password: ${DB_PASSWORD}|password: {{ vault_db }}|password = getpass()|password=os.environ["DB_PASSWORD"]
password: $DB_PASSWORD|password: changeme|password: <password>|password: None|type: password|input[type=password]
username: required, password: required|username: str\npassword: str|passwordHash: String
password reset emails are sent|the password for users: hashed|password strength matters|password managers help
password handling changed|commit 3f2a9c1d4e5b6a7f8091a2b3c4d5e6f708192a3b|3b241101-e2bb-4255-8caf-4136c566a962
sha512-abc in the lock file|data:image/png;base64,iVBORw0KGgo= is an image
session 3b241101-e2bb-4255-8caf-4136c566a962|"auth": "basic"|auth: true|"auth": "oauth2"|"auth": "required"
auth: none|the auth: see docs|the token expires after 15 minutes|token: string|max_tokens=4096
"completion_tokens": 381|secret: managed by vault|API_KEY=your-key-here|api_key: YOUR_API_KEY
export OPENAI_API_KEY=your-key|token = tokens[0]|token = next(tokens)|secret = get_secret("x")
the key is simplicity|the secret is to start small|key: value|cache key = user:42|foreign key: user_id
the cache key is built from the id|Basic authentication is used|basic example of|Bearer token missing
cookie: consent banner|the Set-Cookie header is missing|Cookie: theme=dark|curl -u user https://x
curl -u $USER:$PASS x|docker run -u 1000:1000 x|docker login --password-stdin
cat <<EOF > config.yml\nname: app\nport: 8080\nEOF|cat > notes.txt <<EOF\nhello world\nEOF
python <<EOF\nprint(1)\nEOF|grep foo <<< "$text"|read a b <<< "one two"
docker login --password-stdin <<< "$TOKEN"|cat > token.txt <<EOF\n$TOKEN\nEOF
cat > secrets.md <<EOF\nWhere our secrets are kept\n\nin the vault\nEOF
<<<<<<< HEAD\nx = 1\n=======\nx = 2\n>>>>>>> main|<<<<<<< 3f2a9c1d4e5b6a7f8091a2b3c4d5e6f708192a3b
cout << "password" << endl;|x = 1 << 4|echo "a:b" ~ sort|machine learning login form password field
the machine login and password are separate|default login page password box|aws secrets manager holds it
our aws secret is rotated every month|12 passed, 0 failed|pass: 12, fail: 3|le test passe : ok|senha: ver wiki
sha256sum -c <<< "3f2a9c1d4e5b6a7f8091a2b3c4d5e6f708192a3b"
use argon2id as the password hasher|store bcrypt2 as the password hash|use it as the password|login: src/auth2.py
the auth token src/lib/tokens2024/Handler1.tsx is read|the psk is in the vault|psk: see wiki|upskill42: more
the seed phrase: write down all of the words and keep them where nobody else will ever look for them
a recovery phrase has twelve or twenty four words from a list that everybody knows and wallets read
"""
WALLET = "legal winner thank year wave sausage worth useful legal winner thank yellow"


@pytest.mark.parametrize("line", [part for row in STAYS.strip().split("\n") for part in row.split("|")])
def test_what_is_only_about_secrets_stays(line):
    text = line.replace("\\n", "\n").replace("~", "|")
    assert redact(text) == text


@pytest.mark.parametrize("form", ["mnemonic: {}", "the seed phrase is {}.", 'recovery phrase = "{}"', "Seed words\n{}"])
def test_the_words_that_open_a_wallet_go(form):
    assert redact(form.format(WALLET)) == form.format("[redacted:phrase]")
    numbered = form.format(f"{WALLET} {WALLET}")
    assert redact(numbered) == form.format("[redacted:phrase]")


def test_the_hash_of_a_package_stays():
    line = f'"integrity": "sha512-{Maker(1).mixed(86)}=="'
    assert redact(line) == line


def test_nearly_every_random_password_of_small_letters_goes():
    passwords = [Maker(number).of(LETTERS, 12) for number in range(400)]
    kept = [password for password in passwords if password in redact(f"password: {password}")]
    assert len(kept) <= 400 * 0.07, kept


def test_words_stay_behind_the_name_of_a_password():
    """Letters alone are a password where no word has them; of everyday words hardly any is taken for one."""
    words = (
        "anything application arbitrary automatically available background beautiful calculated certificate "
        "character collection communication community compatible completely complicated component configuration "
        "connection considered constantly container convention corporate dependency deployment developer different "
        "directory discussed distributed encrypted everything expensive explicitly filesystem following framework "
        "frequently functional generation government guaranteed hashed highlighted identical immediately important "
        "infrastructure initialized interactive javascript knowledge localhost maintained management mechanism "
        "necessary networking obfuscated operational organization particular performance permanently persistent "
        "platform previously processing production programming protected provisioned randomly recommended regenerated "
        "registered repository requirements restricted scheduled sensitive separately something sometimes somewhere "
        "structured subscription synchronized temporary throughout transferred transmitted typescript ubuntu "
        "understood unfortunately unspecified validated vulnerable whatever whitespace workflow yesterday"
    ).split()
    changed = [word for word in words if redact(f"password: {word}") != f"password: {word}"]
    assert len(changed) <= len(words) * 0.02, changed


BEGINNINGS = (
    "<<<|passwd <<< |chpasswd <<EOF\n|cat > token <<A\n|pin is |密码：|pin: 1 |seed phrase word |"
    "mnemonic | as the password"
).split("|")


@pytest.mark.parametrize("piece", BEGINNINGS, ids=ascii)
def test_a_long_text_of_such_beginnings_is_done_in_linear_work(piece):
    """A look that goes over the whole text for each of them would not come back."""
    assert isinstance(redact(piece * (200_000 // len(piece))), str)
