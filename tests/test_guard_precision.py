"""What people write about secrets in code, documents and command lines, without telling one: all of it stays."""

import pytest

from hippo_core.guard.redact import redact

CODE = r"""
password: string
password: required
password: MyPasswordField
password: SecretStr
password: Annotated[str, Field(min_length=8)]
password: PasswordInput(render_value=True)
password: currentUser.password
password: newPasswordHash
password: EncryptedCharField
password: HashedPassword
passwordField: UITextField
password: TextInputLayout
password: UserCredentialsRepository
password: BCryptPasswordEncoder
password: FormControl
password: GetPasswordFromKeychain
password: defaultPassword,
password = passwordTextField.text
password = generatePassword()
let password = passwordInput.value
var token: CancellationToken
token: CancellationToken = default
token: JsonWebTokenAuthentication
secret: ExternalSecretStoreRef
apiKey: ApiKeyAuthenticationOptions
token: bearerTokenAuthentication
private let apiKey: ConfigurationProvider
const token = useContext(AuthContext)
password: process.env.DB_PASSWORD
password: Optional[SecretStr] = None
(token) => validate(token)
password => password.length > 8
map(token => token.value)
session = requests.Session()
session=AsyncSessionLocal()
sessionid=current_session_identifier
sid = os.setsid()
user_session = create_session(engine)
sessionId: '11111111-1111-4111-8111-111111111111'
session=550e8400-e29b-41d4-a716-446655440000
"session_id": "550e8400-e29b-41d4-a716-446655440000"
auth=('user', password)
auth = (username, password)
auth: { type: 'basic' }
self._auth = BedrockAwsAuth(self._config)
_HEADERS = ("authorization", "x-amz-content-sha256", "x-amz-date")
IDENTIFIED BY ?
CREATE USER me IDENTIFIED BY '${PW}'
name: DB_PASSWORD\n  valueFrom:\n    secretKeyRef:\n      key: password
- name: API_KEY\n  value: ${API_KEY}
{"name": "password", "value": ""}
{"name": "token", "type": "string", "value": "string"}
<input type="password" name="password" value="" />
<property name="password" value="${db.password}"/>
type Field = 'password' | 'email' | 'token2'
type A = Token | Sha256Hash
r"Token|MessageLinked|PassCollisions|AxisAngle2Rot|Rot2Axis"
["password", "email_address_2"]
headers.get("Authorization", "")
("token", "access_token_expires_at_2")
request.headers.get("x-api-key", "missing-api-key-default")
env: ["API_KEY", "SECRET_TOKEN_NAME_2"]
HTTPBasicAuthHandler(password_mgr=auth)
password:\n  type: string
password:\n  minLength: 8
secret:\n  secretName: shop-db-2
token: ${{ secrets.GITHUB_TOKEN }}
token: |\n  ${{ secrets.GITHUB_TOKEN }}
password: !vault |
const pw = await playwright.chromium.launch()
pw = sync_playwright().start()
import playwright as pw
primary key: CustomerOrderLineItem
foreign_key: customer_order_line_item
key: ArrowDown, keyCode: 40
hotkey: CmdShiftK
tokens: PreTrainedTokenizerFast
tokenizer: AutoTokenizer
passing: PyTorchObjectWrapper
bypass: MyXmlHttpProxy
com.example.MyClassNameThatIsLong.method.anotherMethodNameThatIsLongToo
"""

PROSE = r"""
The password: everything after the colon is prose.
Password: must be at least 8 characters
Password: leave it blank
password - the user's password in plain text
The password is stored with bcrypt.
the password is hashed with argon2id before it is stored
The secret is kept in Vault, the token is refreshed hourly
the token for the job is read from disk
the password for the db is in 1Password
the password of the first user is printed once
my password is not working
the key is to keep it short
the api key is missing
password → hash → compare
token -> user
pass -> fail
| password | string | The user's password |
| token | yes | Bearer token |
| Field | Type |\n| password | varchar(255) |
| api_key | str | required |
pass: 12 passed, 3 failed
pass: true
user: test pass: yes
users pass: 12
Access key id and secret access key are both required
eyJ.foo.bar eyJhbGciOi... truncated
sk.eyJ is the prefix of a secret token, pk.eyJ of a public one
M.Sc. Physics, N.B. see MNOPQR.abc.def
identified by its id
a​b c​d ❤️ 1️⃣ family 👨‍👩
[redacted:aws] 3f2a9c1b8d7e6f5a4b3c2d1e0f9a8b7c6d5e4f3a
main.py:12:5: E501 line too long
src/a.ts:10:3:error:x
2026-11-29T20:54:12 host:*:*:LISTEN
LS0tLS1CRUdJTiBDRVJUSUZJQ0FURS0tLS0tCk1JSUJzekNDQVZtZ0F3SUJBZ0lV
X-Amz-Signature=<signature>
?sig=placeholder
otpauth://totp/Example:alice?secret=<SECRET>&issuer=Example
"""

