use super::*;

fn read(body: &[u8]) -> Option<String> {
    parts(body).map(|parts| parts.print(retake_core::json::Layout::Python))
}

#[test]
fn each_part_is_a_value_of_its_own() {
    let hash = Hash::of(b"\x89PNG\r\n\xff");
    let form = b"--b1\r\nContent-Disposition: form-data; name=\"model\"\r\n\r\nm-1\r\n--b1\r\ncontent-type: Image/PNG; q=1\r\n\
        content-disposition: form-data; filename=\"a; \\\"b\\\".png\"; name=image\r\n\r\n\x89PNG\r\n\xff\r\n--b1--\r\n";
    let expected = format!(
        "[{{\"name\": \"model\", \"value\": \"m-1\"}}, {{\"filename\": \"a; \\\"b\\\".png\", \"name\": \"image\", \"sha256\": \"{hash}\", \
         \"type\": \"image/png\"}}]"
    );
    assert_eq!(read(form), Some(expected));
}

#[test]
fn parts_without_headers_in_one_another_and_with_other_line_ends_are_read() {
    assert_eq!(read(b"--b\n\nhi\n--b--").as_deref(), Some("[{\"value\": \"hi\"}]"));
    let encoded = b"--b\r\nContent-Disposition: form-data; name=f; filename*=UTF-8''a%20b.txt\r\n\r\n\r\n--b--";
    assert_eq!(read(encoded).as_deref(), Some("[{\"filename\": \"a%20b.txt\", \"name\": \"f\", \"value\": \"\"}]"));
    let nested = b"--b\r\nContent-Type: multipart/mixed; boundary=c\r\n\r\n--c\r\n\r\nin\r\n--c--\r\n--b--";
    let expected = "[{\"multipart\": [{\"value\": \"in\"}], \"type\": \"multipart/mixed\"}]";
    assert_eq!(read(nested).as_deref(), Some(expected));
}

#[test]
fn other_bodies_are_no_forms() {
    for body in
        ["", "--", "--b", "--b\r\n", "--b\r\nno end", "--b\r\nno blank line\r\n--b--", "a=b", "-- a comment\nSELECT 1"]
    {
        assert_eq!(read(body.as_bytes()), None, "{body:?}");
    }
    let boundary = "b".repeat(71);
    assert_eq!(read(format!("--{boundary}\r\n\r\nx\r\n--{boundary}--").as_bytes()), None);
}
