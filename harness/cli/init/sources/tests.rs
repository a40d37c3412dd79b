use super::*;

/// The sources of a project with these files.
fn sources(files: &[(&str, &str)]) -> Sources {
    let folder = tempfile::tempdir().unwrap();
    for (name, text) in files {
        let file = folder.path().join(name);
        std::fs::create_dir_all(file.parent().unwrap()).unwrap();
        std::fs::write(file, text).unwrap();
    }
    Sources::of(folder.path())
}

#[test]
fn paths_stand_in_the_sources_alone_and_behind_prefixes() {
    let sources = sources(&[
        ("a.js", "api.post('/turns', f); app.use('/api/dialog', api);"),
        ("b.py", "@app.route(\"/threads/<int:id>/runs\")\npath(\"chat/\", view)"),
        ("app/(site)/api/chat/route.ts", ""),
        ("node_modules/c.js", "'/installed'"),
        ("d.ts", "@Controller('helper') class D { @Post('say') f() {} }"),
    ]);
    let paths = sources.paths();
    for path in [
        "/turns",
        "/api/dialog/turns",
        "/threads/1/runs",
        "/chat/",
        "/helper/say",
        "/api/dialog/helper/say",
        "/api/chat",
    ] {
        assert!(paths.iter().any(|found| found == path), "{path} in {paths:?}");
    }
    assert!(!paths.iter().any(|path| path.contains("installed")), "{paths:?}");
}

#[test]
fn fields_are_those_that_are_read_the_nearest_first() {
    let sources = sources(&[
        ("a.py", "x = data['other']"),
        ("b.ts", "f.post('/generate'); const { topic, words: n } = req.body; body.tone"),
        ("c.py", "class Q(BaseModel):\n    utterance: str\n"),
    ]);
    let fields = sources.fields("generate");
    let at = |name: &str| fields.iter().position(|field| field == name);
    assert!(at("tone") < at("other") && at("tone").is_some(), "{fields:?}");
    for name in ["topic", "words", "utterance"] {
        assert!(at(name).is_some(), "{name} in {fields:?}");
    }
}

#[test]
fn the_values_of_a_field_are_those_that_stand_behind_it() {
    let sources = sources(&[
        (
            "a.ts",
            "z.object({ note: z.string(), style: z.enum(['bullets', 'text']), tone: z.string() }); type A = { size: 'small' | 'big' }",
        ),
        (
            "b.js",
            "properties: {\n  body: { type: 'string' },\n  kind: { type: 'string',\n    enum: ['short', 'long'] } }",
        ),
        ("c.py", "level: Literal[\"low\", \"high\"] = \"low\"\ntext = request.json[\"text\"]"),
    ]);
    for (field, first) in [("style", "bullets"), ("size", "small"), ("kind", "short"), ("level", "low")] {
        assert_eq!(sources.choice(field).as_deref(), Some(first), "{field}");
    }
    for field in ["tone", "text", "note", "body"] {
        assert_eq!(sources.choice(field), None, "{field}");
    }
}

#[test]
fn variables_that_name_a_model_or_a_port_get_the_stages_own() {
    let sources = sources(&[
        ("a.py", "os.environ['LLM_GATEWAY_BASE_URL'], os.getenv(\"CLAUDE_API_KEY\"), os.environ.get('DATABASE_URL')"),
        (".env.example", "APP_PORT=8000\nANTHROPIC_BASE_URL=\n"),
    ]);
    let pair = |name: &str, value: &str| (name.to_owned(), format!("{{{{ {value} }}}}"));
    let expected = [
        pair("ANTHROPIC_BASE_URL", "model.anthropic"),
        pair("APP_PORT", "port"),
        pair("CLAUDE_API_KEY", "model.key"),
        pair("LLM_GATEWAY_BASE_URL", "model.openai"),
    ];
    assert_eq!(sources.variables(), expected);
}

#[test]
fn commands_are_those_of_the_project_that_it_can_run() {
    let sources = sources(&[
        ("Procfile", "web: uvicorn web.asgi:app --host 0.0.0.0 --port $PORT\n"),
        ("Dockerfile", "RUN pip install x\nCMD [\"hypercorn\", \"a:web\", \"--bind\", \"0.0.0.0:8000\"]\n"),
        (
            "README.md",
            "```bash\n$ npm install\nRun `serve-it --port 80` or `pytest x`.\npython serve.py --port 8765\npython lost.py\nnode x.js | tee log\n```\n",
        ),
        ("serve.py", ""),
    ]);
    let commands: Vec<String> =
        sources.commands(&|program| program == "serve-it").iter().map(|words| words.join(" ")).collect();
    let expected = [
        "uvicorn web.asgi:app --host 127.0.0.1 --port {{ port }}",
        "hypercorn a:web --bind 127.0.0.1:{{ port }}",
        "python serve.py --port {{ port }}",
        "serve-it --port 80",
    ];
    assert_eq!(commands, expected);
}

#[test]
fn a_port_without_quotes_is_one_word() {
    let typed = ["litellm", "--port", "{{", "port", "}}", "-x"].map(str::to_owned);
    assert_eq!(given(&typed), ["litellm", "--port", "{{ port }}", "-x"]);
}
