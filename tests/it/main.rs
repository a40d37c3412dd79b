//! The runner and the command as a user starts them, each on a project of its own in a temporary folder.
//!
//! This binary is both sides: without more it runs the tests; started by one of them with `RETAKE_IT_RUNNER` it is the
//! runner of that test's project. So nothing here passes unless a runner ran, failed or passed, and said why.

#![expect(clippy::unwrap_used, clippy::expect_used, reason = "a test that cannot go on fails")]

mod deerflow;
mod discovery;
mod events;
mod failing_systems;
mod fixtures;
mod late_calls;
mod loopback;
mod misses;
mod mutation;
mod oddities;
mod serve;
mod systems;
mod time_limits;
mod tree;
mod updating;

use std::process::ExitCode;

use libtest_mimic::{Arguments, Trial};

/// The tests of a module by name: `tests!(misses: one_word, a_turn_deleted)`.
macro_rules! tests {
    ($module:ident: $($name:ident),+ $(,)?) => {
        [$((concat!(stringify!($module), "::", stringify!($name)), $module::$name as fn())),+]
    };
}

fn main() -> ExitCode {
    if let Ok(system) = std::env::var(systems::RUNNER) {
        return systems::runner(&system);
    }
    let tests = [
        tests!(events:
            a_renamed_dropped_added_or_swapped_event_is_a_line_of_the_diff,
            a_key_renamed_dropped_added_or_retyped_at_the_top_is_a_line_of_the_diff,
            a_key_renamed_dropped_added_or_retyped_three_levels_down_is_a_line_of_the_diff,
            a_stream_without_its_first_or_last_event_fails_at_its_step,
            a_golden_of_keys_sees_no_types_and_one_of_values_sees_each_value,
        ).as_slice(),
        &tests!(deerflow:
            it_replays_where_callers_are_declared_and_where_none_is,
            a_miss_in_it_says_that_it_keeps_no_conversations,
            callers_with_one_conversation_are_told_apart_by_a_rule_only,
            it_is_served_over_http_to_calls_that_declare_no_caller,
            imported_it_has_the_form_of_retake_and_replays_the_same,
        ),
        &tests!(discovery:
            no_scenario_is_an_error_that_names_the_command,
            a_broken_scenario_fails_by_file_line_and_column_and_the_others_run,
            a_broken_suite_is_an_error_for_all,
            a_scenario_without_fixture_names_the_command_that_records_it,
            fixtures_and_goldens_of_no_scenario_are_named,
            what_a_broken_scenario_may_own_is_no_orphan,
            each_case_is_a_trial_with_fixture_and_golden_of_its_name,
            scenarios_share_a_fixture_and_each_has_its_own_turns_of_it,
            a_seeded_scenario_needs_no_fixture,
            a_system_that_nobody_knows_is_named_with_the_known_ones,
            the_project_s_own_scenarios_are_those_that_these_tests_know,
        ),
        &tests!(failing_systems:
            an_error_status_fails_with_the_answer,
            a_panic_of_a_handler_fails_its_scenario_alone,
            an_answer_that_is_no_stream_fails_where_one_is_wanted,
            a_capture_that_finds_nothing_tells_what_there_is,
            a_system_that_cannot_be_made_says_why,
        ),
        &tests!(late_calls: a_miss_after_the_verdict_fails_the_run_and_is_named),
        &tests!(time_limits:
            a_system_that_hangs,
            a_system_that_blocks_its_thread,
            a_system_that_streams_for_ever,
            a_system_that_never_gets_ready,
            a_limit_of_the_suite_holds_for_all,
        ),
        &tests!(serve:
            it_prints_its_urls_and_key_when_it_is_ready,
            address_and_key_are_the_ones_it_is_given,
            an_address_beyond_loopback_is_refused,
            it_answers_with_the_recorded_turn_as_json_and_as_a_stream,
            the_models_are_those_of_the_turns,
            a_call_without_the_key_is_refused_with_401,
            a_miss_answers_404_in_the_envelope_of_the_provider,
            ended_it_writes_its_report_and_its_code_tells_of_misses,
            several_fixtures_are_one_table,
            a_fixture_that_cannot_be_read_is_an_error_that_names_it,
        ),
        &tests!(updating:
            in_ci_updating_and_recording_write_nothing_and_exit_2,
            ci_that_is_said_to_be_off_is_no_ci,
            in_ci_a_differing_golden_leaves_no_pending_one,
            elsewhere_a_pending_golden_is_left_until_the_golden_is_right_again,
            a_scenario_without_golden_fails_with_what_it_would_hold,
            updating_writes_a_golden_that_then_passes_and_names_no_path,
            updating_one_scenario_leaves_the_others_alone,
            a_golden_that_differs_between_two_runs_is_not_written_and_its_lines_are_named,
            updating_with_a_miss_or_an_unused_turn_writes_nothing,
        ),
        &tests!(misses:
            one_word_changed_in_a_tool_result_fails_though_all_events_have_their_shape,
            a_change_of_the_conversation_or_the_turns_fails_by_its_own_name,
            rehashing_alone_changes_no_byte_of_a_fixture,
            a_fixture_edited_without_rehashing_is_refused_by_turn,
            a_miss_never_touches_a_golden_nor_leaves_a_pending_one,
            a_call_where_no_fixture_is_said_to_be_is_a_miss,
            turns_may_stay_unused_where_the_scenario_says_so,
        ),
    ];
    let trials = tests.concat().into_iter().map(|(name, test)| {
        Trial::test(name, move || {
            test();
            Ok(())
        })
    });
    libtest_mimic::run(&Arguments::from_args(), trials.collect()).exit_code()
}
