//! Cassettes as tools, formatters and people leave them: each holds the same call, and its answer.

use super::*;

fn texts(found: &Imported) -> Vec<String> {
    found.fixture.table.turns().iter().map(|turn| turn.output.text()).collect()
}

fn one_turn(text: &str) {
    let found = import(Foreign::Vcr, text);
    assert_eq!((texts(&found), &found.left_out, &found.notes), (vec!["yes".to_owned()], &vec![], &vec![]), "{text}");
    let whole = cassette(&format!("body: {}", quoted(REQUEST)), &answer(ANSWER));
    let key = import(Foreign::Vcr, &whole).fixture.table.turns()[0].key;
    assert_eq!(found.fixture.table.turns()[0].key, key, "{text}");
}

fn answer(body: &str) -> String {
    format!("status: {{code: 200}}\nbody: {{string: {}}}", quoted(body))
}

#[test]
fn quoted_texts_may_go_on_with_a_smaller_indent_or_tabs() {
    for (quote, begin) in [("'", ""), ("'", "   "), ("'", "\t"), ("'", "\t\t"), ("\"", ""), ("\"", "\t")] {
        let escaped = if quote == "'" { REQUEST.to_owned() } else { REQUEST.replace('"', "\\\"") };
        let broken = escaped.replacen(", ", &format!(",\n{begin}"), 1);
        let line = format!("{quote}{broken}{quote}");
        let text = cassette("body: HERE", &answer(ANSWER)).replace("HERE", &line);
        one_turn(&text);
        let text = cassette(&format!("body: {}", quoted(REQUEST)), "status: {code: 200}\nbody: {string: HERE}");
        let escaped = if quote == "'" { ANSWER.to_owned() } else { ANSWER.replace('"', "\\\"") };
        one_turn(
            &text.replace("HERE", &format!("{quote}{}{quote}", escaped.replacen(", ", &format!(",\n{begin}"), 1))),
        );
    }
}

#[test]
fn objects_of_python_are_what_they_are_made_of() {
    let headers = "headers:\n  ? !!python/object/apply:multidict._multidict.istr\n  - Content-Type\n  : - application/json\n  \
                   ? !!python/object/new:multidict._multidict.istr\n    args: [Accept]\n  : ['*/*']\n";
    let code = "status: {code: !!python/object/apply:http.HTTPStatus [200], message: OK}\n";
    let body = quoted(ANSWER);
    for (request, response) in [
        (format!("{headers}body: {}", quoted(REQUEST)), answer(ANSWER)),
        (format!("body: !!python/object/new:a.Text\n  args: [{}]\n  state: 1", quoted(REQUEST)), answer(ANSWER)),
        (format!("body: {}", quoted(REQUEST)), format!("{headers}{code}body: {{string: {body}}}")),
        (format!("body: {}", quoted(REQUEST)), format!("{code}body:\n  string: !!python/object/apply:a.Text [{body}]")),
    ] {
        one_turn(&cassette(&request, &response));
    }
}

#[test]
fn the_entries_of_merged_maps_are_read() {
    let text = cassette(
        &format!("<<: *request\nbody: {}", quoted(REQUEST)),
        &format!("<<: [*ok, *failed]\n{}", answer(ANSWER).replace("status: {code: 200}\n", "")),
    );
    let text = text.replace("    method: POST\n    uri: https://api.openai.com/v1/chat/completions\n", "");
    one_turn(&format!(
        "more:\n- &request {{method: POST, uri: 'https://api.openai.com/v1/chat/completions', body: x}}\n- &ok {{status: {{code: 200}}}}\n- &failed {{status: {{code: 500}}}}\n{text}"
    ));
}

/// VCR.py wrote so what httpx got.
#[test]
fn an_answer_may_be_stored_as_content() {
    let body = quoted(ANSWER);
    one_turn(&cassette(
        &format!("body: {}", quoted(REQUEST)),
        &format!(
            "content: {body}\nheaders: {{content-type: [application/json]}}\nhttp_version: HTTP/1.1\nstatus_code: 200"
        ),
    ));
}

