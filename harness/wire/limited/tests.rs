use super::*;
use retake_core::json::Layout;

const RATE: Quota = Quota {
    of: Limited::Within(Duration::from_secs(60)),
    limit: 3,
    used: 3,
    free_in: Duration::from_millis(19_200),
    whole_in: Duration::from_secs(59),
};
const AT_ONCE: Quota =
    Quota { of: Limited::AtOnce, limit: 50, used: 50, free_in: Duration::from_secs(1), whole_in: Duration::ZERO };

fn body(api: Api, quota: &Quota) -> Json {
    let response = limited(api, quota, "gpt-4o", false);
    assert_eq!(response.status, 429);
    let Body::Json(body) = response.body else { panic!("{response:?} is not JSON") };
    body.json()
}

fn text<'a>(body: &'a Json, pointer: &str) -> &'a str {
    body.pointer(pointer)
        .and_then(Json::as_str)
        .unwrap_or_else(|| panic!("{pointer} in {}", body.print(Layout::Python)))
}

#[test]
fn each_provider_has_a_body_of_its_own() {
    for api in [Api::OpenAiChat, Api::OpenAiResponses, Api::Opaque] {
        let body = body(api, &RATE);
        let message = text(&body, "/error/message");
        assert!(
            message.starts_with(
                "Rate limit reached for gpt-4o on requests per min (RPM): Limit 3, Used 3, Requested 1. \
                 Please try again in 19.2s."
            ),
            "{message}"
        );
        assert_eq!([text(&body, "/error/type"), text(&body, "/error/code")], ["requests", "rate_limit_exceeded"]);
    }
    let anthropic = body(Api::Anthropic, &RATE);
    assert_eq!([text(&anthropic, "/type"), text(&anthropic, "/error/type")], ["error", "rate_limit_error"]);
    assert!(text(&anthropic, "/error/message").contains("rate limit of 3 requests per minute"));
    let gemini = body(Api::Gemini, &RATE);
    assert_eq!(text(&gemini, "/error/status"), "RESOURCE_EXHAUSTED");
    assert_eq!(gemini.pointer("/error/code"), Some(&Json::Int(429)));
    assert_eq!(text(&gemini, "/error/details/2/retryDelay"), "20s");
    assert_eq!(text(&gemini, "/error/details/0/violations/0/quotaValue"), "3");
    assert_eq!(text(&body(Api::Ollama, &RATE), "/error"), "you've reached your limit of 3 requests per minute");
    assert_eq!(text(&body(Api::Ollama, &AT_ONCE), "/error"), "too many concurrent requests");
    assert!(text(&body(Api::Anthropic, &AT_ONCE), "/error/message").starts_with("Number of concurrent connections"));
}

#[test]
fn a_stream_that_gemini_sends_as_an_array_is_refused_in_an_array() {
    let response = limited(Api::Gemini, &RATE, "gemini-2.5-flash", true);
    assert!(matches!(&response.body, Body::Json(body) if body.is_array()), "{response:?}");
    assert_eq!(response.content_type, "application/json; charset=UTF-8");
}

#[test]
fn clients_read_from_the_headers_how_long_to_wait() {
    let headers = |api, quota| limit_headers(api, quota, 1_700_000_000);
    let text = |headers: Vec<(&str, String)>| {
        headers.into_iter().map(|(name, value)| format!("{name}: {value}")).collect::<Vec<_>>()
    };
    assert_eq!(
        text(headers(Api::OpenAiResponses, &RATE)),
        [
            "x-ratelimit-limit-requests: 3",
            "x-ratelimit-remaining-requests: 0",
            "x-ratelimit-reset-requests: 59s",
            "retry-after: 20",
            "retry-after-ms: 19200"
        ]
    );
    assert_eq!(
        text(headers(Api::Anthropic, &RATE)),
        [
            "anthropic-ratelimit-requests-limit: 3",
            "anthropic-ratelimit-requests-remaining: 0",
            "anthropic-ratelimit-requests-reset: 2023-11-14T22:14:19Z",
            "retry-after: 20"
        ]
    );
    assert_eq!(text(headers(Api::OpenAiChat, &AT_ONCE)), ["retry-after: 1", "retry-after-ms: 1000"]);
    assert!(headers(Api::Gemini, &RATE).is_empty() && headers(Api::Ollama, &RATE).is_empty());
    let open = Quota { used: 1, free_in: Duration::ZERO, ..RATE };
    assert_eq!(text(headers(Api::Anthropic, &open))[1], "anthropic-ratelimit-requests-remaining: 2");
    assert!(!text(headers(Api::OpenAiChat, &open)).iter().any(|line| line.starts_with("retry-after")));
}

#[test]
fn times_are_written_as_openai_writes_them() {
    let written = |millis| go_duration(Duration::from_millis(millis));
    assert_eq!(
        [0, 120, 1_200, 59_000, 360_000, 3_661_500].map(written),
        ["0ms", "120ms", "1.2s", "59s", "6m0s", "1h1m1.5s"]
    );
}
