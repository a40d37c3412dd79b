use super::*;

#[test]
fn a_frame_has_arrived_when_its_last_byte_has() {
    let frames: Frames = ["data: 1\n\n", "data: 2\n\n", "data: 3\n\n", "data: 4\n\n"].into_iter().collect();
    let mut arrivals = Arrivals::begin();
    for (bytes, steps) in [(3, 0), (9, 2), (12, 5), (27, 6), (30, 6), (36, 100)] {
        arrivals.at(bytes, steps);
    }
    assert_eq!(arrivals.delays(&frames), [20, 40, 0, 940]);
    // Frames that arrive together have no delays.
    let mut at_once = Arrivals::begin();
    at_once.at(36, 0);
    assert_eq!(frames.clone().with_delays(&at_once.delays(&frames)), frames);
}
