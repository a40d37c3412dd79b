//! Which fields of a raw table are set.

/// Lists the given fields of a raw table by name, each with the byte offset of its value if it is set.
macro_rules! fields {
    ($raw:expr; $($field:ident),+) => {
        [$((stringify!($field), $raw.$field.as_ref().map(|field| field.span().start))),+]
    };
}
pub(crate) use fields;
