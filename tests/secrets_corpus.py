"""Secrets to be found, and ordinary texts to be left alone.

No secret stands in this file: each is put together from parts when the tests run, is made up, and
opens nothing.
"""

from __future__ import annotations

import base64
import json
import random
from collections.abc import Iterator
from pathlib import Path
from string import ascii_letters, ascii_lowercase, ascii_uppercase, digits, hexdigits
from typing import NamedTuple

ROOT = Path(__file__).parent.parent
ALNUM = ascii_letters + digits
URLSAFE = ALNUM + "-_"
BASE64 = ALNUM + "+/"
HEX = hexdigits.lower()[:16]


class Case(NamedTuple):
    """A text with one secret in it."""

    kind: str
    text: str
    secret: str

    @property
    def expected(self) -> str:
        return self.text.replace(self.secret, f"<{self.kind}:1>")


def fake(length: int, alphabet: str = ALNUM, seed: str = "") -> str:
    """Characters that are the same in every run, with each sort of the alphabet among them."""
    chance = random.Random(f"{seed}{length}{alphabet}")
    sorts = (ascii_lowercase, ascii_uppercase, digits)
    musts = [chance.choice([c for c in sort if c in alphabet] or [""]) for sort in sorts]
    return ("".join(musts) + "".join(chance.choices(alphabet, k=length)))[:length]


def encoded(value: object) -> str:
    """Base64url without padding."""
    text = json.dumps(value) if isinstance(value, dict) else str(value)
    return base64.urlsafe_b64encode(text.encode()).decode().rstrip("=")


def token(*parts: str) -> str:
    return "".join(parts)


def jwt() -> str:
    head, body = {"alg": "HS256", "typ": "JWT"}, {"sub": "nobody", "iat": 1}
    return ".".join([encoded(head), encoded(body), fake(43, URLSAFE)])


def pem(label: str, *, headers: str = "", lines: int = 6, end: bool = True) -> str:
    body = "\n".join(fake(64, BASE64, seed=f"{label}{n}") for n in range(lines))
    dashes = "-" * 5
    foot = f"\n{dashes}END {label}{dashes}" if end else ""
    return f"{dashes}BEGIN {label}{dashes}\n{headers}{body}{foot}"


def free() -> Iterator[tuple[str, str]]:
    """Kind and secret, of those that their own shape gives away."""
    for part in ("api03", "admin01", "oat01", "sid01"):
        yield "anthropic-key", token("sk-", "ant-", part, "-", fake(93, URLSAFE), "AA")
    yield "openai-key", token("sk-", fake(48))
    yield "openai-key", token("sk-", fake(20), "T3Blbk", "FJ", fake(20))
    yield "openai-key", token("sk-", "proj-", fake(156, URLSAFE))
    yield "openai-key", token("sk-", "svcacct-", fake(120, URLSAFE))
    yield "openrouter-key", token("sk-", "or-", "v1-", fake(64, HEX))
    uuid = "-".join(fake(n, HEX, seed=str(n)) for n in (8, 4, 4, 4, 12))
    yield "langfuse-key", token("sk-", "lf-", uuid)
    yield "langfuse-key", token("pk-", "lf-", uuid)
    for letter in "pousr":
        yield "github-token", token("gh", letter, "_", fake(36))
    yield "github-token", token("gh", "s_", "123456_", jwt())
    yield "github-token", token("github", "_pat_", fake(22), "_", fake(59))
    for part in ("pat", "dt", "rt", "ptt", "cbt", "soat", "agent"):
        yield "gitlab-token", token("gl", part, "-", fake(20, URLSAFE))
    yield "gitlab-token", token("gl", "pat-", fake(27, URLSAFE), ".01.", fake(9, HEX))
    yield "aws-access-key", token("AK", "IA", fake(16, ascii_uppercase + "234567"))
    yield "aws-access-key", token("AS", "IA", fake(16, ascii_uppercase + "234567"))
    yield "google-api-key", token("AI", "za", fake(35, URLSAFE))
    yield "google-oauth-token", token("ya", "29.", fake(120, URLSAFE))
    yield "google-oauth-token", token("ya", "29.c.", fake(120, URLSAFE))
    yield "google-oauth-token", token("1/", "/0", fake(60, URLSAFE))
    yield "google-oauth-secret", token("GOC", "SPX-", fake(28, URLSAFE))
    yield "azure-client-secret", token(fake(3), "8", "Q~", fake(34, URLSAFE + "~"))
    yield "slack-token", token("xo", "xb-", fake(12, digits), "-", fake(13, digits), "-", fake(24))
    yield (
        "slack-token",
        token("xo", "xp-", fake(12, digits), "-", fake(12, digits), "-", fake(32, HEX)),
    )
    yield "slack-token", token("xo", "xe.xo", "xp-1-", fake(160))
    yield "slack-token", token("xa", "pp-1-A0", fake(9), "-", fake(13, digits), "-", fake(64, HEX))
    for start in ("sk_live_", "rk_live_", "sk_test_", "rk_test_"):
        yield "stripe-key", token(start[:3], start[3:], fake(24))
    yield "stripe-webhook-secret", token("wh", "sec_", fake(32))
    yield "npm-token", token("np", "m_", fake(36))
    yield "pypi-token", token("py", "pi-Ag", "EIcHlwaS5vcmc", fake(150, URLSAFE))
    yield "huggingface-token", token("h", "f_", fake(34, ascii_letters))
    yield "sendgrid-key", token("S", "G.", fake(22, URLSAFE), ".", fake(43, URLSAFE))
    yield "twilio-key", token("S", "K", fake(32, HEX))
    yield "twilio-key", token("A", "C", fake(32, HEX))
    yield "telegram-token", token(fake(10, digits), ":", "AA", fake(33, URLSAFE))
    bot = encoded("1098765432109876543")
    yield "discord-token", token(bot, ".", fake(6, URLSAFE), ".", fake(38, URLSAFE))
    yield "digitalocean-token", token("do", "p_v1_", fake(64, HEX))
    for part in ("at", "ca", "pa", "ss"):
        yield "shopify-token", token("sh", "p", part, "_", fake(32, HEX))
    yield "sentry-token", token("snt", "rys_", fake(100, BASE64), "_", fake(43, BASE64))
    yield "jwt", jwt()
    yield "jwt", token(encoded({"alg": "none"}), ".", encoded({"sub": "1"}), ".")


