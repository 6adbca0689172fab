"""Tokens and keys that their own shape gives away, by who gives them out.

No kind has a greatest length: a token takes in what sticks to it.
"""

from __future__ import annotations

import base64
import binascii
import json
import re
from collections.abc import Iterator

from lift.redact.kinds import (
    ALNUM,
    BASE64,
    DOTTED,
    HEX,
    RUN,
    Check,
    Kind,
    Text,
    after,
    inside,
    led,
    searched,
)
from lift.redact.words import coined, varied


def _jwt(token: str) -> bool:
    """Its first part, which begins `eyJ`, is a JSON object."""
    head = "eyJ" + token.split(".", 1)[0]
    try:
        return isinstance(json.loads(base64.urlsafe_b64decode(head + "=" * (-len(head) % 4))), dict)
    except (binascii.Error, ValueError, RecursionError):
        return False


def _token(name: str, starts: str, rest: str, check: Check = varied, before: str = ALNUM) -> Kind:
    return led(name, starts, rest, check, before)


def _run(least: int) -> str:
    return f"{RUN}{{{least},}}+"


def _alnum(least: int) -> str:
    return f"{ALNUM}{{{least},}}+"


def _hex(least: int) -> str:
    """So many hex digits, and what sticks to them."""
    return f"{HEX}{{{least}}}{ALNUM}*+"


UUID = f"{HEX}{{8}}(?:-{HEX}{{4}}){{3}}-{HEX}{{12}}"
BLOB = "[A-Za-z0-9+/]"  # stands before what base64 may have in it
NUMBER = re.compile(r"(?<![0-9])[0-9]{6,12}\Z")
SAFE = "[A-Za-z0-9_~.-]"
GITHUB = rf"(?:{ALNUM}{{36,}}+|[0-9]++_eyJ{RUN}++\.{RUN}++\.{RUN}++)"
GITLAB = rf"{RUN}{{20,}}+(?>(?:(?:\.[0-9a-z]{{2}})?\.[0-9a-z]{{9}}(?!{ALNUM}))?)"
JWT = rf"{RUN}{{8,}}+\.{RUN}{{4,}}+\.{RUN}*+(?>(?:\.{RUN}*+\.{RUN}++)?)"
AZURE = f"{SAFE}{{3}}[0-9]Q~{SAFE}{{31,}}+"
AZURE_KEY = f"{ALNUM}{{52}}JQQJ9{ALNUM}{{27,}}+"
AZURE_PAT = f"{ALNUM}{{76}}AZDO{ALNUM}{{4,}}+"
DISCORD = rf"{ALNUM}{{22,26}}+\.{RUN}{{6}}\.{RUN}{{27,}}+"
TELEGRAM = rf"(?=A|[A-Za-z_-]{{0,33}}[0-9]){RUN}{{34,}}+"
FIREBASE = rf"AAAA{RUN}{{7}}:{RUN}{{100,}}+"
MAILCHIMP = rf"[0-9a-f]{{32}}-us[0-9]{{1,2}}(?!{ALNUM})"
TERRAFORM = rf"{ALNUM}{{14}}\.atlasv1\.{RUN}{{50,}}+"
WEBHOOKS = (
    (r"hooks\.slack\.com[/\\]+(?:services|workflows|triggers)[/\\]+([A-Za-z0-9/\\_-]{20,}+)"),
    (rf"discord(?:app)?\.com[/\\]+api[/\\]+webhooks[/\\]+([0-9]{{15,}}+[/\\]+{_run(60)})"),
    (rf"webhook\.office\.com[/\\]+webhookb2[/\\]+({UUID}@[A-Za-z0-9/\\@-]{{36,}}+)"),
    (r"hooks\.zapier\.com[/\\]+hooks[/\\]+catch[/\\]+([0-9]{4,}+[/\\]+[A-Za-z0-9]{5,}+)"),
    (
        r"chat\.googleapis\.com[/\\]+v1[/\\]+spaces[/\\]+([A-Za-z0-9_-]++[/\\]+messages\?[^\s\"'<>]++)"
    ),
)


def _telegram(text: Text) -> Iterator[tuple[int, int]]:
    """The number of a bot, a colon and its key."""
    for match in after(text, ":A", TELEGRAM, before="(?<=[0-9])", folded=False):
        colon = match.start() - len(":A")
        if number := NUMBER.search(text.text, max(0, colon - 13), colon):
            yield number.start(), match.end()


