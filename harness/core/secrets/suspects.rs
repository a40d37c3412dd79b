//! Suspected secrets: texts without a form of their own, which stand where a secret usually does, after `api_key=` or in a
//! cookie. They may also be something else, so a person decides what a recording does with them.

/// What a recording does with texts that stand where secrets usually do. `suite.toml` sets this for each rule.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Suspects {
    /// Values of keys and tokens: `SERVICE_API_KEY=…`, `api-key: …`, `client_secret`.
    pub key: Suspected,
    /// Passwords: `password=…`.
    pub password: Suspected,
    /// Headers with credentials: `authorization: …`.
    pub authorization: Suspected,
    /// Cookies: `cookie: session=…`.
    pub cookie: Suspected,
    /// What follows the first line of a private key, if it may be one.
    pub private_key: Suspected,
}

/// What is done with a suspected secret.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Suspected {
    /// It is replaced, and no fixture is written.
    #[default]
    Refuse,
    /// It is replaced.
    Mask,
    /// It is text like any other.
    Keep,
}

impl Suspects {
    /// Returns the form of each rule.
    pub(super) fn all(self) -> [(&'static str, Suspected); 5] {
        [
            ("suspected-key", self.key),
            ("suspected-password", self.password),
            ("suspected-authorization", self.authorization),
            ("suspected-cookie", self.cookie),
            ("suspected-private-key", self.private_key),
        ]
    }
}
