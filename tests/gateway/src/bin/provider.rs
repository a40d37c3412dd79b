//! Serves the scripted provider: `cargo run -p gateway --bin provider -- [--addr 127.0.0.1:0]`. Prints its base URL.

use std::{env, error::Error};

use axum::serve::ListenerExt;
use tokio::net::TcpListener;

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let args: Vec<String> = env::args().skip(1).collect();
    let addr = match &*args.iter().map(String::as_str).collect::<Vec<_>>() {
        [] => "127.0.0.1:0",
        ["--addr", addr] => addr,
        _ => return Err("usage: provider [--addr 127.0.0.1:0]".into()),
    };
    let listener = TcpListener::bind(addr).await?;
    #[expect(clippy::print_stdout, reason = "it tells whoever starts it the address")]
    {
        println!("http://{}/v1", listener.local_addr()?);
    }
    let listener = listener.tap_io(|stream| drop(stream.set_nodelay(true)));
    axum::serve(listener, gateway::provider::provider()).await?;
    Ok(())
}