KINDS = (
    _token("anthropic-key", "sk-ant-", _run(20), coined),
    _token("langfuse-key", "sk-lf- pk-lf-", _run(16), coined),
    _token("openrouter-key", "sk-or-", _run(20), coined),
    _token("openai-key", "sk-proj- sk-svcacct- sk-admin- sk-None-", _run(20), coined),
    _token("openai-key", "sk-", "(?=[A-Za-z]*+[0-9]|[A-Za-z]{32})[A-Za-z0-9]{20,}+" + RUN + "*+"),
    _token("google-api-key", "AIza", _run(35)),
    _token("google-api-key", "AQ.Ab", _run(40)),
    _token("google-oauth-token", "ya29.", DOTTED % 20),
    _token("google-oauth-token", "1//0", _run(40)),
    _token("google-oauth-secret", "GOCSPX-", _run(20), coined),
    inside("firebase-key", ":APA91b", 11, FIREBASE, before=RUN),
    _token("huggingface-token", "hf_ api_org_", _alnum(30)),
    _token("groq-key", "gsk_", _alnum(40)),
    _token("xai-key", "xai-", _alnum(60)),
    _token("perplexity-key", "pplx-", _alnum(40)),
    _token("replicate-token", "r8_", _alnum(37)),
    _token("nvidia-key", "nvapi-", _run(50)),
    _token("cerebras-key", "csk-", _alnum(40)),
    _token("elevenlabs-key", "sk_", _hex(48)),
    _token("langsmith-key", "lsv2_pt_ lsv2_sk_", f"{HEX}{{32}}_{ALNUM}{{10,}}+"),
    _token("pinecone-key", "pcsk_", "[A-Za-z0-9_]{40,}+"),
    _token("tavily-key", "tvly-", _run(28), coined),
    _token("wandb-key", "wandb_v1_", "[A-Za-z0-9_]{40,}+"),
    _token("jina-key", "jina_", _alnum(50)),
    _token("fireworks-key", "fw_", _alnum(22), coined),
    _token("firecrawl-key", "fc-", _hex(32)),
    _token("github-token", "ghp_ gho_ ghu_ ghs_ ghr_", GITHUB),
    _token("github-token", "github_pat_", "[A-Za-z0-9_]{36,}+", coined),
    _token("github-token", "v1.", _hex(40)),
    _token("gitlab-token", "glpat- gldt- glrt- glrtr- glptt- glcbt- glsoat-", GITLAB, coined),
    _token("gitlab-token", "glft- glimt- glagent- gloas- glffct- glwt-", GITLAB, coined),
    _token("gitlab-token", "GR1348941", GITLAB, coined),
    _token("bitbucket-token", "ATBB", _alnum(28), coined),
    _token("atlassian-token", "ATATT3xFf ATCTT3xFf", "[A-Za-z0-9_=-]{60,}+"),
    _token("npm-token", "npm_", _alnum(36)),
    _token("pypi-token", "pypi-Ag", _run(50)),
    _token("rubygems-key", "rubygems_", _hex(48)),
    _token("crates-token", "cio", _alnum(32), coined, before=BLOB),
    _token("nuget-key", "oy2", "[a-z0-9]{43}" + ALNUM + "*+", before=BLOB),
    _token("clojars-token", "CLOJARS_", _hex(60)),
    _token("docker-token", "dckr_pat_ dckr_oat_", _run(20)),
    _token("jfrog-token", "AKCp", _alnum(69), before=BLOB),
    _token("sonar-token", "sqp_ squ_ sqa_", _hex(40)),
    _token("circleci-token", "CCIPAT_ CCIPRJ_", "[A-Za-z0-9_]{40,}+"),
    _token("buildkite-token", "bkua_ bkct_", _hex(40)),
    _token("sourcegraph-token", "sgp_", "(?:[0-9a-zA-Z]{16}_)?" + _hex(40)),
    _token("linear-key", "lin_api_ lin_oauth_", _alnum(32)),
    _token("notion-token", "ntn_", _alnum(40)),
    _token("notion-token", "secret_", _alnum(43), coined),
    _token("figma-token", "figd_ figo_ figdr_", _run(32)),
    _token("postman-key", "PMAK-", "[0-9a-f]{24}-[0-9a-f]{34}" + ALNUM + "*+"),
    _token("airtable-token", "pat", rf"{ALNUM}{{14}}\.[0-9a-f]{{64}}{ALNUM}*+"),
    _token("hubspot-token", "pat-na1- pat-na2- pat-na3- pat-eu1- pat-ap1-", UUID + RUN + "*+"),
    _token("asana-token", "1/ 2/", r"[0-9]{10,}+(?:/[0-9]{10,}+)?:[0-9a-f]{32}" + ALNUM + "*+"),
    _token("contentful-token", "CFPAT-", _run(40)),
    _token("typeform-token", "tfp_", "[A-Za-z0-9_.=-]{40,}+"),
    _token("readme-key", "rdme_", "[a-z0-9]{60}" + ALNUM + "*+"),
    _token("intercom-token", "dG9rO", f"{BASE64}{{40,}}+=*+", before=BLOB),
    _token("dropbox-token", "sl.", _run(100)),
    _token("slack-token", "xox", r"[a-z](?:\.xox[a-z])?-[A-Za-z0-9-]{20,}+", coined),
    _token("slack-token", "xapp-", "[A-Za-z0-9-]{20,}+", coined),
    searched("webhook", "webhook hooks. chat.googleapis", "|".join(f"(?:{w})" for w in WEBHOOKS)),
    led("discord-token", "MD MT Mj Mz ND NT Nj Nz OD OT", DISCORD, varied, before=RUN),
    Kind("telegram-token", (":a",), _telegram),
    _token("facebook-token", "EAA", _alnum(90), before=BLOB),
    _token("twitter-token", "AAAAAAAAAAAAAAAAAAAA", "[A-Za-z0-9%]{50,}+", coined, before=BLOB),
    _token("aws-access-key", "AKIA ASIA ABIA ACCA", "[A-Z0-9]{16}[A-Za-z0-9]*+"),
    _token("aws-bedrock-key", "ABSK", f"{BASE64}{{100,}}+=*+"),
    _token("aws-bedrock-key", "bedrock-api-key-", f"{BASE64}{{40,}}+=*+"),
    _token("aws-mws-key", "amzn.mws.", UUID + RUN + "*+"),
    inside("azure-client-secret", "Q~", 4, AZURE, before=SAFE),
    inside("azure-key", "JQQJ9", 52, AZURE_KEY),
    inside("azure-devops-token", "AZDO", 76, AZURE_PAT),
    _token("alibaba-key", "LTAI", _alnum(12), coined),
    _token("tencent-key", "AKID", _alnum(32)),
    _token("yandex-key", "AQVN", _run(35)),
    _token("digitalocean-token", "dop_v1_ doo_v1_ dor_v1_", _alnum(40)),
    _token("cloudflare-key", "v1.0-", f"[0-9a-f]{{24}}-{_hex(100)}"),
    _token("cloudflare-key", "cfut_ cfat_ cfk_", _alnum(40)),
    _token("heroku-key", "HRKU-", _run(36)),
    _token("fly-token", "fm1_ fm1r_ fm2_ fo1_", "[A-Za-z0-9/+_-]{40,}+=*+"),
    _token("netlify-token", "nfp_", _alnum(36)),
    _token("vercel-token", "vcp_ vci_ vca_ vcr_ vck_", _alnum(24), coined),
    _token("vercel-token", "vercel_blob_rw_", "[A-Za-z0-9_]{30,}+"),
    _token("render-key", "rnd_", _alnum(28), coined),
    _token("supabase-key", "sbp_", _hex(40)),
    _token("supabase-key", "sb_secret_", _run(20), coined),
    _token("planetscale-token", "pscale_tkn_ pscale_pw_ pscale_oauth_", "[A-Za-z0-9_.=-]{30,}+"),
    _token("neon-key", "napi_", _alnum(40)),
    _token("mongodb-key", "mdb_sa_sk_", _run(40)),
    _token("databricks-token", "dapi dose", _hex(32)),
    _token("snowflake-token", "ver:1-hint:", r"[0-9]{1,20}-ETMsDgAAA[A-Za-z0-9+/=_-]{40,}+"),
    inside("terraform-token", ".atlasv1.", 14, TERRAFORM),
    _token("vault-token", "hvs. hvb. hvr.", _run(24)),
    _token("pulumi-token", "pul-", _hex(40)),
    _token(
        "doppler-token",
        "dp.pt. dp.st. dp.ct. dp.sa. dp.scim. dp.audit.",
        r"[A-Za-z0-9_.-]{40,}+",
    ),
    _token("onepassword-token", "ops_eyJ", f"{BASE64}{{60,}}+=*+"),
    _token(
        "onepassword-key",
        "A3-",
        "[A-Z0-9]{6}-(?:[A-Z0-9]{6}-[A-Z0-9]{5}|[A-Z0-9]{11})(?:-[A-Z0-9]{5}){3}" + RUN + "*+",
    ),
    _token("tailscale-key", "tskey-", "(?:auth|api|client|scim|webhook)-[A-Za-z0-9]++-" + _run(16)),
    _token("grafana-token", "glsa_", f"{ALNUM}{{32}}_{HEX}{{8}}"),
    _token("grafana-token", "glc_eyJ", f"{BASE64}{{32,}}+=*+"),
    _token("newrelic-key", "NRAK- NRJS- NRII- NRRA- NRSP- NRIQ-", _run(19), coined),
    _token("dynatrace-token", "dt0", r"[a-z][0-9]{2}\.[A-Z0-9]{24}\.[A-Z0-9]{64}" + ALNUM + "*+"),
    _token("honeycomb-key", "hcaik_ hcxik_ hcxmk_ hcamk_", _alnum(40)),
    _token("posthog-key", "phx_ phs_", _alnum(32)),
    _token("segment-token", "sgp_", _alnum(64)),
    _token("launchdarkly-key", "api- sdk- rel-", UUID + RUN + "*+"),
    _token("sentry-token", "sntrys_ sntryu_", "[A-Za-z0-9+/=_-]{40,}+"),
    searched(
        "sentry-dsn", "://", rf"://({HEX}{{32}}(?>(?::{HEX}{{32}})?))@[A-Za-z0-9.:-]{{3,99}}+/"
    ),
    _token("stripe-key", "sk_live_ rk_live_ sk_test_ rk_test_ sk_org_live_", _alnum(16), coined),
    _token("stripe-webhook-secret", "whsec_", "[A-Za-z0-9/+=]{24,}+"),
    _token("square-token", "sq0atp- sq0csp- sq0idp-", _run(22), coined),
    _token("square-token", "EAAA", _run(60), before=BLOB),
    _token(
        "braintree-token", "access_token$", r"(?:production|sandbox)\$[0-9a-z]{16}\$[0-9a-f]{32}"
    ),
    _token("razorpay-key", "rzp_live_ rzp_test_", _alnum(14), coined),
    _token("flutterwave-key", "FLWSECK- FLWSECK_TEST-", f"{ALNUM}{{12,}}+(?:-X)?"),
    _token("plaid-token", "access-production- access-sandbox- access-development-", UUID),
    _token("easypost-key", "EZAK EZTK", _alnum(54)),
    _token("shippo-token", "shippo_live_ shippo_test_", _hex(40)),
    _token("duffel-token", "duffel_live_ duffel_test_", _run(40)),
    _token("shopify-token", "shpat_ shpca_ shppa_ shpss_ shpua_", _alnum(32)),
    _token("sendgrid-key", "SG.", rf"{RUN}{{16,}}+\.{_run(32)}"),
    _token("brevo-key", "xkeysib- xsmtpsib-", f"[0-9a-f]{{64}}-{_alnum(10)}"),
    _token("resend-key", "re_", f"{ALNUM}{{8}}_{_alnum(20)}", coined),
    _token("mailgun-key", "key-", _hex(32)),
    inside("mailchimp-key", "-us", 32, MAILCHIMP),
    _token("mandrill-key", "md-", _run(22), coined),
    _token("twilio-key", "SK AC", "[0-9a-f]{32}[A-Za-z0-9]*+"),
    _token("salesforce-token", "00D", rf"{ALNUM}{{12,15}}![A-Za-z0-9._]{{80,}}+"),
    _token("mapbox-token", "sk.eyJ tk.eyJ pk.eyJ", rf"{RUN}{{20,}}+\.{_run(20)}"),
    _token("alchemy-key", "alcht_", _alnum(28)),
    led("jwt", "eyJ", JWT, _jwt, before=RUN),
)
"""A new kind is a row: its name, what it begins with, what follows, and a check if needed."""
