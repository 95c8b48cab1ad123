"""The ways in which a secret stands in what developers write: options, files of settings, headers, cookies, URLs.

No secret stands here in one piece that a scanner could take for a leak.
"""

import pytest

from hippo_core.guard.redact import redact

MIXED = "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8s9T0u1V2w3X4y5Z6" * 3
HEX = "0123456789abcdef" * 4
LETTERS = "sDJLyn" + "CTqvFL"
WEAK = "S3cret" + "Xq"
TOKEN_OF_LETTERS = LETTERS + "wYhKzbRm"

# {} stands for a password, of letters alone or a weak one.
PASSWORDS = [
    "password: {}",
    "PASSWORD: {}",
    "db_password: {} # prod",
    "password = {}",
    "my password is {}",
    "the password for the db is {}",
    "password (root): {}",
    "**Password:** {}",
    "**Password**: `{}`",
    "| Password | `{}` |",
    "password -> {}",
    "password → {}",
    "Password:\n{}",
    "password: |\n  {}",
    "password: >-\n  {}",
    "pw: {}",
    "user: admin / pass: {}",
    "username: me\npass: {}",
    "creds: admin:{}",
    '{{\\\\\\"password\\\\\\": \\\\\\"{}\\\\\\"}}',
    '{{"name": "DB_PASSWORD", "value": "{}"}}',
    "name: DB_PASSWORD\n  value: {}",
    '<property name="password" value="{}"/>',
    "machine h\n  login me\n  password {}",
    "ENV DB_PASSWORD {}",
    "db.example.org:5432:shop:me:{}",
    "*:*:*:postgres:{}",
    "jdbc:mysql://h/db?user=me&password={}",
    "jdbc:oracle:thin:me/{}@h:1521:x",
    "amqp://me:{}@h/",
    "Server=h;Uid=sa;Pwd={};",
    "ALTER USER me WITH PASSWORD '{}'",
    "CREATE USER me IDENTIFIED BY '{}'",
    "requests.get(url, auth=('admin', '{}'))",
    "HTTPBasicAuth('me', '{}')",
    "kubectl create secret generic x --from-literal=password={}",
    "mysql -u root -p{}",
    "docker exec db mysql -uroot -p'{}' shop",
    "mysqldump --host x -u root -p{} shop > dump.sql",
    "mysql \\\n  -h db \\\n  -p{}",
    "mariadb -p{}",
    "mongosh -u a -p {}",
    "sshpass -p {} ssh a@b",
    "sshpass -p'{}' ssh a@b",
    "docker login -u me -p {}",
    "docker login registry.example.org \\\n  -u me \\\n  -p {}",
    "helm registry login -u me -p {} r.example.org",
    "az login -u me -p {}",
    "curl -u me:{} https://x.io",
    "curl -ume:{} https://x.io",
    "curl -su me:{} https://x.io",
    "curl -X POST \\\n -u 'me:{}' https://x.io",
    "http -a me:{} x.io",
    "redis-cli -h x -a {} ping",
    "sqlcmd -S h -U sa -P {}",
    "ldapsearch -x -D cn=a -w {}",
    "unzip -P {} a.zip",
    "7z x a.7z -p{}",
    "openssl enc -aes-256-cbc -k {}",
    "htpasswd -b file me {}",
    "smbclient //h/s -U me%{}",
    "sqlplus scott/{}@orcl",
    "requirepass {}",
    "echo {} | sudo -S ls",
    "echo '{}' | docker login --password-stdin -u me",
]


@pytest.mark.parametrize("form", PASSWORDS)
@pytest.mark.parametrize("secret", [LETTERS, WEAK], ids=["letters", "weak"])
def test_a_password_goes_however_it_is_spelt(form, secret):
    before, after = form.format("\0").split("\0")
    cleaned = redact(f"Set it so:\n{before}{secret}{after}\nand go on.")
    assert secret not in cleaned and secret[:6] not in cleaned
    assert cleaned.startswith("Set it so:\n" + before) and cleaned.endswith("\nand go on.")


TOKENS = [
    "//npm.example.org/:_authToken={}",
    "SECRET_KEY: {}",
    "my api key is {}",
    "Authorization: Bearer {}",
    'headers.set("Authorization", "{}")',
    'headers={{"X-API-Key": "{}"}}',
    '.header("X-Api-Key", "{}")',
    "setx API_KEY {}",
    "gh secret set DEPLOY -b {}",
    '<add key="ApiKey" value="{}"/>',
    '<string name="api_key">{}</string>',
    '{{"key":"API_KEY","value":"{}"}}',
    "kubectl create secret generic x --from-literal=apikey={}",
]


@pytest.mark.parametrize("form", TOKENS)
@pytest.mark.parametrize("secret", [TOKEN_OF_LETTERS, MIXED[:30]], ids=["letters", "mixed"])
def test_a_token_goes_however_it_is_spelt(form, secret):
    cleaned = redact(form.format(secret))
    assert secret not in cleaned and "[redacted:" in cleaned


