use std::io::{Read, Write};
use std::net::TcpListener;
use std::sync::mpsc::channel;

use super::closed;
use retake_model::clients::{OF_SYSTEMS, sent};

/// What a service writes after its client has left meets a closed connection, however busy the machine is.
#[tokio::test]
async fn who_has_left_is_gone_before_anything_goes_on() {
    let service = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/", service.local_addr().unwrap());
    let (left, is_left) = channel::<()>();
    let serves = std::thread::spawn(move || {
        let mut client = service.accept().unwrap().0;
        let _ = client.read(&mut [0; 4096]).unwrap();
        client.write_all(b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\ndata: 1\n\n").unwrap();
        is_left.recv().unwrap();
        client.set_nonblocking(true).unwrap();
        client.read(&mut [0; 4096]).map_err(|error| error.kind())
    });
    let mut response = sent(OF_SYSTEMS.request(reqwest::Method::GET, &url).unwrap()).await.unwrap();
    assert!(response.chunk().await.unwrap().is_some());
    closed(response).await;
    left.send(()).unwrap();
    assert_eq!(serves.join().unwrap(), Ok(0));
}
