use super::*;

fn of(name: &str, values: &[&str]) -> Vec<String> {
    let headers: Vec<_> = values.iter().map(|value| (name.to_owned(), (*value).to_owned())).collect();
    let normalize =
        |text: &str| crate::key::Normalizer::default().apply(&text.replace("k-123456", "<csrf>")).into_owned();
    held(&headers, &[name.to_owned()], &normalize).iter().map(ToString::to_string).collect()
}

#[test]
fn a_cookie_has_its_attributes_and_the_shape_of_its_value() {
    let id = "7c9e6679-7425-40de-944b-e07fc1f90ae7";
    assert_eq!(
        of(
            "set-cookie",
            &[&format!("session={id}; Path=/; HttpOnly; SameSite=Lax; Max-Age=3600"), "csrf=k-123456; Secure"]
        ),
        ["set-cookie: csrf=<csrf>; secure", "set-cookie: session=id; httponly; max-age; path=/; samesite=Lax"]
    );
    let value = |cookie: &str| of("set-cookie", &[cookie])[0].clone();
    assert_eq!(value("a=lettersonly"), value("a=digits123"));
    assert_eq!(
        value("a=; Max-Age=0; Expires=Thu, 01 Jan 1970 00:00:00 GMT"),
        "set-cookie: a=\"\"; expires=1970; max-age=0"
    );
    assert_eq!(value("a=b; Expires=Thu, 26 Nov 2026 10:00:00 GMT"), "set-cookie: a=string; expires");
}

#[test]
fn another_header_has_its_directives() {
    assert_eq!(of("cache-control", &["no-store", "max-age=60"]), ["cache-control: max-age=number, no-store"]);
    assert_eq!(of("cache-control", &["max-age=0"]), ["cache-control: max-age=0"]);
    assert_eq!(of("last-modified", &["Thu, 26 Nov 2026 10:00:00 GMT"]), ["last-modified: time"]);
    assert_eq!(of("etag", &["W/\"x1\""]), ["etag: string"]);
    assert_eq!(of("x-none", &[]), Vec::<String>::new());
}
