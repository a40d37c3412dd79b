//! Doubles of tool servers. They answer the agent's requests, over MCP or plain HTTP, from the scenario's fixture.
//!
//! | file | holds |
//! |---|---|
//! | `server` | the doubles of one stage, which share one loopback address: their start and end |
//! | `serve` | what they do with messages: JSON-RPC over streamable HTTP |
//! | `single` | the double of one server |
//! | `plain` | a tool that is an HTTP server of any kind |
//! | `out`, `streams` | the ways to an agent: the answer to one request, and streams that stay open |
//! | `answers` | which recorded exchange answers a request: by method and normalized parameters, first in, first out |
//! | `questions` | the recorded requests of a server, which the double makes again, and the agent's answers to them |
//! | `traffic` | what passes between agents and a real server, while recording and in scenarios with live tools |
//! | `upstream`, `pipe` | the connection to the real server |
//! | `world` | what becomes of calls of tools in a world |
//! | `stdio` | the double of a server that is started as a command: this program, started again |

mod answers;
mod out;
#[cfg(unix)]
mod pipe;
mod plain;
mod questions;
mod serve;
mod server;
mod single;
mod stdio;
mod streams;
mod traffic;
mod upstream;
mod world;

pub use serve::{ToolRequest, ToolsMode};
pub use server::{Asked, Doubles, Given};
pub use stdio::take_over;
pub use world::{CallOfTool, ToolFault, ToolWorld};
