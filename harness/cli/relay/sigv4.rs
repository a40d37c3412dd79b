//! Signs requests to AWS (Signature Version 4).

use axum::http::{HeaderMap, HeaderValue, Method, Uri, header};
use retake_core::key::Hash;
use ring::hmac;
use time::OffsetDateTime;

/// What signs: an access key, its secret, and the token of a session, if it is one of a session.
#[derive(Clone)]
pub(super) struct Signer {
    pub(super) id: String,
    pub(super) secret: String,
    pub(super) session: Option<String>,
    pub(super) region: String,
}

/// The service whose requests are signed.
const SERVICE: &str = "bedrock";

impl Signer {
    /// Adds the headers with the signature of a request.
    /// Fails if a header cannot have what is set as its value.
    pub(super) fn sign(
        &self,
        method: &Method,
        uri: &Uri,
        body: &[u8],
        now: OffsetDateTime,
        headers: &mut HeaderMap,
    ) -> Result<(), String> {
        let day = format!("{:04}{:02}{:02}", now.year(), u8::from(now.month()), now.day());
        let at = format!("{day}T{:02}{:02}{:02}Z", now.hour(), now.minute(), now.second());
        let host = uri.authority().map(|host| host.as_str().to_owned()).unwrap_or_default();
        let token = self.session.iter().map(|token| ("x-amz-security-token", token.clone()));
        let signed: Vec<(&str, String)> =
            [("host", host), ("x-amz-date", at.clone())].into_iter().chain(token).collect();
        let names = signed.iter().map(|(name, _)| *name).collect::<Vec<_>>().join(";");
        let line = |(name, value): &(&str, String)| format!("{name}:{value}\n");
        let lines: String = signed.iter().map(line).collect();
        let (path, query, hash) = (escaped(uri.path()), query(uri), Hash::of(body));
        let canonical = format!("{method}\n{path}\n{query}\n{lines}\n{names}\n{hash}");
        let scope = format!("{day}/{}/{SERVICE}/aws4_request", self.region);
        let text = format!("AWS4-HMAC-SHA256\n{at}\n{scope}\n{}", Hash::of(canonical.as_bytes()));
        let first = hmac(format!("AWS4{}", self.secret).as_bytes(), day.as_bytes());
        let key = [&*self.region, SERVICE, "aws4_request"].iter().fold(first, |key, part| hmac(&key, part.as_bytes()));
        let signature = hex(&hmac(&key, text.as_bytes()));
        let whole =
            format!("AWS4-HMAC-SHA256 Credential={}/{scope}, SignedHeaders={names}, Signature={signature}", self.id);
        for (name, value) in signed.into_iter().skip(1).chain([(header::AUTHORIZATION.as_str(), whole)]) {
            let mut value = HeaderValue::try_from(value).map_err(|_| format!("{name} cannot be in a header"))?;
            value.set_sensitive(true);
            headers.insert(header::HeaderName::from_bytes(name.as_bytes()).map_err(|e| e.to_string())?, value);
        }
        Ok(())
    }
}

/// The path as it is signed: what is sent, escaped once more.
fn escaped(path: &str) -> String {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.~/".contains(&byte);
    let escape = |byte: u8| if is_plain(byte) { char::from(byte).to_string() } else { format!("%{byte:02X}") };
    path.bytes().map(escape).collect()
}

fn query(uri: &Uri) -> String {
    let pairs = uri.query().unwrap_or_default().split('&').filter(|pair| !pair.is_empty());
    let whole = |pair: &str| if pair.contains('=') { pair.to_owned() } else { format!("{pair}=") };
    let mut pairs: Vec<String> = pairs.map(whole).collect();
    pairs.sort_unstable();
    pairs.join("&")
}

fn hmac(key: &[u8], text: &[u8]) -> Vec<u8> {
    hmac::sign(&hmac::Key::new(hmac::HMAC_SHA256, key), text).as_ref().to_vec()
}

fn hex(bytes: &[u8]) -> String {
    let digits = |byte: &u8| format!("{byte:02x}");
    bytes.iter().map(digits).collect()
}

#[cfg(test)]
mod tests;
