use super::*;

fn packed<W: std::io::Write>(mut encoder: W, finish: impl FnOnce(W) -> std::io::Result<Vec<u8>>) -> Vec<u8> {
    encoder.write_all(b"{\"a\": 1}").unwrap();
    finish(encoder).unwrap()
}

#[test]
fn bodies_are_decompressed_by_header_or_by_magic_number() {
    use flate2::Compression;
    let gzip =
        packed(flate2::write::GzEncoder::new(Vec::new(), Compression::default()), flate2::write::GzEncoder::finish);
    let zlib =
        packed(flate2::write::ZlibEncoder::new(Vec::new(), Compression::default()), flate2::write::ZlibEncoder::finish);
    let raw = packed(
        flate2::write::DeflateEncoder::new(Vec::new(), Compression::default()),
        flate2::write::DeflateEncoder::finish,
    );
    let zstd = ruzstd::encoding::compress_to_vec(&b"{\"a\": 1}"[..], ruzstd::encoding::CompressionLevel::Fastest);
    // An uncompressed Brotli block: a window of 16 bits, the length minus one, the bytes, and an empty last block.
    let brotli = vec![0x0b, 0x03, 0x80, b'{', b'"', b'a', b'"', b':', b' ', b'1', 0x03];
    let plain = b"{\"a\": 1}".to_vec();
    for (bytes, encoding) in [
        (&gzip, "gzip"),
        (&gzip, ""),
        (&gzip, "**REDACTED**"),
        (&zlib, "deflate"),
        (&raw, "Deflate"),
        (&zstd, "zstd"),
        (&zstd, ""),
        (&plain, "gzip"),
        (&plain, "br"),
        (&plain, "deflate"),
        (&plain, "identity"),
        (&plain, "unheard-of"),
    ] {
        assert_eq!(unpacked(bytes.clone(), encoding), Ok(plain.clone()), "{encoding}");
    }
    assert_eq!(unpacked(brotli, "br"), Ok(b"{\"a\": 1".to_vec()));
    assert!(unpacked(vec![0x1f, 0x8b, 0xff], "gzip").unwrap_err().contains("cannot be unpacked"));
    assert!(unpacked(vec![0xff], "compress").unwrap_err().contains("it is compressed as `compress`, but only gzip"));
}

#[test]
fn the_body_decides_if_the_content_type_does_not() {
    let body = |said: &str, text: &str| response(200, said, Body::Bytes(text.into()));
    let stream = "event: a\ndata: {}\n\ndata: [DONE]\n\n";
    for said in ["", "**REDACTED**", "text/event-stream; charset=utf-8", "application/json", "text/plain"] {
        let found = body(said, stream);
        assert_eq!(found.body, wire::Body::Frames(wire::split_frames(stream).into_iter().collect()), "{said}");
        assert_eq!(found.content_type, if said.contains('/') { said } else { "text/event-stream" });
    }
    let json = wire::Body::json(&Json::object([("a", Json::Int(1))]));
    for said in ["", "application/json", "text/event-stream", "application/octet-stream"] {
        assert_eq!(body(said, "\n  {\"a\": 1}").body, json, "{said}");
    }
    let lines = "{\"a\": 1}\n{\"b\": 2}\n";
    let frames = wire::Body::Frames(lines.split_inclusive('\n').collect());
    assert_eq!(body("", lines).body, frames);
    assert_eq!(body("application/json", lines).body, frames);
    assert_eq!(
        body("application/x-ndjson", "{\"a\": 1}\n").body,
        wire::Body::Frames(["{\"a\": 1}\n"].into_iter().collect())
    );
    assert_eq!(body("", "Bad gateway").content_type, "text/plain");
    let binary = response(200, "", Body::Bytes(vec![0xff, 0]));
    assert_eq!(
        (binary.content_type.as_str(), binary.body),
        ("application/octet-stream", wire::Body::Binary(vec![0xff, 0]))
    );
    assert_eq!(response(200, "", Body::Json(Json::Null)).content_type, "application/json");
}
