//! The known forms of secrets: the pattern of each, the name under which a fixture lists it, and its placeholder.

use std::sync::{LazyLock, OnceLock};

use regex::Regex;

use super::suspects;

#[derive(Debug)]
pub(super) struct SecretForm {
    pub(super) name: &'static str,
    /// Every match contains one of these, so a text without any of them needs no search by the pattern.
    needles: &'static [&'static str],
    /// The secret is the first group of a match, or the whole match if the pattern has no group.
    pattern: &'static str,
    regex: OnceLock<Regex>,
    placeholder: OnceLock<String>,
}

const fn form(name: &'static str, needles: &'static [&'static str], pattern: &'static str) -> SecretForm {
    SecretForm { name, needles, pattern, regex: OnceLock::new(), placeholder: OnceLock::new() }
}

const COUNT: usize = 56;

/// Some of the forms, one bit for each of [`FORMS`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Forms(u64);

const _: () = assert!(COUNT < 64, "a form is a bit");

impl Forms {
    pub(super) fn all() -> Forms {
        Forms((1 << COUNT) - 1)
    }

    /// Returns the form of this name alone.
    pub(super) fn named(name: &str) -> Option<Forms> {
        FORMS.iter().position(|form| form.name == name).map(|at| Forms(1 << at))
    }

    pub(super) fn and(self, other: Forms) -> Forms {
        Forms(self.0 | other.0)
    }

    pub(super) fn without(self, other: Forms) -> Forms {
        Forms(self.0 & !other.0)
    }

    pub(super) fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// Returns the forms in the order in which they are applied.
    pub(super) fn iter(self) -> impl Iterator<Item = &'static SecretForm> {
        FORMS.iter().enumerate().filter(move |(at, _)| self.0 & (1 << at) != 0).map(|(_, form)| form)
    }

    /// Returns the first form from a place on, and the place after it.
    pub(super) fn from(self, at: u32) -> Option<(u32, &'static SecretForm)> {
        let left = self.0.checked_shr(at)?;
        let at = at + left.trailing_zeros();
        Some((at + 1, FORMS.get(at as usize)?))
    }

    /// Returns those of these forms that a text may contain, judged by the first two bytes of their needles. Most texts are short
    /// and contain none, and one look at each byte costs less than a search for each needle.
    pub(super) fn in_text(self, text: &str) -> Forms {
        let begin = &**BEGIN;
        let (mut found, mut before) = (0, 0);
        for byte in text.as_bytes() {
            let byte = usize::from(byte & 0x7f);
            found |= begin[before << 7 | byte];
            before = byte;
        }
        Forms(self.0 & found)
    }
}

/// The forms with a needle that begins with a pair of bytes, for each pair.
static BEGIN: LazyLock<Box<[u64]>> = LazyLock::new(|| {
    let mut begin = vec![0; 1 << 14];
    for (at, form) in FORMS.iter().enumerate() {
        for needle in form.needles {
            let [first, second] = [0, 1].map(|byte| usize::from(needle.as_bytes()[byte]));
            begin[first << 7 | second] |= 1 << at;
        }
    }
    begin.into()
});

