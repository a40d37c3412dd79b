use proptest::prelude::*;

use super::*;
use retake_core::json::Layout;

fn template(text: &str) -> Result<Template> {
    let source = Source { file: Path::new("t.toml").into(), text: format!("x = \"{text}\"") };
    Template::parse(text, &source, 4..source.text.len())
}

fn context() -> Context {
    let mut context = Context::new();
    context.insert("n", 3_u64);
    context.insert("text", "a {{ n }}");
    context.insert("big", Json::BigInt("123456789012345678901".into()));
    context.insert("none", Json::Null);
    context.insert("user", Json::object([("name", Json::from("ann")), ("tags", Json::Array(vec![1_u64.into()]))]));
    context.insert("half", Json::Float(0.5));
    context
}

fn render(text: &str) -> Json {
    template(text).and_then(|t| t.render(&context())).unwrap()
}

fn fails(text: &str) -> String {
    template(text).and_then(|t| t.render(&context())).unwrap_err().to_string()
}

#[test]
fn one_expression_keeps_its_type() {
    assert_eq!(render("{{ n }}"), Json::Int(3));
    assert_eq!(render("{{n}}"), Json::Int(3));
    assert_eq!(render("{{- n -}}"), Json::Int(3));
    assert_eq!(render("{{ half }}"), Json::Float(0.5));
    assert_eq!(render("{{ big }}"), Json::BigInt("123456789012345678901".into()));
    assert_eq!(render("{{ [n, none] }}"), Json::Array(vec![Json::Int(3), Json::Null]));
    assert_eq!(render("{{ user }}"), context().get("user").unwrap().clone());
    assert_eq!(render("{{ {'a': {'b': n}} }}").print(Layout::Compact), r#"{"a":{"b":3}}"#);
    assert_eq!(render("{{ n > 2 }}"), Json::Bool(true));
    assert_eq!(render("{{ '}}' }}"), Json::from("}}"));
}

#[test]
fn more_than_one_expression_is_text() {
    assert_eq!(render("{{ n }}{{ n }}"), Json::from("33"));
    assert_eq!(render(" {{ n }}"), Json::from(" 3"));
    assert_eq!(render("{{ user }}!"), Json::from(r#"{"name":"ann","tags":[1]}!"#));
    assert_eq!(render("{{ none }} {{ half }}"), Json::from("null 0.5"));
    assert_eq!(render("{% for t in user.tags %}{{ t }};{% endfor %}"), Json::from("1;"));
    assert_eq!(render("{{ 'a' }}\n"), Json::from("a\n"));
}

#[test]
fn values_are_not_rendered_again() {
    assert_eq!(render("{{ text }}"), Json::from("a {{ n }}"));
    assert_eq!(render("{{ text }}."), Json::from("a {{ n }}."));
}

#[test]
fn text_without_braces_is_left_alone() {
    assert_eq!(render("100 % } { \n"), Json::from("100 % } { \n"));
}

#[test]
fn undefined_names_are_reported_with_their_place_and_the_nearest_name() {
    assert_eq!(fails("n {{ usr.name }}"), "t.toml:1:11: `usr.name` is not defined\n  did you mean `user`?");
    assert_eq!(fails("{{ user.nme }}"), "t.toml:1:9: `user.nme` is not defined\n  did you mean `name`?");
    assert_eq!(fails("{{ user.tags.7 }}"), "t.toml:1:5: `{{ user.tags.7 }}` is not defined");
    assert_eq!(render("{{ user.nme | default('x') }}"), Json::from("x"));
}

#[test]
fn what_cannot_be_rendered_says_why() {
    assert_eq!(
        fails("{{ n + user }}"),
        "t.toml:1:5: `{{ n + user }}` cannot be rendered: tried to use + operator on unsupported types number and map"
    );
    assert_eq!(fails("{{ range }}"), "t.toml:1:5: `{{ range }}` cannot be rendered: JSON has no plain object");
    assert_eq!(fails("{{ 1 / 0 }}"), "t.toml:1:5: `{{ 1 / 0 }}` cannot be rendered: unable to calculate 1 / 0");
    let unknown = |text: &str| template(text).unwrap_err().to_string();
    assert_eq!(unknown("a {{ n | uper }}"), "t.toml:1:15: there is no filter `uper`\n  did you mean `upper`?");
    assert_eq!(unknown("{{ n is evn }}"), "t.toml:1:14: there is no test `evn`\n  did you mean `even`?");
    // A filter that the check does not reach is reported while rendering.
    assert!(fails("{% if n %}{{ n | nofilter }}{% endif %}").contains("filter nofilter is unknown"));
    let loops = "{% for a in range(99999) %}{% for b in range(99999) %}{% endfor %}{% endfor %}";
    assert!(fails(loops).contains("takes more than 1000000 steps to render"));
}

#[test]
fn what_is_rendered_has_a_largest_size() {
    let long = "'x' * 99999";
    for text in [
        &format!("{{% for a in range(9999) %}}{{{{ {long} }}}}{{% endfor %}}"),
        &format!("{{% for a in range(99999) %}}{}{{% endfor %}}", "literal ".repeat(1000)),
        &format!("{{{{ [{long}] * 9999 }}}}"),
        "{{ [n] * 9999999 }}",
    ] {
        let error = fails(text);
        assert!(error.contains("renders to more than 16 MB"), "{error}");
    }
    assert_eq!(render(&format!("{{{{ {long} }}}}")), Json::from("x".repeat(99999)));
    // The check of filters renders the text once, before it is known what the names stand for.
    let unknown = format!("{{% for a in range(9999) %}}{{{{ {long} }}}}{{% endfor %}}{{{{ n | uper }}}}");
    assert_eq!(template(&unknown).map(|_| ()), Ok(()));
}

#[test]
fn what_would_let_a_value_grow_is_refused() {
    let doubled =
        "{% set a = namespace(text='x') %}{% for i in range(40) %}{% set a.text = a.text ~ a.text %}{% endfor %}";
    let captured = "{%- filter upper %}{% for i in range(9999) %}long{% endfor %}{% endfilter %}";
    let set = template(doubled).unwrap_err().to_string();
    assert!(set.starts_with("t.toml:1:5: templates have no `{% set %}`\n  they have `if`, `for` and `raw`; "), "{set}");
    let filter = template(captured).unwrap_err().to_string();
    assert!(filter.starts_with("t.toml:1:5: templates have no `{% filter %}`\n"), "{filter}");
    let nested =
        |deep: usize| format!("{}{{{{ n }}}}{}", "{%-for n in [n ~ n]%}".repeat(deep), "{% endfor %}".repeat(deep));
    assert_eq!(render(&nested(8)), Json::from("3".repeat(256)));
    assert!(
        template(&nested(40)).unwrap_err().to_string().starts_with("t.toml:1:5: this text contains too much code\n")
    );
    assert_eq!(render("{% raw %}{% set a = 1 %}{% endraw %}{{ n }}"), Json::from("{% set a = 1 %}3"));
}

#[test]
fn endless_code_is_refused_before_it_overflows_the_stack() {
    let too_much = "t.toml:1:5: this text contains too much code";
    for link in [".a", "|trim", " + a", "[0]", " if a else a", " is odd", " and a"] {
        let chain = |length: usize| format!("{{{{ a{} }}}}", link.repeat(length / link.len()));
        assert_eq!(template(&chain(980)).map(|_| ()), Ok(()), "{link}");
        assert!(template(&chain(100_000)).is_err_and(|error| error.to_string().starts_with(too_much)), "{link}");
    }
    let branches = |count: usize| format!("{{% if n %}}{}{{% endif %}}", "{% elif n %}".repeat(count));
    assert_eq!(template(&branches(98)).map(|_| ()), Ok(()));
    assert!(template(&branches(100_000)).is_err());
    assert_eq!(template(&"{{ n }} ".repeat(5_000)).map(|_| ()), Ok(()));
    assert_eq!(render(&format!("{{{{ '{}' }}}}", "long }} ".repeat(500))), Json::from("long }} ".repeat(500)));
}

#[test]
fn the_words_of_hints_exist() {
    for name in FILTERS.split(' ') {
        assert!(template(&format!("{{{{ n | {name} }}}}")).is_ok(), "{name}");
    }
    for name in TESTS.split(' ') {
        assert!(template(&format!("{{{{ n is {name}(1) }}}}")).is_ok(), "{name}");
    }
}

proptest! {
    #[test]
    fn any_text_is_a_template_or_an_error(text in "[{}%# a-z0-9.'\\-|\\[\\]()~*+/é\\n\"]{0,40}") {
        if let Ok(template) = template(&text) {
            let _ = template.render(&context());
        }
    }
}

#[test]
fn a_slice_uses_the_names_of_what_it_is_cut_from() {
    assert_eq!(render("{{ text[:3] }}"), Json::from("a {"));
    assert_eq!(render("{{ text[n:] }}!"), Json::from("{ n }}!"));
    assert_eq!(render("{{ user.name[0:n - 1] ~ user.tags[:1] }}"), Json::from("an[1]"));
    assert_eq!(render("{{ {'a': user.name[:1]} }}").print(Layout::Compact), r#"{"a":"a"}"#);
    assert_eq!(render("{{ ['[:]', user.name][:1] }}").print(Layout::Compact), r#"["[:]"]"#);
    assert_eq!(render("{% for c in user.name[:2] %}{{ c }}.{% endfor %}"), Json::from("a.n."));
    let uses = |text: &str| template(text).unwrap().uses.iter().map(|name| name.path.clone()).collect::<Vec<_>>();
    assert_eq!(uses("{{ secret.KEY[:4] }}"), ["secret.KEY"]);
    assert_eq!(uses("{{ turn('a', -1).text[:n][1:] }}"), ["turn", "n"]);
    assert!(fails("{{ unknown[:3] }}").contains("`unknown` is not defined"));
}

#[test]
fn a_turn_can_be_sliced_and_counted_from_the_end() {
    let mut context = context();
    let turns = ["first", "the last one"].map(|text| Json::object([("text", Json::from(text))]));
    context.insert("turn", Json::object([("a", Json::Array(turns.into()))]));
    let sliced = template("{{ turn('a', -1).text[:8] }}").unwrap();
    assert_eq!(sliced.render(&context).unwrap(), Json::from("the last"));
    for (text, counts) in [
        ("{{ turn('a', -1).text }}", true),
        ("x {{ turn( 'a, b' ,- 1).text }}", true),
        ("{{ turn('a', 1).text }}", false),
        ("{{ turn('a').json[-1] }}", false),
        ("turn('a', -1)", false),
    ] {
        assert_eq!(template(text).unwrap().counts_turns_from_the_end(), counts, "{text}");
    }
}