COMMANDS = r"""
docker run -p 80:80 nginx
docker run -d -p 127.0.0.1:5432:5432 -e POSTGRES_PASSWORD=$PW postgres
docker run --name mysql -p 3306:3306 mysql:8
docker compose -p myproject up
podman run -p 8080:80/tcp img
gcc -pthread main.c
g++ -pthread -lmysqlclient main.cpp
gcc -pipe mysql.c
mkdir -p path/to/dir
mkdir -p /var/lib/mysql && mysql -u root -p
mkdir -p mongo && mongod --dbpath mongo
tar -xpf archive.tar
tar -xpzf mysql.tar.gz
cp -pr mysql backup
rsync -pogt mysql/ backup/
ssh -p 2222 host
scp -P 2222 a b:
nmap -p 22,80 host
mysql -u root -p
mysql -u root -p shop
mysql -u root -p$MYSQL_ROOT_PASSWORD shop
mysql -u root -p"$MYSQL_ROOT_PASSWORD" shop
mysql -u root -p${PW}
mysql -u root -p<password>
mysql -h 127.0.0.1 -P 3306 -u root
mysqldump --single-transaction -u root -p shop > dump.sql
docker exec -it mysql bash -c 'ls -pla'
npm run dev -- -p 3000
next dev -p 3001
python -m http.server -p 8000
npx playwright test -p chromium
pytest -p no:cacheprovider
claude -p "summarise the mysql logs"
git add -p src/mysql.py
git log -p mysql/
ps -p 1234
read -p "Password: " -s pw
docker login ghcr.io -u me --password-stdin
docker login && docker run -p 8080:80 img
az login then az webapp up -p myplan
unzip -p archive.zip file.txt
unzip a.zip -d out
zip -r a.zip dir
redis-cli -h cache ping
redis-cli -a $REDIS_PASSWORD ping
curl -X POST -H 'Content-Type: application/json' http://localhost:8080/a
curl -sSL https://get.docker.com | sh
curl -o out.txt -u "$USER:$PASS" https://x.io
curl -u ${USER}:${TOKEN} https://x.io
curl -fsSL https://x.io/install.sh -o /tmp/i:sh
docker run -u 1000:1000 curlimages/curl
http GET localhost:8000/api
openssl req -x509 -newkey rsa:4096 -keyout key.pem
openssl rsa -in key.pem -pubout
openssl enc -d -aes-256-cbc
htpasswd -c .htpasswd me
echo "hello" | sudo tee /etc/motd
echo $PASSWORD | docker login --password-stdin
echo done | tee log
ldapsearch -x -b dc=example,dc=org
pwd: /home/me/project
PWD=/home/me/project
cd "$(pwd)" && ls
pwsh -File build.ps1
localhost:5432:shop:me:$PGPASSWORD
requirepass <password>
gh secret set DEPLOY_KEY -b "$KEY"
gh pr create -b "Fixes the login" -t x
"""


def _lines(block):
    return [line.replace("\\n", "\n") for line in block.strip().splitlines()]


@pytest.mark.parametrize("block", [CODE, PROSE, COMMANDS], ids=["code", "prose", "commands"])
def test_lines_about_secrets_that_tell_none_stay(block):
    changed = {line: redact(line) for line in _lines(block) if redact(line) != line}
    assert not changed


def test_they_stay_together_too():
    text = "\n\n".join(_lines(CODE + PROSE + COMMANDS))
    assert redact(text) == text
