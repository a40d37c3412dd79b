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
//! | [`worlds`] | What a service does when its model fails |
//! | [`red_runs`] | How failures read, and what resolves them |
//! | [`tools`] | Live tools, and doubles of tool servers |
//! | [`pages`] | Pages in a real browser |
//! | [`in_tests`] | In pytest, vitest, node:test and Playwright |
//! | [`load`] | Load tests, with a model that costs nothing |
//! | [`ci`] | In CI: machines, partitions, reports |
//! | [`check`] | Whether the provider still answers as recorded |
//! | [`fork`] | What another model or another prompt would have done |
//! | [`security`] | What a scenario may do, and what is protected |
//! | [`durable`] | Durable steps of an agent in Rust |
//! | [`imports`] | Recordings of other tools |
//! | [`coming_from`] | Coming from pytest-recording, promptfoo, VCR.py, aimock, WireMock, deer-flow |
//! | [`keeping`] | Hundreds of recordings: when to record again, and what they cost |
//! | [`flaky`] | A scenario that is sometimes red |
//! | [`monorepos`] | Several services or teams in one repository |
//! | [`several_services`] | A scenario in which several services work together |
//! | [`versions`] | Which files last, and what a version number promises |
//! | [`windows`] | Windows |
//! | [`traces`] | Traces of production become scenarios |
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
#[doc = include_str!("worlds.md")]
pub mod worlds {}
#[doc = include_str!("red_runs.md")]
pub mod red_runs {}
#[doc = include_str!("tools.md")]
pub mod tools {}
#[doc = include_str!("pages.md")]
pub mod pages {}
#[doc = include_str!("in_tests.md")]
pub mod in_tests {}
#[doc = include_str!("load.md")]
pub mod load {}
#[doc = include_str!("ci.md")]
pub mod ci {}
#[doc = include_str!("check.md")]
pub mod check {}
#[doc = include_str!("fork.md")]
pub mod fork {}
#[doc = include_str!("security.md")]
pub mod security {}
#[doc = include_str!("durable.md")]
pub mod durable {}
#[doc = include_str!("imports.md")]
pub mod imports {}
#[doc = include_str!("traces.md")]
pub mod traces {}
#[doc = include_str!("coming_from.md")]
pub mod coming_from {}
#[doc = include_str!("keeping.md")]
pub mod keeping {}
#[doc = include_str!("flaky.md")]
pub mod flaky {}
#[doc = include_str!("monorepos.md")]
pub mod monorepos {}
#[doc = include_str!("several_services.md")]
pub mod several_services {}
#[doc = include_str!("versions.md")]
pub mod versions {}
#[doc = include_str!("windows.md")]
pub mod windows {}
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