PLACED = {
    "session cookie": ("curl -b 'session={}' x.io", MIXED[:30]),
    "session cookie in code": ("cookies={{'sessionid': '{}'}}", MIXED[:32]),
    "session of a servlet": ("JSESSIONID={}; Path=/", HEX[:32].upper()),
    "one-time password seed": ("otpauth://totp/x:me?secret={}&issuer=x", "JBSWYDPEHPK" + "PXPAB"),
    "shared access signature": ("?sv=2020&sig={}", "abc%2Fdef%3D" + MIXED[:20]),
    "signed URL": ("X-Amz-Signature={}", HEX),
    "secret beside the key id": ("AK" + "IAIOSFODNN7ABCDEFG {}", "wJalrXUtnFEMI/K7MDENG" + "/bPxRfiCYABCDEFGHIJ"),
    "secret below the key id": (
        "key AK" + "IAIOSFODNN7ABCDEFG\nand {}",
        "wJalrXUtnFEMIsK7MDENG" + "sbPxRfiCYABCDEFGHIJ",
    ),
    "secret that contains a name": ("aws_secret_access_key = {}", "wJalrXUtnFEMIK7MDENG" + "bPxRfiCYEXAMPLEKEY"),
    "asked for": ("AWS Secret Access Key [None]: {}", "wJalrXUtnFEMI/K7MDENG" + "/bPxRfiCYEXAMPLEKEY"),
    "registry login": ("_auth={}", "bWU6c2VjcmV0" + "cGFzc3dvcmQ="),
    "discord hook with a version": (
        "https://discord.com/api/v10/" + "webhooks/123456789012345678/{}",
        MIXED[:68],
    ),
    "zapier hook": ("https://hooks.zapier" + ".com/hooks/catch/{}", "123456/abc12de"),
    "telegram in a URL": ("https://api.telegram.org/bot{}/getMe", "123456789" + ":AA" + MIXED[:33]),
    "mapbox": ("token at {}", "s" + "k.ey" + "J1" + MIXED[:60] + "." + MIXED[:22]),
    "discord of 19 digits": ("bot {}", "MTE5" + MIXED[:22] + ".G" + MIXED[:5] + "." + MIXED[:38]),
    "discord of a user": ("{}", "mf" + "a." + MIXED[:84]),
    "signed cookie": ("{}", "ey" + "J" + MIXED[:40] + "." + MIXED[:6] + "." + MIXED[:27]),
    "encrypted token": ("{}", "ey" + "J" + MIXED[:30] + ".." + MIXED[:16] + "." + MIXED[:60] + "." + MIXED[:22]),
    "key of a cluster": ("client-key-data: {}", "LS0tLS1CRUdJTiBQUklWQVRF" + "IEtFWS0tLS0tCk1J" + MIXED[:40]),
    "token without a digit": ("{}", "gl" + "pat-" + TOKEN_OF_LETTERS),
}


@pytest.mark.parametrize("name", PLACED)
def test_what_its_place_or_shape_gives_away_goes(name):
    form, secret = PLACED[name]
    cleaned = redact(form.format(secret))
    assert secret not in cleaned and secret[-12:] not in cleaned and "[redacted:" in cleaned


GITHUB = "gh" + "p_" + MIXED[:36]


@pytest.mark.parametrize("sign", ["\u200b", "\u200d", "\u2060", "\ufeff", "\u00ad"], ids=ascii)
@pytest.mark.parametrize("place", [0, 2, 4, 14, 39, 40])
def test_a_sign_without_a_glyph_does_not_hide_a_token(sign, place):
    cleaned = redact(f"use {GITHUB[:place]}{sign}{GITHUB[place:]} now")
    assert GITHUB[20:32] not in cleaned and GITHUB[4:14] not in cleaned
    assert cleaned.replace(sign, "") == "use [redacted:github] now"


@pytest.mark.parametrize("before", ["\x1b[32m", "\x1b[1;31m", "\\u001b[32m", "%3D", "\\u0022"], ids=ascii)
def test_a_token_begins_behind_an_escape(before):
    assert redact(f"x {before}{GITHUB} y") == f"x {before}[redacted:github] y"


def test_the_signs_in_a_text_without_a_secret_stay():
    text = "a\u200bb and \u2764\ufe0f, 1\ufe0f\u20e3, family \U0001f468\u200d\U0001f469; the token is kept"
    assert redact(text) == text


@pytest.mark.parametrize(
    "piece", ["mysql -p", "login -p ", "curl -u a:", "[redacted:aws] a", "pw: ", "session=", "a:*:"]
)
def test_a_long_text_of_beginnings_is_done_in_linear_work(piece):
    """A pattern that backtracks over the whole text would not come back."""
    assert isinstance(redact(piece * (250_000 // len(piece))), str)


@pytest.mark.parametrize("place", ["password: {}", "password={}", "Password: {} for staging", "my password is {}"])
@pytest.mark.parametrize(
    "value", ["hunter2" + "secret", "secret" + "123", "Passw" + "0rd!", "s3cr3t" + "key", "mytoken" + "42x"]
)
def test_a_password_that_is_made_of_the_word_for_one_is_no_variable_s_name(place, value):
    assert value.rstrip("!") not in redact(place.format(value))


@pytest.mark.parametrize(
    "name", ["userPassword2", "password1", "auth_token_42", "oauth2Token", "base64key", "s3Secret"]
)
def test_a_variable_with_a_number_in_its_name_stays(name):
    assert redact(f"password: {name}") == f"password: {name}"