def put(secret: str) -> Iterator[str]:
    """Ways to write a secret that needs nothing around it."""
    yield secret
    yield f"The key is {secret}, do not share it."
    yield f'client = Client("{secret}")  # from the console'
    yield json.dumps({"name": "x", "value": secret, "note": "a\nb"})
    yield f"export SOME_NAME={secret}\nexport OTHER=1\n"
    yield f"curl 'https://api.example.com/v1/items?key={secret}&page=2'"
    yield json.dumps({"log": f"started\n{secret}\tok"})
    yield f"\x1b[32m{secret}\x1b[0m"
    yield f"值{secret}é"


def aws() -> Iterator[Case]:
    """What only a name, or an access key id nearby, gives away."""
    key, session = fake(40, BASE64), fake(300, BASE64)
    for text in (
        "AWS_SECRET_ACCESS_KEY={}",
        "aws_secret_access_key = {}\nregion = eu-west-1",
        '{{"SecretAccessKey": "{}", "SessionToken": null}}',
        'secretAccessKey: "{}",',
        "os.environ['AWS_SECRET_ACCESS_KEY'] = '{}'",
        "<SecretAccessKey>{}</SecretAccessKey>",
        "- name: AWS_SECRET_ACCESS_KEY\n  value: {}\n",
        '"{{\\"secret_key\\": \\"{}\\"}}"',
        "aws configure set aws_secret_access_key {}",
    ):
        yield Case("aws-secret-key", text.format(key), key)
    for text in ("AWS_SESSION_TOKEN={}", '"SessionToken": "{}"', "aws_session_token = {}"):
        yield Case("aws-session-token", text.format(session), session)


def azure() -> Iterator[Case]:
    """Storage keys and the signatures of shared addresses."""
    storage, shared = fake(86, BASE64) + "==", fake(43, BASE64) + "="
    for text in (
        "DefaultEndpointsProtocol=https;AccountName=x;AccountKey={};EndpointSuffix=y",
        "AZURE_STORAGE_KEY='{}'",
        '{{"storageAccountKey": "{}"}}',
    ):
        yield Case("azure-storage-key", text.format(storage), storage)
    text = f"SharedAccessKeyName=x;SharedAccessKey={shared}"
    yield Case("azure-storage-key", text, shared)
    signature = fake(42) + "%3D"
    for text in (
        "https://x.blob.core.windows.net/c/b?sv=2024-11-04&sr=b&sig={}",
        "GET /c?sig={}&se=2026-01-01T00%3A00%3A00Z HTTP/1.1",
        '{{"url": "https://x.blob.core.windows.net/?sv=1\\u0026sig={}"}}',
    ):
        yield Case("azure-sas", text.format(signature), signature)


