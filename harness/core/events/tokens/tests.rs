use super::*;
use crate::conversation::{Answer, Usage};

#[test]
fn a_sum_is_told_by_the_turns_that_follow_one_another() {
    let answer =
        |input, output| Answer { usage: Some(Usage { input, output, ..Usage::default() }), ..Answer::default() };
    let recorded = Recorded::of(&[answer(100, 7), answer(230, 9), answer(31, 40)]);
    let told = |number| recorded.tokens(number, &|_, _| true).unwrap_or_default();
    assert_eq!(told(100), "input tokens of turn 1");
    assert_eq!(told(261), "input tokens of turns 2 to 3");
    assert_eq!(told(56), "output tokens of turns 1 to 3");
    assert_eq!(told(346), "all tokens of turns 1 to 2");
    assert_eq!([told(131), told(0)], ["", ""]);
    // Of several, the one that fits.
    let recorded = Recorded::of(&[answer(5, 7), answer(9, 5)]);
    assert_eq!(recorded.tokens(5, &|_, more| more == more_tokens(1)).unwrap(), "output tokens of turn 2");
}
