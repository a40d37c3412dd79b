//! Doubles of tool servers: what a scenario's agent asks over MCP is answered from its fixture.
//!
//! | file | holds |
//! |---|---|
//! | `server` | the doubles of one stage, on one address of loopback: JSON-RPC over streamable HTTP |
//! | `answers` | which recorded exchange answers a request: by method and normalized parameters, first in first out |
//! | `upstream`, `pipe` | the real server, while recording and where a scenario has it live |
//! | `stdio` | the double of a server that is started as a command: this program, started again |

mod answers;
#[cfg(unix)]
mod pipe;
mod server;
mod stdio;
mod upstream;

pub(crate) use server::{Asked, Doubles, Given, ToolRequest, ToolsMode};
pub(crate) use stdio::take_over;
