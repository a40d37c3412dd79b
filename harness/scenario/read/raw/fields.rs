//! The fields of a raw table that were typed.

/// The named fields of a raw table, each with where it starts if it is there.
macro_rules! fields {
    ($raw:expr; $($field:ident),+) => {
        [$((stringify!($field), $raw.$field.as_ref().map(|field| field.span().start))),+]
    };
}
pub(crate) use fields;
