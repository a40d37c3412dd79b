use super::*;

#[test]
fn commands_are_taken_from_advice_and_from_texts() {
    let failed = |scenario: &str, failure: serde_json::Value| {
        let run = serde_json::json!({
            "format": "retake-run/2", "action": "test", "result": "failed", "scenario": scenario, "file": "",
            "started": "2026-01-01T00:00:00Z", "took_ms": 1, "failure": failure,
        });
        serde_json::from_value::<RunData>(run).unwrap()
    };
    let advice = |command: &str| serde_json::json!({ "case": "if the change is intended", "command": command });
    let failure = |text: &str, advice: Vec<serde_json::Value>| {
        let evidence = serde_json::json!([{ "kind": "text", "text": text }]);
        serde_json::json!({ "headline": "", "causes": [], "evidence": evidence, "advice": advice })
    };
    let ran = [
        failed("a", failure("to record it: retake record a", vec![])),
        failed("b", failure("", vec![advice("retake record b --resume"), advice("unused = \"allow\"")])),
        failed("c", failure("", vec![advice("retake test c --update"), advice("retake review")])),
        failed("c", failure("", vec![advice("retake test c --update")])),
        failed("d", failure("", vec![advice("UPDATE_GOLDEN=1 cargo test --test scenarios d")])),
        failed("e", failure("", vec![advice("retake explain e")])),
    ];
    let Advised { record, update } = advised(&ran);
    assert_eq!(record, ["retake record a", "retake record b --resume"]);
    assert_eq!(update, ["retake test c --update", "UPDATE_GOLDEN=1 cargo test --test scenarios d"]);
}
