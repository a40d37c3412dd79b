use super::{scenario_fields, suite_fields};

#[test]
fn the_fields_of_all_tables_are_found_through_lists_options_and_names() {
    let (suite, scenario) = (suite_fields(), scenario_fields());
    for field in ["settle", "systems.*.ready.http", "tools.*.mcp.url", "callers.when.header", "normalize.pattern"] {
        assert!(suite.iter().any(|known| known == field), "{field}");
    }
    for field in ["step.cancel.after", "step.stream.last", "step.do.within", "golden.show", "drift.results", "case"] {
        assert!(scenario.iter().any(|known| known == field), "{field}");
    }
    // Names that the user chooses are not fields, and the fields of a type that contains itself are listed once.
    for field in ["step.headers.*", "step.together.post", "case.*.vars", "vars.*"] {
        assert!(!scenario.iter().any(|known| known == field), "{field}");
    }
}
