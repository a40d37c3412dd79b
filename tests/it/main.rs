//! The runner and the command as a user starts them, each on a project of its own in a temporary folder.
//!
//! This binary is both sides: without more it runs the tests; started by one of them with `RETAKE_IT_RUNNER` it is the
//! runner of that test's project. So nothing here passes unless a runner ran, failed or passed, and said why.

#![expect(clippy::unwrap_used, clippy::expect_used, reason = "a test that cannot go on fails")]

mod events;
mod fixtures;
mod misses;
mod mutation;
mod systems;
mod tree;

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
