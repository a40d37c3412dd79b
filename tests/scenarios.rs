//! Runs the scenarios in `scenarios/` against the gateway: `cargo test --test scenarios`.

retake::suite! {
    router "gateway" => |stage| async move {
        let config = gateway::Config::new(stage.workdir(), &stage.model().openai, stage.key());
        gateway::router(gateway::Config { seeding: true, ..config })
    }
}
