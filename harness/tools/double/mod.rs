//! Doubles of tool servers. They answer the agent's MCP requests from the scenario's fixture.
//!
//! | file | holds |
//! |---|---|
//! | `server` | the doubles of one stage, which share one loopback address: JSON-RPC over streamable HTTP |
//! | `answers` | which recorded exchange answers a request: by method and normalized parameters, first in, first out |
//! | `upstream`, `pipe` | the connection to the real server, used while recording and in scenarios with live tools |
//! | `stdio` | the double of a server that is started as a command: this program, started again |

mod answers;
#[cfg(unix)]
mod pipe;
mod server;
mod stdio;
mod upstream;

pub(crate) use server::{Asked, Doubles, Given, ToolRequest, ToolsMode};
pub use stdio::take_over;
