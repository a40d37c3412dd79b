// Pages link to each other by names. On GitHub and in an editor, what stands at the end of a page says where a name leads, here
// what stands in `links.md`: of two definitions, the first one counts.
#![doc = include_str!("links.md")]
#![doc = include_str!("README.md")]

/// Makes a module of each page.
macro_rules! pages {
    ($($page:ident)*) => {
        $(#[doc = include_str!("links.md")]
        #[doc = include_str!(concat!(stringify!($page), ".md"))]
        pub mod $page {})*
    };
}

pages! {
    rust
    python
    typescript
    services
    many
    recording
    matching
    goldens
    worlds
    red_runs
    tools
    pages
    in_tests
    load
    ci
    check
    fork
    security
    durable
    imports
    traces
    coming_from
    keeping
    flaky
    monorepos
    several_services
    versions
    windows
    reference
    reference_suite
    reference_scenario
    reference_fixture
    reference_command
}
