use super::*;

const GOLDEN: &str = "POST /chat
200 text/event-stream

delta  {text}
done   {}
";

fn event(name: &str) -> Event {
    Event { name: Some(name.into()), id: None, payload: Payload::Data("{}".into()) }
}

#[test]
fn an_event_that_the_golden_lacks_makes_a_run_differ() {
    let golden = Golden::parse(GOLDEN).unwrap();
    for (came, options, differs) in [
        (vec!["delta", "done"], ShapeOptions::default(), false),
        (vec!["delta", "Done"], ShapeOptions::default(), true),
        // It may have another name by a rule, or by an option, or come at any time.
        (vec!["delta-17"], ShapeOptions::default(), false),
        (vec!["Done"], ShapeOptions { event_name: Some("/kind".to_owned()), ..ShapeOptions::default() }, false),
        (vec!["Done"], ShapeOptions { ignore: vec!["D*".to_owned()], ..ShapeOptions::default() }, false),
    ] {
        let underway = Underway::since(Instant::now());
        underway.watch(Activity::default(), &options);
        underway.begin("step 1".to_owned());
        underway.events(&came.iter().map(|name| event(name)).collect::<Vec<_>>(), 0);
        assert_eq!(underway.differs_from(&golden), differs, "{came:?}");
    }
}
