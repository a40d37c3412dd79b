use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use flate2::Compression;

use super::*;

const TEXT: &str = "the key is sk-proj-abcdefghijklmnop1234, the key is it";

/// Each encoding of the text.
fn packed() -> Vec<(&'static str, Vec<u8>)> {
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), Compression::default());
    gzip.write_all(TEXT.as_bytes()).unwrap();
    let mut zlib = flate2::write::ZlibEncoder::new(Vec::new(), Compression::default());
    zlib.write_all(TEXT.as_bytes()).unwrap();
    let mut deflate = flate2::write::DeflateEncoder::new(Vec::new(), Compression::default());
    deflate.write_all(TEXT.as_bytes()).unwrap();
    let gzip = gzip.finish().unwrap();
    let mut twice = flate2::write::GzEncoder::new(Vec::new(), Compression::default());
    twice.write_all(&gzip).unwrap();
    let brotli = "GzUA+OW5YaqsS/DE8vDhm1JMRYIpqXBYaZRKwPShPXiM5+6OPsREudTWecy1jzbWKRCNAwI=";
    // One frame of one block that is not compressed.
    let length = u8::try_from(TEXT.len()).unwrap();
    let block = (u32::from(length) << 3 | 1).to_le_bytes();
    let zstd = [&[0x28, 0xb5, 0x2f, 0xfd, 0x20, length], &block[..3], TEXT.as_bytes()].concat();
    vec![
        ("gzip", gzip.clone()),
        ("X-GZIP", gzip),
        ("deflate", zlib.finish().unwrap()),
        ("deflate", deflate.finish().unwrap()),
        ("br", STANDARD.decode(brotli).unwrap()),
        ("zstd", zstd),
        ("gzip, gzip", twice.finish().unwrap()),
        ("identity", TEXT.into()),
        ("", TEXT.into()),
    ]
}

fn unpacked(name: &str, pieces: &[&[u8]]) -> Result<String, String> {
    let mut decoder = Decoder::of(name)?;
    let mut out = Vec::new();
    for piece in pieces {
        out.extend(decoder.push(Bytes::copy_from_slice(piece))?);
    }
    out.extend(decoder.finish()?);
    Ok(String::from_utf8(out).unwrap())
}

#[test]
fn each_encoding_is_decoded_however_it_is_split() {
    for (name, bytes) in packed() {
        for size in [1, 2, 7, bytes.len()] {
            assert_eq!(
                unpacked(name, &bytes.chunks(size).collect::<Vec<_>>()).as_deref(),
                Ok(TEXT),
                "{name} by {size}"
            );
        }
        // What has no body is not compressed, whatever its headers say.
        assert_eq!(unpacked(name, &[]).as_deref(), Ok(""), "{name}");
    }
}

#[test]
fn what_is_cut_off_or_not_compressed_is_an_error() {
    for (name, bytes) in packed().into_iter().take(7) {
        let error = unpacked(name, &[&bytes[..bytes.len() / 2]]).expect_err(name);
        assert!(error.starts_with("is said to be compressed as `"), "{error}");
        assert!(unpacked(name, &[b"{\"choices\": []} and so on"]).is_err(), "{name}");
    }
    assert_eq!(unpacked("gzip, snappy", &[]), Err("snappy".to_owned()));
}

#[test]
fn a_stream_is_decoded_as_it_arrives() {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), Compression::default());
    let mut decoder = Decoder::of("gzip").unwrap();
    for piece in ["data: one\n\n", "data: two\n\n"] {
        encoder.write_all(piece.as_bytes()).unwrap();
        encoder.flush().unwrap();
        let sent = std::mem::take(encoder.get_mut());
        assert_eq!(decoder.push(sent.into()).as_deref(), Ok(piece.as_bytes()));
    }
}

#[test]
fn a_few_bytes_do_not_become_any_number_of_them() {
    let mut bomb = flate2::write::GzEncoder::new(Vec::new(), Compression::fast());
    std::io::copy(&mut std::io::repeat(0).take(MAX as u64 + 1), &mut bomb).unwrap();
    let error = Decoder::whole("gzip", bomb.finish().unwrap().into()).unwrap_err();
    assert_eq!(error, "is said to be compressed as `gzip` and cannot be unpacked: it is larger than 1 MB");
}
