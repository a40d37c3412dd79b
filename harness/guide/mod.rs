// Pages link to each other by names. On GitHub and in an editor, what stands at the end of a page says where a name leads, here
// what stands in `links.md`: of two definitions, the first one counts.
#![doc = include_str!("links.md")]
#![doc = include_str!("README.md")]

/// Makes a module of each page.
macro_rules! pages {
    ($($public:vis mod $page:ident;)*) => {
        $(#[doc = include_str!("links.md")]
        #[doc = include_str!(concat!(stringify!($page), ".md"))]
        $public mod $page {})*
    };
}

pages! {
    pub mod rust;
    pub mod python;
    pub mod typescript;
    pub mod services;
    pub mod many;
    pub mod recording;
    pub mod matching;
    pub mod apis;
    pub mod goldens;
    pub mod worlds;
    pub mod red_runs;
    pub mod tools;
    pub mod pages;
    pub mod in_tests;
    pub mod load;
    pub mod ci;
    pub mod check;
    pub mod fork;
    pub mod security;
    pub mod durable;
    pub mod imports;
    pub mod traces;
    pub mod coming_from;
    pub mod keeping;
    pub mod flaky;
    pub mod monorepos;
    pub mod several_services;
    pub mod versions;
    pub mod windows;
    pub mod reference;
    pub mod reference_fixture;
    pub mod reference_command;
}

// These stand beside what they are made from.
#[doc(inline)]
pub use retake_scenario::{reference_scenario, reference_suite};