#[test]
fn requests_and_responses_may_be_two_lists_in_a_packed_file() {
    use std::io::Write as _;
    let request = format!("- {{method: POST, uri: 'https://a/v1/chat/completions', body: {}}}\n", quoted(REQUEST));
    let response = format!("- {{status: {{code: 200}}, body: {{string: {}}}}}\n", quoted(ANSWER));
    let text = format!("requests:\n{request}responses:\n{response}version: 1\n");
    one_turn(&text);
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    gzip.write_all(text.as_bytes()).unwrap();
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("a.yaml.gz"), gzip.finish().unwrap()).unwrap();
    std::fs::write(folder.path().join("b.txt.gz"), "x").unwrap();
    let (rules, out) = (Rules::default(), Path::new("out.json"));
    let options = Options { rules: &rules, caller: &|_, _| None, errors: false, scrub: &Scrub::known() };
    let found = to_fixture(Foreign::Vcr, &[folder.path().to_owned()], out, BTreeMap::new(), &options).unwrap();
    assert_eq!((texts(&found), found.notes.len()), (vec!["yes".to_owned()], 1), "{:?}", found.notes);
    let uneven = format!("requests:\n{request}{request}responses:\n{response}");
    assert_eq!(import(Foreign::Vcr, &uneven).left_out, ["a.yaml: interaction 2 (line 3): no `response`"]);
    let uneven = format!("requests:\n{request}responses:\n{response}{response}");
    assert_eq!(import(Foreign::Vcr, &uneven).left_out, ["a.yaml: interaction 2 (line 5): no `request`"]);
}

#[test]
fn a_placeholder_may_stand_for_the_base_url() {
    let text = cassette(&format!("body: {}", quoted(REQUEST)), &answer(ANSWER));
    for base in ["<OLLAMA_API_BASE>", "https://<HOST>/v1", "{{ base_url }}", "${API_BASE}/v1", "API_BASE", "#{BASE}/v1"]
    {
        one_turn(&text.replace("https://api.openai.com/v1/chat/completions", &format!("'{base}/chat/completions'")));
    }
    one_turn(&text.replace("https://api.openai.com/v1/chat/completions", "<API_BASE>chat/completions"));
}

#[test]
fn an_empty_answer_of_a_model_was_not_recorded() {
    let request = format!("body: {}", quoted(REQUEST));
    for response in ["status: {code: 200}\nbody: {string: ''}", "status: {code: 200}\nbody: null"] {
        let found = import(Foreign::Vcr, &cassette(&request, response));
        assert!(found.left_out[0].ends_with("the answer: its body was not recorded"), "{:?}", found.left_out);
    }
}

#[test]
fn whatever_is_sent_to_a_host_with_calls_is_a_turn() {
    let one = |method: &str, url: &str, body: &str| {
        format!(
            "- request: {{method: {method}, uri: '{url}', body: '{body}'}}\n  response: {{status: {{code: 200}}, body: {{string: '{{\"id\": \"{url}\"}}'}}}}\n"
        )
    };
    let jobs = "https://api.mistral.ai/v1/batch/jobs";
    let interactions = [
        one("POST", jobs, r#"{"model": "m"}"#),
        one("GET", &format!("{jobs}/j-1"), ""),
        one("DELETE", &format!("{jobs}/j-1"), ""),
        one("GET", "https://example.com/cat.png", ""),
        one("POST", "https://accounts.example/token", "grant_type=x"),
        one("GET", "https://accounts.example/userinfo", ""),
    ];
    let found = import(Foreign::Vcr, &format!("interactions:\n{}", interactions.concat()));
    assert_eq!(found.fixture.table.turns().len(), 3);
    assert_eq!(
        found.left_out,
        [
            "a.yaml: interaction 4 (line 8): GET https://example.com/cat.png: not a POST request, so not a model call",
            "a.yaml: interaction 5 (line 10): POST https://accounts.example/token: asks for an OAuth token, which must not be in a fixture",
            "a.yaml: interaction 6 (line 12): GET https://accounts.example/userinfo: not a POST request, so not a model call",
        ]
    );
}

#[test]
fn a_file_of_a_folder_that_cannot_be_read_is_left_out() {
    let good = cassette(&format!("body: {}", quoted(REQUEST)), &answer(ANSWER));
    let files =
        [("of/a.yaml", &*good), ("of/b.yaml", "interactions:\n- request: {body: 'x\n"), ("of/c.yaml.gz", "\u{1f}x")];
    let found = import_files(Foreign::Vcr, &files, &["of"], false).unwrap();
    assert_eq!((texts(&found), found.unread.len()), (vec!["yes".to_owned()], 2));
    let errors: Vec<String> = found.unread.iter().map(ToString::to_string).collect();
    assert!(errors[0].contains("of/b.yaml:2:19: not YAML: "), "{errors:?}");
}
