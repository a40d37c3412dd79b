//! The guide: short pages, each about one thing. `tests/packages/run` runs every command and every file in them.
//!
//! Begin with the page about the language of your service; the other pages can be read in any order.
//!
//! | page | about |
//! |---|---|
//! | [`rust`] | A service in Rust |
//! | [`python`] | A service in Python |
//! | [`typescript`] | A service in TypeScript |
//! | [`services`] | Systems in any language, and suites that grow |
//! | [`many`] | Many scenarios: shared steps, tags, retries, shards |
//! | [`recording`] | Recording, its proof, and secrets |
//! | [`matching`] | What makes two model calls the same, and who made them |
//! | [`goldens`] | What a golden holds, and how far green can be trusted |
//! | [`red_runs`] | How failures read, and what resolves them |
//! | [`tools`] | Live tools, and doubles of tool servers |
//! | [`pages`] | Pages in a real browser |
//! | [`in_tests`] | In pytest, vitest, node:test and Playwright |
//! | [`ci`] | In CI: machines, partitions, reports |
//! | [`security`] | What a scenario may do, and what is protected |
//! | [`durable`] | Durable steps of an agent in Rust |
//! | [`imports`] | Recordings of other tools |
//! | [`coming_from`] | Coming from VCR.py, aimock, WireMock, deer-flow |
//! | [`reference`](mod@reference) | Every file and every field |

#[doc = include_str!("rust.md")]
pub mod rust {}
#[doc = include_str!("python.md")]
pub mod python {}
#[doc = include_str!("typescript.md")]
pub mod typescript {}
#[doc = include_str!("services.md")]
pub mod services {}
#[doc = include_str!("many.md")]
pub mod many {}
#[doc = include_str!("recording.md")]
pub mod recording {}
#[doc = include_str!("matching.md")]
pub mod matching {}
#[doc = include_str!("goldens.md")]
pub mod goldens {}
#[doc = include_str!("red_runs.md")]
pub mod red_runs {}
#[doc = include_str!("tools.md")]
pub mod tools {}
#[doc = include_str!("pages.md")]
pub mod pages {}
#[doc = include_str!("in_tests.md")]
pub mod in_tests {}
#[doc = include_str!("ci.md")]
pub mod ci {}
#[doc = include_str!("security.md")]
pub mod security {}
#[doc = include_str!("durable.md")]
pub mod durable {}
#[doc = include_str!("imports.md")]
pub mod imports {}
#[doc = include_str!("coming_from.md")]
pub mod coming_from {}
#[doc = include_str!("reference.md")]
pub mod reference {}
#[doc = include_str!("reference_suite.md")]
pub mod reference_suite {}
#[doc = include_str!("reference_scenario.md")]
pub mod reference_scenario {}
#[doc = include_str!("reference_fixture.md")]
pub mod reference_fixture {}
#[doc = include_str!("reference_command.md")]
pub mod reference_command {}
