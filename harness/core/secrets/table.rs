//! The forms of secrets that are known. The names are those that a fixture lists, so none is ever changed, and the meaning of a
//! form changes with the edition only.

use std::ops::Range;

use super::forms::{Edition, How, Needles, SecretForm};
use super::private_key;
use super::tokens::{ALNUM, DOTTED, HEX, WORD, in_urls, of_vault};

/// A form that each edition searches for.
const fn form(name: &'static str, needles: Needles, pattern: &'static str) -> SecretForm {
    SecretForm::new(name, needles, How::Pattern(pattern), None)
}

/// A form that the first edition does not know.
const fn newer(name: &'static str, needles: Needles, pattern: &'static str) -> SecretForm {
    SecretForm::new(name, needles, How::Pattern(pattern), Some(Edition::Second))
}

/// A beginning, and at least so many characters of an alphabet after it, which the first edition does not know. Words are none.
const fn token(name: &'static str, needles: Needles, alphabet: fn(u8) -> bool, least: usize) -> SecretForm {
    SecretForm::new(name, needles, How::Token(alphabet, least), Some(Edition::Second))
}

/// A form that is found by more than a pattern, which the first edition does not know.
const fn found(name: &'static str, needles: Needles, find: fn(&str) -> Vec<Range<usize>>) -> SecretForm {
    SecretForm::new(name, needles, How::Found(find), Some(Edition::Second))
}

/// The number of forms.
pub(super) const COUNT: usize = 140;

