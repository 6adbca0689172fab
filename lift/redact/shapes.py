"""What the corpus is made of: shapes of secrets, texts with a hole for one, ordinary texts."""

from __future__ import annotations

HOLE = "⟦⟧"
"""Where a secret goes in a text."""

SHAPES = """
anthropic-key sk-ant-api03-{93u}AA
anthropic-key sk-ant-admin01-{93u}AA
anthropic-key sk-ant-oat01-{93u}AA
openai-key sk-{48a}
openai-key sk-proj-{156u}
openai-key sk-svcacct-{120u}
openrouter-key sk-or-v1-{64h}
langfuse-key sk-lf-{uuid}
langfuse-key pk-lf-{uuid}
google-api-key AIza{35u}
google-oauth-token ya29.{120u}
google-oauth-token 1//0{60u}
google-oauth-secret GOCSPX-{28u}
firebase-key AAAA{7u}:APA91b{134u}
huggingface-token hf_{34A}
groq-key gsk_{52a}
xai-key xai-{80a}
perplexity-key pplx-{48a}
replicate-token r8_{37a}
nvidia-key nvapi-{64u}
elevenlabs-key sk_{48h}
langsmith-key lsv2_pt_{32h}_{10h}
pinecone-key pcsk_{6a}_{63a}
tavily-key tvly-{32a}
github-token ghp_{36a}
github-token gho_{36a}
github-token ghs_123456_{jwt}
github-token github_pat_{22a}_{59a}
gitlab-token glpat-{20u}
gitlab-token glpat-{27u}.01.{9l}
gitlab-token glrt-{20u}
bitbucket-token ATBB{32a}
atlassian-token ATATT3xFfGF0{170u}={8H}
npm-token npm_{36a}
pypi-token pypi-AgEIcHlwaS5vcmc{150u}
rubygems-key rubygems_{48h}
crates-token cio{32a}
nuget-key oy2{43l}
docker-token dckr_pat_{27u}
jfrog-token AKCp{69a}
sonar-token sqp_{40h}
circleci-token CCIPAT_{22a}_{40h}
buildkite-token bkua_{40h}
sourcegraph-token sgp_{16h}_{40h}
linear-key lin_api_{40a}
notion-token ntn_{46a}
notion-token secret_{43a}
figma-token figd_{40u}
postman-key PMAK-{24h}-{34h}
airtable-token pat{14a}.{64h}
hubspot-token pat-na1-{uuid}
asana-token 1/{16d}:{32h}
contentful-token CFPAT-{43u}
intercom-token dG9rO{55b}=
slack-token xoxb-{12d}-{13d}-{24a}
slack-token xoxe.xoxp-1-{160a}
slack-token xapp-1-A0{9U}-{13d}-{64h}
discord-token {bot}.{6u}.{38u}
telegram-token 1{9d}:AA{33u}
facebook-token EAA{180a}
twitter-token AAAAAAAAAAAAAAAAAAAAAA{32a}%3D{50a}
aws-access-key AKIA{16U}
aws-access-key ASIA{16U}
aws-bedrock-key ABSK{128b}=
aws-mws-key amzn.mws.{uuid}
azure-client-secret {3a}8Q~{34u}
azure-key {52a}JQQJ99{26a}
azure-devops-token {76a}AZDO{4a}
alibaba-key LTAI{20a}
tencent-key AKID{32a}
digitalocean-token dop_v1_{64h}
cloudflare-key v1.0-{24h}-{146h}
heroku-key HRKU-{uuid}
fly-token fm2_{120b}=
netlify-token nfp_{36a}
supabase-key sbp_{40h}
planetscale-token pscale_pw_{43u}
databricks-token dapi{32h}
terraform-token {14a}.atlasv1.{67u}
vault-token hvs.{90u}
pulumi-token pul-{40h}
doppler-token dp.pt.{43a}
onepassword-key A3-{6U}-{6U}-{5U}-{5U}-{5U}-{5U}
tailscale-key tskey-auth-{12a}-{32a}
grafana-token glsa_{32a}_{8h}
newrelic-key NRAK-{27U}
dynatrace-token dt0c01.{24U}.{64U}
posthog-key phx_{43a}
sentry-token sntrys_{100b}_{43b}
stripe-key sk_live_{24a}
stripe-key rk_test_{24a}
stripe-webhook-secret whsec_{32a}
square-token sq0atp-{22u}
braintree-token access_token$production${16l}${32h}
razorpay-key rzp_live_{14a}
plaid-token access-sandbox-{uuid}
easypost-key EZAK{54a}
shippo-token shippo_live_{40h}
shopify-token shpat_{32h}
sendgrid-key SG.{22u}.{43u}
brevo-key xkeysib-{64h}-{16a}
resend-key re_{8a}_{24a}
mailgun-key key-{32h}
mailchimp-key {32h}-us12
twilio-key SK{32h}
twilio-key AC{32h}
mapbox-token sk.eyJ{80u}.{22u}
age-key AGE-SECRET-KEY-1{58U}
jwt {jwt}
"""
"""Kind and shape of what its own shape gives away."""

