//! Serves the gateway on loopback: `DATA_DIR=… OPENAI_BASE_URL=… OPENAI_API_KEY=… PORT=8000 cargo run -p gateway`.

use std::{env, error::Error};

use axum::serve::ListenerExt;
use gateway::Config;
use tokio::net::TcpListener;

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let router = gateway::router(Config::from_env())?;
    let port: u16 = env::var("PORT").map_or(Ok(0), |port| port.parse())?;
    let listener = TcpListener::bind(("127.0.0.1", port)).await?;
    #[expect(clippy::print_stdout, reason = "it tells whoever starts it the address")]
    {
        println!("listening on http://{}", listener.local_addr()?);
    }
    // With Nagle's algorithm on, each event of a stream would wait for the client's delayed acknowledgement.
    let listener = listener.tap_io(|stream| drop(stream.set_nodelay(true)));
    axum::serve(listener, router).await?;
    Ok(())
}