/// All forms, in the order in which they are applied: a form that can contain others comes before them.
pub(super) static FORMS: [SecretForm; COUNT] = [
    form(
        "private-key",
        &["PRIVATE KEY"],
        concat!(
            r"-----BEGIN [A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?-----(?:[A-Za-z0-9+/=\s\\:,.()-]{16,}?",
            r"-----END [A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?-----|(?:(?:\s|\\+[nr])*[A-Za-z0-9+/=]{16,})+)",
        ),
    ),
    form("jwt", &["eyJ"], r"eyJ[A-Za-z0-9_-]{8,}\.eyJ[A-Za-z0-9_-]{4,}\.[A-Za-z0-9_-]{4,}"),
    form("anthropic-key", &["sk-ant-"], r"sk-ant-[A-Za-z0-9_-]{16,}"),
    form("openrouter-key", &["sk-or-"], r"sk-or-v\d-[A-Za-z0-9]{16,}"),
    form("retake-key", &["sk-retake-"], r"sk-retake-[0-9a-f]{32}"),
    form("langfuse-key", &["sk-lf-"], r"sk-lf-[0-9a-f-]{36}"),
    form(
        "openai-key",
        &["sk-", "sess-"],
        r"sk-(?:proj|svcacct|admin|None)-[A-Za-z0-9_-]{16,}|sk-[A-Za-z0-9]{20,}[A-Za-z0-9_-]*|sess-[A-Za-z0-9]{24,}",
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
    form("npm-token", &["npm_"], r"npm_[A-Za-z0-9]{30,}"),
    form("pypi-token", &["pypi-AgE"], r"pypi-AgE[A-Za-z0-9_-]{16,}"),
    form("rubygems-key", &["rubygems_"], r"rubygems_[0-9a-f]{40,}"),
    form("docker-token", &["dckr_"], r"dckr_[a-z]{3}_[A-Za-z0-9_-]{20,}"),
    form("huggingface-token", &["hf_"], r"hf_[A-Za-z0-9]{20,}"),
    form("groq-key", &["gsk_"], r"gsk_[A-Za-z0-9]{20,}"),
    form("cerebras-key", &["csk-"], r"csk-[A-Za-z0-9]{20,}"),
    form("figma-token", &["figd_"], r"figd_[A-Za-z0-9_-]{20,}"),
    form("doppler-token", &["dp."], r"dp\.(?:pt|st|ct|sa|scim|audit)\.(?:[a-z0-9_-]{2,35}\.)?[A-Za-z0-9]{40,44}"),
    form("atlassian-token", &["ATATT", "ATCTT"], r"AT[AC]TT[A-Za-z0-9_-]{20,}(?:=[0-9A-F]{8})?"),
    form("sentry-token", &["sntry"], r"sntry[su]_[A-Za-z0-9+/_-]{30,}={0,2}(?:_[A-Za-z0-9+/]{20,})?"),
    form("newrelic-key", &["NRAK-", "NRII-", "NRJS-"], r"NR(?:AK|II|JS)-[A-Za-z0-9_-]{19,}"),
    form("postman-key", &["PMAK-"], r"PMAK-[A-Za-z0-9]{20,}(?:-[A-Za-z0-9]{20,})?"),
    form("xai-key", &["xai-"], r"xai-[A-Za-z0-9]{20,}"),
    form("perplexity-key", &["pplx-"], r"pplx-[A-Za-z0-9]{20,}"),
    form("replicate-token", &["r8_"], r"r8_[A-Za-z0-9]{30,}"),
    form("tavily-key", &["tvly-"], r"tvly-(?:[a-z]+-)?[A-Za-z0-9]{20,}"),
    form("langsmith-key", &["lsv2_"], r"lsv2_(?:pt|sk)_[A-Za-z0-9_]{20,}"),
    form("linear-key", &["lin_"], r"lin_(?:api|oauth)_[A-Za-z0-9]{20,}"),
    form("notion-token", &["ntn_"], r"ntn_[A-Za-z0-9]{30,}"),
    form("databricks-token", &["dapi"], r"dapi[0-9a-f]{32}(?:-\d)?"),
    form("digitalocean-token", &["_v1_"], r"do[opr]_v1_[0-9a-f]{40,}"),
    form("shopify-token", &["shp"], r"shp(?:at|ca|pa|ss)_[0-9a-fA-F]{32}"),
    form("vault-token", &["hvs.", "hvb."], r"hv[sb]\.[A-Za-z0-9_-]{24,}"),
    form("age-key", &["AGE-SECRET-KEY-1"], r"AGE-SECRET-KEY-1[0-9A-Z]{50,}"),
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

impl SecretForm {
    /// The text that replaces a secret of this form.
    pub(super) fn placeholder(&self) -> &str {
        self.placeholder.get_or_init(|| match self.name {
            "signed-url" => "<SIGNATURE>".to_owned(),
            name => format!("<{}>", name.to_uppercase().replace('-', "_")),
        })
    }

    /// Returns the ranges of this form's secrets in a text, sorted and without overlaps.
    pub(super) fn find(&self, text: &str) -> Vec<std::ops::Range<usize>> {
        let mut found = Vec::new();
        let has = |needle: &&str| memchr::memmem::find(text.as_bytes(), needle.as_bytes()).is_some();
        if !self.needles.iter().any(has) {
            return found;
        }
        let regex = self.regex();
        let mut at = 0;
        while let Some(groups) = regex.captures_at(text, at) {
            let Some(whole) = groups.get(0) else { break };
            let secret = groups.get(1).unwrap_or(whole);
            // A secret that is known by the text before it need not begin a word.
            let apart = groups.get(1).is_some() || begins_word(text, whole.start());
            if apart && self.is_secret(secret.as_str()) {
                found.push(secret.range());
                at = whole.end();
            } else {
                at = whole.start() + text[whole.start()..].chars().next().map_or(1, char::len_utf8);
            }
        }
        found
    }

    /// Whether a match is a secret: in the place of a token or a password there may also be an ordinary word or a placeholder.
    fn is_secret(&self, found: &str) -> bool {
        let has = |of: fn(&u8) -> bool| found.as_bytes().iter().any(of);
        match self.name {
            "bearer-token" => {
                has(u8::is_ascii_digit)
                    || (has(u8::is_ascii_lowercase) && has(u8::is_ascii_uppercase))
                    || (found.len() >= 24 && found.bytes().all(|byte| byte.is_ascii_alphanumeric()))
            }
            "suspected-key" | "suspected-authorization" | "discord-token" => suspects::looks_like_key(found),
            "suspected-password" => suspects::looks_like_password(found),
            "suspected-cookie" => suspects::looks_like_cookie(found),
            "url-password" => !found.starts_with(['$', '{', '%', '[']) && found.bytes().any(|byte| byte != b'*'),
            _ => true,
        }
    }

    #[expect(clippy::expect_used, reason = "the patterns are constants, and each is compiled in a test")]
    fn regex(&self) -> &Regex {
        self.regex.get_or_init(|| Regex::new(self.pattern).expect("a constant pattern"))
    }
}

/// Whether a word may begin at an offset: the `sk-…` in `risk-…` is not a key. An escape before the offset, such as `\n` in a
/// JSON string or `%20` in a URL, does not belong to the word.
fn begins_word(text: &str, at: usize) -> bool {
    let (before, from) = text.as_bytes().split_at(at);
    if !from.first().is_some_and(u8::is_ascii_alphanumeric) {
        return true;
    }
    let Some(last) = before.last() else { return true };
    if !(last.is_ascii_alphanumeric() || *last == b'_') {
        return true;
    }
    let escaped = |length: usize, mark: &[u8]| {
        before.len().checked_sub(length).is_some_and(|start| {
            before[start..].starts_with(mark) && before[start + mark.len()..].iter().all(u8::is_ascii_hexdigit)
        })
    };
    matches!(before, [.., b'\\', b'n' | b'r' | b't' | b'b' | b'f']) || escaped(3, b"%") || escaped(6, b"\\u")
}