SAID = (
    ("aws-secret-key", "{40b}", "AWS_SECRET_ACCESS_KEY=⟦⟧",
     "aws_secret_access_key = ⟦⟧\nregion = eu-west-1", '{"SecretAccessKey": "⟦⟧", "Expires": null}',
     "os.environ['AWS_SECRET_ACCESS_KEY'] = '⟦⟧'", "<SecretAccessKey>⟦⟧</SecretAccessKey>",
     "- name: AWS_SECRET_ACCESS_KEY\n  value: ⟦⟧\n", r'"{\"secret_key\": \"⟦⟧\"}"',
     "aws configure set aws_secret_access_key ⟦⟧"),
    ("aws-session-token", "{300b}", "AWS_SESSION_TOKEN=⟦⟧", '"SessionToken": "⟦⟧"',
     "X-Amz-Security-Token: ⟦⟧"),
    ("azure-storage-key", "{86b}==", "AZURE_STORAGE_KEY='⟦⟧'", '{"storageAccountKey": "⟦⟧"}',
     "DefaultEndpointsProtocol=https;AccountName=x;AccountKey=⟦⟧;EndpointSuffix=y"),
    ("azure-storage-key", "{43b}=", "Endpoint=sb://x/;SharedAccessKeyName=x;SharedAccessKey=⟦⟧",
     "HostName=x.azure-devices.net;DeviceId=y;SharedAccessKey=⟦⟧", '"sharedAccessKey": "⟦⟧",'),
    ("azure-sas", "{42a}%3D", "https://x.blob.core.windows.net/c/b?sv=2024-11-04&sr=b&sig=⟦⟧",
     "GET /c?sig=⟦⟧&se=2026-01-01T00%3A00%3A00Z HTTP/1.1",
     r'{"url": "https://x.blob.core.windows.net/?sv=1\u0026sig=⟦⟧"}'),
    ("webhook", "T{9U}/B{9U}/{24a}", "https://hooks.slack.com/services/⟦⟧",
     'post("https://hooks.slack.com/services/⟦⟧")', r"https:\/\/hooks.slack.com\/services\/⟦⟧"),
    ("webhook", "{18d}/{68u}", "https://discord.com/api/webhooks/⟦⟧",
     "'https://discordapp.com/api/webhooks/⟦⟧'", "HOOK=https://discord.com/api/webhooks/⟦⟧"),
    ("webhook", "{uuid}@{uuid}/IncomingWebhook/{32h}/{uuid}",
     "https://x.webhook.office.com/webhookb2/⟦⟧", 'url: "https://x.webhook.office.com/webhookb2/⟦⟧"',
     "curl -d @c.json https://x.webhook.office.com/webhookb2/⟦⟧"),
    ("sentry-dsn", "{32h}", "https://⟦⟧@o1.ingest.sentry.io/2",
     'init(dsn="https://⟦⟧@sentry.example.com/5")', "SENTRY_DSN=http://⟦⟧@localhost:9000/sub/path/2"),
    ("sentry-dsn", "{32h}:{32h}", "https://⟦⟧@sentry.io/2", '"https://⟦⟧@sentry.example.com/5"',
     "SENTRY_DSN=http://⟦⟧@localhost:9000/2"),
    ("basic-credentials", "dXNlcjo{16a}==", "Authorization: Basic ⟦⟧",
     'curl -H "authorization: basic ⟦⟧" https://example.com', '{"Authorization": "Basic ⟦⟧"}'),
    ("bearer-token", "{40u}", "Authorization: Bearer ⟦⟧\r\nHost: example.com",
     'headers = {"Authorization": "Bearer ⟦⟧"}', "--header='Proxy-Authorization: Token ⟦⟧'",
     "sent with bearer ⟦⟧ as before", "Authorization: SSWS ⟦⟧"),
    ("twilio-token", "{32h}", "TWILIO_AUTH_TOKEN=⟦⟧", "auth_token='⟦⟧'", '{"authToken":"⟦⟧"}'),
    ("cookie", "sid={32a}; csrf={24a}", "Cookie: ⟦⟧", 'curl -H "Cookie: ⟦⟧" https://example.com',
     '{"cookie": "⟦⟧"}'),
    ("cookie", "{32H}", "JSESSIONID=⟦⟧; Path=/", "GET /a?PHPSESSID=⟦⟧ HTTP/1.1", "connect.sid=⟦⟧"),
    ("secret", "{24a}", 'API_SECRET = "⟦⟧"', "export API_KEY=⟦⟧\n", "client-secret: ⟦⟧\n",
     '{"access_token": "⟦⟧", "expires_in": 3600}', "const apiKey: string = '⟦⟧';",
     'String clientSecret = "⟦⟧";', "X-Api-Key: ⟦⟧\r\n", "?api_key=⟦⟧&page=2",
     'config.set("auth.token", "⟦⟧")', "<add key=\"ApiSecret\" value=\"⟦⟧\"/>",
     "env:\n  - name: SIGNING_SECRET\n    value: \"⟦⟧\"", r'"{\"private_token\":\"⟦⟧\"}"',
     "lift run --token ⟦⟧", "define('AUTH_KEY', '⟦⟧');", "token%3D⟦⟧", "ENV NPM_TOKEN=⟦⟧",
     "//registry.example.com/:_authToken=⟦⟧", "**Token**: `⟦⟧`", "secret := \"⟦⟧\"",
     "setx API_TOKEN \"⟦⟧\"", "the token is ⟦⟧.", "session_token => '⟦⟧',"),
    ("secret", "{64h}", "ENCRYPTION_KEY=⟦⟧", 'secret_key_base: "⟦⟧"', "webhook_secret: '⟦⟧'"),
    ("secret", "{uuid}", "HEROKU_API_KEY=⟦⟧", '{"api_key": "⟦⟧"}', "secret_id = \"⟦⟧\""),
    ("password", "{4A}7!{8p}", "DB_PASSWORD=⟦⟧", 'password = "⟦⟧"', "spring.datasource.password=⟦⟧",
     '{"user": "app", "password": "⟦⟧"}', "passwd: '⟦⟧'", "<password>⟦⟧</password>",
     'field.setPassword("⟦⟧")', "$env:ADMIN_PWD = \"⟦⟧\"", "--db-password ⟦⟧",
     "machine example.com login app password ⟦⟧", "the password is ⟦⟧", "PGPASSWORD=⟦⟧ psql -h db"),
    ("password", "{3A}{4d}", "Server=db;Database=x;User Id=app;Password=⟦⟧;Encrypt=True",
     "host=db port=5432 user=app password=⟦⟧ sslmode=require",
     "jdbc:mysql://db:3306/x?user=app&password=⟦⟧", "CREATE USER app IDENTIFIED BY '⟦⟧';",
     "curl -u app:⟦⟧ https://example.com", "sshpass -p ⟦⟧ ssh app@db.example.com",
     "mysql -h db -u app -p⟦⟧ x", "openssl rsa -in k.pem -passin pass:⟦⟧",
     "redis-cli -h cache -a ⟦⟧ ping", "cache.example.net:6380,password=⟦⟧,ssl=True",
     "db.example.com:5432:x:app:⟦⟧"),
    ("url-password", "{14a}", "postgresql://app:⟦⟧@db.example.com:5432/x", "amqps://u:⟦⟧@h/v",
     "git clone https://oauth2:⟦⟧@example.com/a/b.git", '{"url": "redis://:⟦⟧@[::1]:6379/0"}',
     "mongodb+srv://u:⟦⟧@h1:27017,h2:27017/d?x=a@b", r"https:\/\/u:⟦⟧@example.com\/",
     "jdbc:oracle:thin:scott/⟦⟧@//db:1521/x", "mssql+pyodbc://sa:⟦⟧@db/x?driver=a"),
    ("url-password", "p%40ss%2F{4a}", "mysql://u:⟦⟧@h/d", "'ftp://u:⟦⟧@h/'", "URL=smtp://u:⟦⟧@h:25"),
    ("url-password", "{4a}/#{4a}?", "postgres://u:⟦⟧@h:5432/d", '"redis://:⟦⟧@h"', "mysql://u:⟦⟧@h/"),
    ("private-key", "{160u}", '{"kty": "EC", "crv": "P-256", "d": "⟦⟧"}', "{'kty':'oct','k':'⟦⟧'}",
     r'"{\"kty\":\"RSA\",\"d\":\"⟦⟧\"}"'),
    ("private-key", "{172b}", "<RSAKeyValue><D>⟦⟧</D></RSAKeyValue>",
     "<RSAKeyValue>\n<P>⟦⟧</P>\n</RSAKeyValue>", "k = '<RSAKeyValue><InverseQ>⟦⟧</InverseQ>'"),
    ("ssn", "219099998", "SSN: ⟦⟧", '{"ssn": "⟦⟧"}', "social security number ⟦⟧"),
    ("phone", "020 7946 0958", "Phone: ⟦⟧", '{"mobile_phone": "⟦⟧"}', "tel: ⟦⟧, fax: none"),
    ("phone", "4155552671", 'phone="⟦⟧"', "tel:⟦⟧", "Telefon: ⟦⟧"),
    ("ip", "8.8.8.8", "ping ⟦⟧", '{"client_ip": "⟦⟧"}', "http://⟦⟧:8080/", "from ⟦⟧ port 22"),
    ("email", "jane%40contoso.com", "?mail=⟦⟧&x=1", "https://example.com/u/⟦⟧", "to%3D⟦⟧"),
)  # fmt: skip
"""Kind, shape and texts of what stands beside a name, in a header or in an address."""

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
"integrity": "sha1-2jmj7l5rSw0yVb/vlWAYkK/YBwk=", "shasum":
"da39a3ee5e6b4b0d3255bfef95601890afd80709"
"resolved":
"https://registry.npmjs.org/foo/-/foo-1.2.3.tgz#9fceb02d0ae598e95dc970b74767f19372d61af8"
deps: upgrade V8 to 4.4.63.12, patch it to 9.5.172.21; OID 1.3.101.112; pkg:maven/a/b@7.1.2.Final
path d="M.15A4.01 4.01 0 0111 18c0 1.52-.87 2.83-2.12 3.51.98.32 2.03.5 3.11.5" Clause 252.227-7013
join(pwd, "./data/pcg64-testset-1.csv"); pass("Third test"); f(username=username, password=password)
const password = 'Password used to generate key'; publicKeyToken="1fc8b3b9a1e18e3b" np.arange(6) +
98172489
542F 5430 5431 5432 5433 5744 5745 [314595285, 4220315081820346526] features/5068609911521280
--secret=projects/my-project/secrets/my-secret/versions/1 pass --debug-nghttp2 format='password',
a=b
request_id=req_011CSHoEeqs5C35K2UUqR7Fy
session_id: 0b2e7b0c-5f1e-4a68-9d52-1f5a6b7c8d9e
version 1.2.3.4 and v10.0.19041.1, Chrome/120.0.6099.109
com.vaadin:vaadin-core:24.5.1 org.springframework.boot
2024-01-15T10:00:00.000Z 1700000000000 1700000000
4111111111111112 1234567890123456 0000000000000000
000-12-3456 666-12-3456 900-12-3456 123-00-4567 123-45-0000
const token = await getToken(user.id);
password: string; token?: string; secret: z.string().min(8)
if (password === confirmPassword) { return hash(password, salt); }
passwordField.setValue(user.getPassword());
PasswordFieldElement password = PasswordFieldElement.getByLabel(page, "Password");
password.setValue("secret");
max_tokens=8192 tokens: 12345 token_count = 15
primary_key=True foreign_key="users.id" sort_key: 'created_at' partition_key=abc123
key: "value" keys = ["a","b"] cache-key: v1-deps-2024
localhost:8080 127.0.0.1 0.0.0.0 192.168.1.1 10.0.0.1 ::1 fe80::1 2001:db8::1 192.0.2.1
198.51.100.7 203.0.113.9 255.255.255.0
user@example.com admin@example.org x@y.test root@localhost git@github.com:org/repo.git
@Test public void foo() {} @pytest.mark.parametrize this@MainActivity.finish() icon@2x.png
pkg@1.2.3 @scope/pkg@^1.0.0
page.locator("#id").fill("text"); await expect(page).toHaveURL(/login/)
10.1145/3292500.3330701 ISBN 978-3-16-148410-0 RFC 2119
+1 -1 +0200 UTC+02:00 1+1=2 x+=1234567890 @@ -12,7 +12,9 @@
The 555-1234 number, 123-4567, room 415-555
3.14159265358979 0.4111111111111111 6.02214076e23
API_KEY=your-api-key-here SECRET=changeme TOKEN=xxxxxxxxxxxxxxxx PASSWORD=******** export
API_KEY=... password=<password>
api_key = os.environ["API_KEY"]; api_key=process.env.API_KEY; apiKey: ${API_KEY} {{
secrets.API_KEY }} ${{ secrets.GITHUB_TOKEN }}
secretName: my-secret-v2 tokenizer = "cl100k_base" encoding = "utf-8" secretKeyRef:
{"type": "object", "required": ["token"], "properties": {"token": {"type": "string"}}}
data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9aw==
color: #a1b2c3; background: url(x.png?v=12345678)
trace 4bf92f3577b34da6a3ce929d0e0e4736 span 00f067aa0ba902b7
msg_01XFDUDYJgAACzvnptvVoYEL toolu_01A09q90qw90lq917835lq9
Vaadin 24.4.0.beta1, Java 17.0.9+9, node v20.11.1, claude-sonnet-4-5-20250929
vaadin-playwright-test-ae564bb8 greet-smoke-20260929T120000Z
http://localhost:3000/project/cm123/experiments/results?baseline=0123456789abcdef&c=fedcba9876543210
TextField tf = new TextField("Phone"); tf.setPattern("\\d{3}-\\d{3}-\\d{4}"); // 012-345-6789
ssn = "___-__-____"; mask '999-99-9999' pattern="[0-9]{3}-[0-9]{2}-[0-9]{4}"
auth: required author: Jane authority=x authentication = "basic" oauth2: true
passing: 12 passed: 13/13 bypass=true compass: NNW passthrough: yes
token_type: bearer, expires_in: 3600, scope: read
next_page_token: "CAUQAA8x9Z2k4L" nextToken=eyJ2IjoiMSJ9abc123XYZ pageToken: QW5vdGhlcg12
public_key: MCowBQYDK2VwAyEA1234567890abcdefghijklmnopqrstuvwxyz12=
license: MIT key-value pair, keyboard: qwerty1234567890abc
GET /api/v1/users/12345/orders/67890?sort=-created_at&limit=100 HTTP/1.1
XXXX-XXXX-XXXX-1234 **** **** **** 4242 ending in 4242
Order #1234-5678-9012, invoice INV-2024-000123, ticket JIRA-12345, SKU 8901234567894
SELECT password FROM users WHERE token = ? AND secret = :secret
PWD=/srv/app/project1 OLDPWD=/var/x9f3k2a1
--token-limit 4096 --key-file ~/.ssh/id_rsa --password-file /run/secrets/db1
E0123 abc1234def UUID.randomUUID() Base64.getEncoder() AES/GCM/NoPadding HmacSHA256
"private": true, "secret": false, "token": null, "key": 12345678901234
lat 52.520008, lon 13.404954; size 1920x1080; ratio 16:9; time 12:34:56; MAC 00:1A:2B:3C:4D:5E
"""
"""Lines that look a little like secrets or personal data, and are none."""