def addresses() -> Iterator[Case]:
    """Web hooks and the addresses that Sentry is told."""
    hook = token("T", fake(9), "/B", fake(9), "/", fake(24))
    for text in ("https://hooks.{}", 'post("https://hooks.{}")', "SLACK_URL=https://hooks.{}"):
        yield Case("slack-webhook", text.format("slack.com/services/" + hook), hook)
    hook = token(fake(18, digits), "/", fake(68, URLSAFE))
    for text in ("https://discord.{}", "'https://discordapp.{}'", "HOOK=https://discord.{}"):
        yield Case("discord-webhook", text.format("com/api/webhooks/" + hook), hook)
    dsn = fake(32, HEX)
    for text in (
        "https://{}@o1.ingest.sentry.io/2",
        'init(dsn="https://{}@sentry.example.com/5")',
        "SENTRY_DSN=http://{}@localhost:9000/sub/path/2",
    ):
        yield Case("sentry-dsn", text.format(dsn), dsn)
        yield Case("sentry-dsn", text.format(f"{dsn}:{dsn[::-1]}"), f"{dsn}:{dsn[::-1]}")


def headers() -> Iterator[Case]:
    """What a request logs in with, and the one secret of Twilio that has no shape."""
    login = base64.b64encode(f"user:{fake(12)}".encode()).decode()
    for text in (
        "Authorization: Basic {}",
        'curl -H "authorization: basic {}" https://example.com',
        '{{"Authorization": "Basic {}"}}',
    ):
        yield Case("basic-credentials", text.format(login), login)
    bearer = fake(40, URLSAFE)
    for text in (
        "Authorization: Bearer {}\r\nHost: example.com",
        'headers = {{"Authorization": "Bearer {}"}}',
        "--header='Proxy-Authorization: Token {}'",
        "sent with bearer {} as before",
    ):
        yield Case("bearer-token", text.format(bearer), bearer)
    auth = fake(32, HEX)
    for text in ("TWILIO_AUTH_TOKEN={}", "auth_token='{}'", '{{"authToken":"{}"}}'):
        yield Case("twilio-token", text.format(auth), auth)


def keys() -> Iterator[Case]:
    """Private keys in PEM."""
    old = "Proc-Type: 4,ENCRYPTED\nDEK-Info: AES-128-CBC," + fake(32, HEX).upper() + "\n\n"
    labels = ("RSA", "EC", "DSA", "OPENSSH", "ENCRYPTED")
    blocks = [pem(f"{label} PRIVATE KEY") for label in labels]
    blocks += [pem("PRIVATE KEY"), pem("PRIVATE KEY", lines=1), pem("PGP PRIVATE KEY BLOCK")]
    blocks += [pem("RSA PRIVATE KEY", headers=old), pem("PRIVATE KEY").replace("\n", "\r\n")]
    blocks += [pem("PRIVATE KEY", end=False), pem("RSA PRIVATE KEY", headers=old, end=False)]
    blocks += [pem("PRIVATE KEY", end=False)[:-50]]
    for block in blocks:
        yield Case("private-key", f"Here:\n\n{block}", block)
        inner = json.dumps(block)[1:-1]
        yield Case("private-key", f'{{"type": "service_account", "private_key": "{inner}"}}', inner)
        yield Case("private-key", f'KEY="{block}"', block)
        twice = json.dumps(json.dumps(block))[3:-3]
        yield Case("private-key", f'"{{\\"key\\": \\"{twice}\\"}}"', twice)
    cut = pem("PRIVATE KEY", end=False)
    yield Case("private-key", f"{cut}\n\nThe log ends here. Nothing else.", cut)
    yield Case("private-key", f"{cut}\nMIIE…\n", f"{cut}\nMIIE")


def passwords() -> Iterator[Case]:
    """Addresses with a password in them."""
    secret = fake(14)
    for word in (secret, "hunter2", "p%40ss%2Fword", "a:b", "s3cr$t!", "pässwort"):
        yield Case("url-password", f"postgresql://app:{word}@db.example.com:5432/x", word)
        yield Case("url-password", f"git clone https://oauth2:{word}@example.com/a/b.git", word)
        yield Case("url-password", f'{{"url": "redis://:{word}@[::1]:6379/0"}}', word)
    yield Case("url-password", f"mongodb+srv://u:{secret}@h1:27017,h2:27017/d?x=a@b", secret)
    yield Case("url-password", rf"https:\/\/u:{secret}@example.com\/", secret)
    yield Case("url-password", f"amqp://u:x@{secret}@h/", f"x@{secret}")


def cases() -> list[Case]:
    """Every secret in every spelling."""
    spelled = [Case(kind, text, secret) for kind, secret in free() for text in put(secret)]
    rest = (aws(), azure(), addresses(), headers(), keys(), passwords())
    return [*spelled, *(case for part in rest for case in part)]