/// All forms, in the order in which they are applied: a form that can contain others comes before them.
pub(super) static FORMS: [SecretForm; COUNT] = [
    SecretForm::new(
        "private-key",
        &["PRIVATE KEY"],
        How::Pattern(concat!(
            r"-----BEGIN [A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?-----(?:[A-Za-z0-9+/=\s\\:,.()-]{16,}?",
            r"-----END [A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?-----|(?:(?:\s|\\+[nr])*[A-Za-z0-9+/=]{16,})+)",
        )),
        Some(Edition::First),
    ),
    found("private-key", &["PRIVATE KEY", "Private-Lines"], private_key::keys),
    found("suspected-private-key", &["PRIVATE KEY", "Private-Lines"], private_key::suspected),
    newer(
        "jwe",
        &["eyJ"],
        r"eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]*\.[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{4,}\.[A-Za-z0-9_-]{16,}",
    ),
    form("jwt", &["eyJ"], r"eyJ[A-Za-z0-9_-]{8,}\.eyJ[A-Za-z0-9_-]{4,}\.[A-Za-z0-9_-]{4,}"),
    // Without a signature, or with another order of its header.
    newer("unsigned-jwt", &[".ey"], r"ey[A-Za-z0-9]{17,}\.ey[A-Za-z0-9/\\_-]{17,}\.(?:[A-Za-z0-9/\\_-]{10,}={0,2})?"),
    newer(
        "jwk",
        &["\"d\"", "\"k\"", "\"p\"", "\"q\"", "\"dp\"", "\"dq\"", "\"qi\""],
        r#""(?:d|k|p|q|dp|dq|qi)\\*"\s*:\s*\\*"([A-Za-z0-9_-]{22,})"#,
    ),
    form("anthropic-key", &["sk-ant-"], r"sk-ant-[A-Za-z0-9_-]{16,}"),
    form("openrouter-key", &["sk-or-"], r"sk-or-v\d-[A-Za-z0-9]{16,}"),
    form("retake-key", &["sk-retake-"], r"sk-retake-[0-9a-f]{32}"),
    form("langfuse-key", &["sk-lf-"], r"sk-lf-[0-9a-f-]{36}"),
    form(
        "openai-key",
        &["sk-", "sess-"],
        r"sk-(?:proj|svcacct|admin|None)-[A-Za-z0-9_-]{16,}|sk-(?P<vague>[A-Za-z0-9]{20,}[A-Za-z0-9_-]*)|sess-[A-Za-z0-9]{24,}",
    ),
    form("google-key", &["AIza"], r"AIza[A-Za-z0-9_-]{30,}"),
    form("google-token", &["ya29.", "1//0"], r"ya29\.[A-Za-z0-9_.-]{15,}[A-Za-z0-9_-]|1//0[A-Za-z0-9_-]{30,}"),
    form("google-client-secret", &["GOCSPX-"], r"GOCSPX-[A-Za-z0-9_-]{20,}"),
    form(
        "aws-secret-key",
        &["ecret", "ECRET", "AKIA", "ASIA", "AWS_ACCESS_KEY"],
        concat!(
            r"(?:(?i:secret[ _.-]?access[ _.-]?key|aws[ _.-]?secret[a-z _.-]{0,12})",
            r"(?:[^A-Za-z0-9/+<%]|%3[aAdD]|%22|%20|\bis\b|\\[nrt]){1,16}",
            r"|(?:(?:AKIA|ASIA)[A-Z0-9]{16}|<AWS_ACCESS_KEY>)(?:[^A-Za-z0-9/+<]|\\[nrt]){1,16})",
            r"([A-Za-z0-9/+]{40,}={0,2})",
        ),
    ),
    form(
        "aws-session-token",
        &["ession", "ESSION", "ecurity", "ECURITY"],
        r"(?i:(?:session|security)[ _.-]?token)(?:[^A-Za-z0-9/+<]|%3[aAdD]|\\[nrt]){1,16}([A-Za-z0-9/+%]{100,}={0,2})",
    ),
    form("aws-access-key", &["AKIA", "ASIA"], r"(?:AKIA|ASIA)[A-Z0-9]{16,}"),
    form("github-token", &["gh", "github_pat_"], r"gh[pousr]_[A-Za-z0-9]{20,}|github_pat_[A-Za-z0-9_]{20,}"),
    form("gitlab-token", &["gl"], r"gl(?:pat|dt|rt|ptt|soat|cbt|ft)-[A-Za-z0-9_.-]{19,}[A-Za-z0-9_-]"),
    form(
        "slack-webhook",
        &["hooks.slack"],
        r"hooks\.slack(?:-gov)?\.com\\?/(?:services|workflows|triggers)\\?/((?:[A-Za-z0-9_-]|\\?/){16,})",
    ),
    form("slack-token", &["xox", "xapp-"], r"xox[a-z](?:\.xox[a-z])?-[A-Za-z0-9-]{10,}|xapp-\d-[A-Za-z0-9-]{10,}"),
    form("discord-webhook", &["/webhooks/"], r"discord(?:app)?\.com/api(?:/v\d+)?/webhooks/(\d+/[A-Za-z0-9_-]{16,})"),
    form("telegram-token", &["bot", ":AA"], r"bot(\d{8,10}:[A-Za-z0-9_-]{35})|\d{8,10}:AA[A-Za-z0-9_-]{33}"),
    // It begins with the base64 of an id's first digits.
    form(
        "discord-token",
        &["MD", "MT", "Mj", "Mz", "ND", "NT", "Nj", "Nz", "OD", "OT"],
        r"(?:[MN][DTjz]|O[DT])[A-Za-z0-9_-]{22,26}\.[A-Za-z0-9_-]{6}\.[A-Za-z0-9_-]{27,38}",
    ),
    form(
        "stripe-key",
        &["_live_", "_test_", "whsec_"],
        r"[sr]k_(?:live|test)_[A-Za-z0-9]{10,}|whsec_[A-Za-z0-9+/=]{16,}",
    ),
    form("sendgrid-key", &["SG."], r"SG\.[A-Za-z0-9_-]{16,}\.[A-Za-z0-9_-]{16,}"),
    form("npm-token", &["npm_"], r"npm_(?P<vague>[A-Za-z0-9]{30,})"),
    form("pypi-token", &["pypi-AgE"], r"pypi-AgE[A-Za-z0-9_-]{16,}"),
    form("rubygems-key", &["rubygems_"], r"rubygems_[0-9a-f]{40,}"),
    form("docker-token", &["dckr_"], r"dckr_[a-z]{3}_[A-Za-z0-9_-]{20,}"),
    form("huggingface-token", &["hf_"], r"hf_(?P<vague>[A-Za-z0-9]{20,})"),
    form("groq-key", &["gsk_"], r"gsk_(?P<vague>[A-Za-z0-9]{20,})"),
    form("cerebras-key", &["csk-"], r"csk-(?P<vague>[A-Za-z0-9]{20,})"),
    form("figma-token", &["figd_"], r"figd_(?P<vague>[A-Za-z0-9_-]{20,})"),
    form("doppler-token", &["dp."], r"dp\.(?:pt|st|ct|sa|scim|audit)\.(?:[a-z0-9_-]{2,35}\.)?[A-Za-z0-9]{40,44}"),
    form("atlassian-token", &["ATATT", "ATCTT"], r"AT[AC]TT[A-Za-z0-9_-]{20,}(?:=[0-9A-F]{8})?"),
    form("sentry-token", &["sntry"], r"sntry[su]_[A-Za-z0-9+/_-]{30,}={0,2}(?:_[A-Za-z0-9+/]{20,})?"),
    form("newrelic-key", &["NRAK-", "NRII-", "NRJS-"], r"NR(?:AK|II|JS)-[A-Za-z0-9_-]{19,}"),
    form("postman-key", &["PMAK-"], r"PMAK-[A-Za-z0-9]{20,}(?:-[A-Za-z0-9]{20,})?"),
    form("xai-key", &["xai-"], r"xai-(?P<vague>[A-Za-z0-9]{20,})"),
    form("perplexity-key", &["pplx-"], r"pplx-(?P<vague>[A-Za-z0-9]{20,})"),
    form("replicate-token", &["r8_"], r"r8_(?P<vague>[A-Za-z0-9]{30,})"),
    form("tavily-key", &["tvly-"], r"tvly-(?:[a-z]+-)?[A-Za-z0-9]{20,}"),
    form("langsmith-key", &["lsv2_"], r"lsv2_(?:pt|sk)_[A-Za-z0-9_]{20,}"),
    form("linear-key", &["lin_"], r"lin_(?:api|oauth)_[A-Za-z0-9]{20,}"),
    form("notion-token", &["ntn_"], r"ntn_(?P<vague>[A-Za-z0-9]{30,})"),
    form("databricks-token", &["dapi"], r"dapi[0-9a-f]{32}(?:-\d)?"),
    form("digitalocean-token", &["_v1_"], r"do[opr]_v1_[0-9a-f]{40,}"),
    form("shopify-token", &["shp"], r"shp(?:at|ca|pa|ss)_[0-9a-fA-F]{32}"),
    form("vault-token", &["hvs.", "hvb."], r"hv[sb]\.[A-Za-z0-9_-]{24,}"),
    form("age-key", &["AGE-SECRET-KEY-1"], r"AGE-SECRET-KEY-1[0-9A-Z]{50,}"),
    newer(
        "bedrock-key",
        &["ABSK", "bedrock-api-key-"],
        r"ABSK[A-Za-z0-9+/]{40,}={0,2}|bedrock-api-key-[A-Za-z0-9+/_-]{20,}={0,2}",
    ),
    newer("aws-unique-key", &["A3T", "ABIA", "ACCA"], r"(?:A3T[A-Z0-9]|ABIA|ACCA)[A-Z2-7]{16}"),
    token("nvidia-key", &["nvapi-"], WORD, 40),
    token("voyage-key", &["pa-"], WORD, 43),
    token("jina-key", &["jina_"], WORD, 30),
    newer("pinecone-key", &["pcsk_", "pclocal_"], r"pc(?:sk|local)_[A-Za-z0-9]{4,}_[A-Za-z0-9]{30,}"),
    token("firecrawl-key", &["fc-"], HEX, 32),
    token("elevenlabs-key", &["sk_"], ALNUM, 24),
    token("fireworks-key", &["fw_"], ALNUM, 22),
    newer("exa-key", &["exa-"], r"exa-[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}"),
    token("e2b-key", &["e2b_"], HEX, 32),
    token("browserbase-key", &["bb_live_", "bb_test_"], WORD, 20),
    token("composio-key", &["ak_", "comp_"], WORD, 20),
    token("mem0-key", &["m0-"], ALNUM, 32),
    token("brave-key", &["BSA"], WORD, 27),
    token("modal-token", &["ak-", "as-"], ALNUM, 22),
    token("wandb-key", &["wandb_v1_"], WORD, 40),
    token("huggingface-org-token", &["api_org_"], ALNUM, 20),
    newer("supabase-key", &["sbp_", "sb_secret_"], r"sbp_(?:oauth_|v0_)?[0-9a-f]{40}|sb_secret_[A-Za-z0-9_-]{20,}"),
    newer("azure-client-secret", &["Q~"], r"(?P<vague>[A-Za-z0-9_~.]{3}\dQ~[A-Za-z0-9_~.-]{31,34})"),
    newer(
        "gitlab-secret",
        &["glffct-", "glimt-", "glagent-", "gloas-", "GR1348941", "_gitlab_session="],
        r"gl(?:ffct|imt|agent|oas)-[A-Za-z0-9_-]{20,}|GR1348941[A-Za-z0-9_-]{20,}|_gitlab_session=[0-9a-z]{32}",
    ),
    newer(
        "grafana-token",
        &["glc_", "glsa_", "eyJrIjoi"],
        r"glc_[A-Za-z0-9+/]{32,}={0,3}|glsa_[A-Za-z0-9]{32}_[A-Fa-f0-9]{8}|eyJrIjoi[A-Za-z0-9]{70,}={0,3}",
    ),
    newer(
        "onepassword-key",
        &["ops_ey", "A3-"],
        r"ops_ey[A-Za-z0-9+/_-]{80,}={0,3}|A3-[A-Z0-9]{6}-(?:[A-Z0-9]{11}|[A-Z0-9]{6}-[A-Z0-9]{5})-[A-Z0-9]{5}-[A-Z0-9]{5}-[A-Z0-9]{5}",
    ),
    token("twilio-key", &["SK"], HEX, 32),
    newer(
        "square-token",
        &["EAAA", "sq0"],
        r"EAAA(?P<vague>[A-Za-z0-9_-]{22,60})|sq0(?:atp|csp|idp)-[A-Za-z0-9_-]{22,}",
    ),
    token("adobe-secret", &["p8e-"], ALNUM, 32),
    newer("airtable-token", &["pat"], r"pat[A-Za-z0-9]{14}\.[0-9A-Fa-f]{64}"),
    token("alibaba-key", &["LTAI"], ALNUM, 16),
    newer("artifactory-token", &["AKCp", "cmVmd"], r"AKCp[A-Za-z0-9]{60,}|cmVmd[A-Za-z0-9]{59}"),
    newer(
        "authress-key",
        &[".acc"],
        r"(?:sc|ext|scauth|authress)_[A-Za-z0-9]{5,30}\.[A-Za-z0-9]{4,6}\.acc[_-][A-Za-z0-9-]{10,32}\.[A-Za-z0-9+/_=-]{30,}",
    ),
    token("clickhouse-key", &["4b1d"], ALNUM, 38),
    token("clojars-token", &["CLOJARS_", "clojars_"], ALNUM, 60),
    newer("cloudflare-key", &["v1.0-"], r"v1\.0-[a-f0-9]{24}-[a-f0-9]{100,}"),
    token("duffel-token", &["duffel_test_", "duffel_live_"], WORD, 43),
    newer("dynatrace-token", &["dt0"], r"dt0[a-z]\d{2}\.[A-Za-z0-9]{24}\.[A-Za-z0-9]{64}"),
    token("easypost-key", &["EZAK", "EZTK"], ALNUM, 54),
    newer(
        "facebook-token",
        &["EAAM", "EAAC", "0|", "1|", "2|", "3|", "4|", "5|", "6|", "7|", "8|", "9|"],
        r"EAA[MC][A-Za-z0-9]{100,}|\d{15,16}\|[0-9A-Za-z_-]{27,40}",
    ),
    newer("flutterwave-key", &["FLW"], r"FLW(?:SECK|PUBK)(?:_TEST)?-[A-Za-z0-9]{12,}(?:-X)?"),
    newer(
        "flyio-token",
        &["fo1_", "fm1a_", "fm1r_", "fm2_"],
        r"fo1_[A-Za-z0-9_-]{43}|fm(?:1[ar]|2)_[A-Za-z0-9+/]{100,}={0,3}",
    ),
    token("frameio-token", &["fio-u-"], WORD, 64),
    newer("harness-key", &["pat.", "sat."], r"[ps]at\.[A-Za-z0-9_-]{22}\.[A-Za-z0-9]{24}\.[A-Za-z0-9]{20}"),
    newer("terraform-token", &[".atlasv1."], r"[A-Za-z0-9]{14}\.atlasv1\.[A-Za-z0-9_=-]{60,}"),
    token("heroku-key", &["HRKU-"], WORD, 36),
    token("infracost-key", &["ico-"], ALNUM, 32),
    token("intra42-secret", &["s-s4t2ud-", "s-s4t2af-"], HEX, 64),
    newer("maxmind-key", &["_mmk"], r"[A-Za-z0-9]{6}_[A-Za-z0-9]{29}_mmk"),
    newer(
        "teams-webhook",
        &["webhook.office", "logic.azure"],
        r"webhook\.office\.com/webhookb2/([A-Za-z0-9@-]{36,}/IncomingWebhook/[A-Za-z0-9]{32}/[A-Za-z0-9-]{36}(?:/[A-Za-z0-9_-]+)?)",
    ),
    token("octopus-key", &["API-"], ALNUM, 26),
    token("openshift-token", &["sha256~"], WORD, 43),
    token("planetscale-secret", &["pscale_tkn_", "pscale_oauth_", "pscale_pw_"], DOTTED, 32),
    token("prefect-key", &["pnu_", "pnb_"], ALNUM, 36),
    token("pulumi-token", &["pul-"], HEX, 40),
    token("readme-token", &["rdme_"], ALNUM, 70),
    token("scalingo-token", &["tk-us-"], WORD, 48),
    token("sendgrid-token", &["SG."], DOTTED, 66),
    newer("brevo-key", &["xkeysib-", "xsmtpsib-"], r"x(?:key|smtp)sib-[a-f0-9]{64}-[A-Za-z0-9]{16}"),
    token("settlemint-token", &["sm_aat_", "sm_pat_", "sm_sat_"], ALNUM, 16),
    token("shippo-token", &["shippo_live_", "shippo_test_"], HEX, 40),
    newer(
        "sourcegraph-token",
        &["sgp_", "ourcegraph", "OURCEGRAPH"],
        r#"sgp_(?:(?:[a-fA-F0-9]{16}|local)_)?[a-fA-F0-9]{40}|(?i:sourcegraph)[A-Za-z _.-]{0,20}["'\\]{0,2}\s?[=:]?\s?["'\\]{0,2}([a-fA-F0-9]{40})"#,
    ),
    found("vault-legacy-token", &["s."], of_vault),
    token("resend-key", &["re_"], WORD, 33),
    token("stripe-live-key", &["sk_prod_", "rk_prod_", "sk_org_live_", "sk_org_test_", "rk_org_live_"], ALNUM, 10),
    token("posthog-key", &["phx_", "phs_"], ALNUM, 40),
    token("mailgun-key", &["key-"], HEX, 32),
    newer("azure-devops-token", &["AZDO"], r"[A-Za-z0-9]{52}JQQJ99[A-Za-z0-9]{18}AZDO[A-Za-z0-9]{4}"),
    newer("azure-openai-key", &["JQQJ99"], r"[A-Za-z0-9]{52}JQQJ99[A-Za-z0-9]{14,}"),
    token("netlify-token", &["nfp_"], ALNUM, 36),
    token("vercel-token", &["vcp_", "vck_", "vca_", "vcc_", "vcr_", "vci_"], ALNUM, 24),
    token("neon-key", &["napi_"], ALNUM, 40),
    newer(
        "kubernetes-secret",
        &[": Secret", ":Secret", "\"Secret\""],
        concat!(
            r#"(?i:\bkind:[ \t]*["']?secret\b)[\s\S]{0,400}?\bdata:[^\S\n]*\n?((?:["']?\s*[\w.-]+:(?:[ \t]*(?:\||>[-+]?)\s+)?[ \t]*["']?[A-Za-z0-9+/]{10,}={0,3})+)"#,
            r#"|\bdata:[^\S\n]*\n?((?:["']?\s*[\w.-]+:(?:[ \t]*(?:\||>[-+]?)\s+)?[ \t]*["']?[A-Za-z0-9+/]{10,}={0,3})+)[\s\S]{0,200}?(?i:\bkind:[ \t]*["']?secret\b)"#,
        ),
    ),
    form(
        "azure-key",
        &["AccountKey=", "SharedAccessKey="],
        r"(?:AccountKey|SharedAccessKey)=([A-Za-z0-9+/]{40,}={0,2})",
    ),
    form(
        "signed-url",
        &["ignature=", "sig=", "access_token=", "api_key=", "api-key=", "apikey=", "client_secret="],
        r"[?&](?:X-Amz-Signature|X-Goog-Signature|Signature|signature|sig|access_token|api_key|api-key|apikey|client_secret)=([A-Za-z0-9%+/._~-]{11,}[A-Za-z0-9%_=-]=*)",
    ),
    form(
        "url-password",
        &["://", "%3A%2F%2F", "%3a%2f%2f", r":\/\/"],
        r#"(?:://|:\\/\\/|%3[Aa]%2[Ff]%2[Ff])[^\s:/?\#@"'<>\\]*(?::|%3[Aa])([^\s/@"'<>\\]+?)(?:@|%40)"#,
    ),
    found("url-token", &["://"], in_urls),
    newer(
        "url-parameter",
        &["token=", "auth=", "code=", "jwt=", "secret=", "ticket=", "subscription-key="],
        r"[?&](?:amp;)?(?:[A-Za-z]+[_-])?(?:token|auth|code|subscription-key|jwt|secret|ticket)=([A-Za-z0-9%+/._~-]{12,}=*)",
    ),
    newer(
        "command-user",
        &["-u", " -a ", "--auth"],
        concat!(
            r#"(?:^|[\s"',\[])(?:-u|--user|--proxy-user)[\s=]{0,3}["']{0,2}[^\s:"'\\/]+:([^\s"'\\]{3,})"#,
            r#"|\bcurl\b[\s\S]{0,300}?\s(?:-u|--user)[\s=]{0,3}["']?([^\s:"'\\/]{3,}):(?:["'\s]|$)"#,
            r#"|\bhttps?\s[^\n|;&]{0,200}?(?:-a|--auth)[\s=]["']?[^\s:"'\\/]+:([^\s"'\\]{3,})"#,
        ),
    ),
    newer(
        "command-password",
        &[" -p", " -a ", "--pass", "--token", "--secret", "--api", "--auth"],
        concat!(
            r#"\b(?:mysql\w*|mariadb[\w-]*|sshpass|mongo\w*|docker login|podman login|az login)\b[^\n|;&]{0,200}?\s(?:-p|--password)"#,
            r#"[\s=]?["']?([^\s"'\\|;&]{4,})|\bredis-cli\b[^\n|;&]{0,200}?\s-a\s["']?([^\s"'\\|;&]{4,})"#,
            r#"|\s--(?:[a-z]+-)?(?:password|passphrase|token|secret|api-?key|auth)[\s=]["']?([A-Za-z0-9_!@#%^*+/.=~-]{8,})"#,
        ),
    ),
    newer(
        "netrc-password",
        &["password ", "password\t", "password\n"],
        r#"\bmachine\s+(?:\S*[.:]\S*|localhost)\s+(?:(?:login|account)\s+\S+\s+)*password\s+([^\s"'`\\,;]{3,})|\blogin\s+\S+\s+password\s+([^\s"'\\]*[^a-z\s"'`\\,;][^\s"'`\\,;]*)"#,
    ),
    newer(
        "npmrc-token",
        &["_authToken", "_auth=", "_auth =", "_auth:", "_password=", "_password ="],
        r#"(?:^|[^A-Za-z0-9])_(?:authToken|auth|password)["'\\]{0,3}\s*[=:]\s*["'\\]{0,3}([A-Za-z0-9+/_.=~-]{8,})"#,
    ),
    newer(
        "docker-auth",
        &["auth\"", "auth'", "auth=", "auth:", "auth ="],
        r#"(?:^|[^A-Za-z0-9])auth["'\\]{0,4}\s{0,3}[:=]\s{0,3}["'\\]{0,3}([A-Za-z0-9+/]{8,}={0,2})"#,
    ),
    newer("nuget-password", &["Password\""], r#"<add\s+key="(?:ClearText)?Password"\s*value="([^"<]{6,})"\s*/>"#),
    newer(
        "header-token",
        &["-H", "-header"],
        concat!(
            r#"(?:-H|--header)[=\s]{0,5}["'](?i:authorization|(?:x-)?(?:[a-z]+-)*(?:key|token|secret|authorization))\s*:\s*"#,
            r#"(?:(?i:basic|bearer|token|apikey|api-token)\s+)?([A-Za-z0-9_=~@.+/-]{8,})["']"#,
        ),
    ),
    form(
        "basic-auth",
        &["asic", "ASIC"],
        r"(?i:authorization)(?:[^A-Za-z0-9<]|%3[aA]|%20){1,8}(?i:basic)(?:\s|%20|\+)+([A-Za-z0-9+/]{6,}={0,2})",
    ),
    form(
        "bearer-token",
        &["earer", "EARER"],
        r"(?i:bearer)(?:\s|%20|\+|:|\\[nrt])+([A-Za-z0-9._~+/-]{15,}[A-Za-z0-9_-]=*)",
    ),
    form(
        "suspected-authorization",
        &["uthorization", "UTHORIZATION"],
        concat!(
            r#"(?i:authorization)["'\\]{0,4}\s{0,3}[:=]\s{0,3}["'\\]{0,3}"#,
            r"(?:(?i:token|apikey|key|digest|negotiate|bot|basic|bearer)\s{1,3})?([A-Za-z0-9._~+/=-]{16,})",
        ),
    ),
    form(
        "suspected-cookie",
        &["ookie", "OOKIE"],
        concat!(
            r#"(?i:cookie)["'\\]{0,4}\s{0,3}[:=]\s{0,3}["'\\]{0,3}"#,
            r#"([A-Za-z0-9_.-]+=[^\s;"'<>\\]*(?:;\s?[A-Za-z0-9_.-]+=[^\s;"'<>\\]*)*[A-Za-z0-9%/+_=-])"#,
        ),
    ),
    form(
        "suspected-password",
        &[
            "passw", "passW", "passp", "passP", "passc", "passC", "Passw", "PassW", "Passp", "PassP", "Passc", "PassC",
            "PASSW", "PASSw", "PASSP", "PASSp", "PASSC", "PASSc", "pwd", "PWD",
        ],
        concat!(
            r#"(?i:passw(?:or)?d|passphrase|passcode|pwd)["'\\]{0,4}\s{0,3}(?:=>|:=|[:=])\s{0,3}["'`\\]{0,3}"#,
            r#"([^\s"'`,;&<>(){}\[\]\\]{8,128})"#,
        ),
    ),
    form(
        "suspected-key",
        &["ey", "EY", "oken", "OKEN", "ecret", "ECRET", "SALT"],
        concat!(
            r"(?:(?i:(?:api|access|secret|private|signing|encryption|account|auth|client|admin|master|service|app|bot|deploy",
            r"|consumer|webhook|session|refresh|bearer|personal)[ _.-]?(?:key|token|secret)|secret)|[A-Z0-9]_(?:KEY|TOKEN|SALT))",
            r#"["'\\]{0,4}\s{0,3}(?:=>|:=|[:=])\s{0,3}["'`\\]{0,3}([A-Za-z0-9_+/.=~-]{16,})"#,
        ),
    ),
];