ORDINARY = r"""
commit 9fceb02d0ae598e95dc970b74767f19372d61af8 (HEAD -> main, tag: v4.59.0)
sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855
123e4567-e89b-12d3-a456-426614174000 and {3F2504E0-4F89-11D3-9A0C-0305E82C3301}
A task-based, risk-free desk-side mask-sk-full ask; sk-learn, sk-fading-circle, .btn-sk-primary
<div class="sk-folding-cube sk-circle12 npm_config_cache hf_hub_download sk_test_mode"></div>
ANTHROPIC_API_KEY=sk-ant-... or sk-ant-api03-your-key-here; OpenAI's is sk-proj-your-key, sk-xxxx
GITHUB_TOKEN=ghp_xxxx GITLAB_TOKEN=glpat-your-token-here SLACK_TOKEN=xoxb-your-bot-token-here
https://example.com:8443/a/@scope/b?x=1&y=a@b.example#frag http://localhost:3000
git@github.com:org/repo.git git+ssh://git@github.com/org/repo.git@v1.2 user@example.com:/srv/data
postgresql://app:${DB_PASSWORD}@db:5432/x mysql://root:%s@%s redis://:***@h amqp://u:$PASS@h
f"https://{user}:{token}@{host}/" http://x:[secret]@y ssh://git@example.com:22/a
docker://alpine:3.19@sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef
com.vaadin:vaadin-bom:24.5.1 org.example:lib:jar:sources:1.0-SNAPSHOT "a.b:c:1.0@aar"
SELECT u.id, k.secret_key FROM users u JOIN keys k ON k.access_key = u.key WHERE k.token = '';
headers = {"Authorization": f"Bearer {token}"}; h["Authorization"] = "Bearer " + token
Authorization: Bearer <token>, Authorization: Basic realm, the Authorization: Bearer header
The bearer of news came. "Bearer $TOKEN", Bearer YOUR_ACCESS_TOKEN, bearer authentication-scheme
aws_secret_access_key = <your secret>, AWS_SECRET_ACCESS_KEY=..., secretAccessKey: z.string()
process.env.AWS_SESSION_TOKEN, AccountKey=..., account_key=None, ?sig=abc, secret_key: str
A key begins with -----BEGIN PRIVATE KEY----- and ends with -----END PRIVATE KEY-----, as usual
if "-----BEGIN RSA PRIVATE KEY-----" in text: raise ValueError("a key was found")
"sha512-z4PhNX7vuL3xVChQ1m2AB9Yg5AULVxXcg/SpIdNs6c5H0NE8XYXysP+DGNKHfuwvY7kxvUdBeoGlODJ6+SfaPg=="
ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIGRldjEyMzQ1Njc4OTBhYmNkZWZnaGlqa2xtbm9wcXJzdHV2 you@host
eyJ begins base64 of a JSON object; eyJhIjoxfQ== alone is no token, nor is eyJub3.a.token, nor e.y.J
12:30:45.123456 2026-11-29T21:05:00.000Z 192.168.0.1:8080 [::1]:443 fe80::1%eth0 00:1A:2B:3C:4D:5E
1234567:Added a line here. 1234567890:ABSENT 123456789:AverageThroughputPerSecond_of_the_run
<email:1> <anthropic-key:1> Authorization: Bearer <bearer-token:3> https://u:<url-password:4>@h
SG.Controls.Grid SKU 00000000000000000000000000000000 d41d8cd98f00b204e9800998ecf8427e MTA.mail.com
class AsiaPacificRegionalHeadquarters { static final String ASIA_KEY = "ASIA"; } AKIA... AIza...
--token=$(cat token) --api-key "$KEY" pypi-AgE… dop_v1_… shpat_… whsec_… {"key": null}
""".strip().splitlines()
"""Lines that look a little like secrets and are none."""


def ordinary() -> list[str]:
    """Texts without a secret."""
    noise = random.Random(7)
    image = base64.b64encode(noise.randbytes(60_000)).decode()
    certificate = pem("CERTIFICATE") + "\n" + pem("PUBLIC KEY")
    hashes = "\n".join(noise.randbytes(20).hex() for _ in range(2_000))
    made = [f"![x](data:image/png;base64,{image})", certificate, hashes]
    folders = ("skills", "datasets", "docs")
    files = [path for folder in folders for path in sorted((ROOT / folder).rglob("*.*"))]
    texts = [path.read_text("utf-8") for path in files if path.suffix in {".md", ".py", ".yaml"}]
    return [*ORDINARY, *made, *texts, (ROOT / "README.md").read_text("utf-8")]
