//! The walks of `tests/README.md`: each file is there, and no walk comes back to a room.

use super::arrows::room_of;
use super::library::Files;

/// The page with the walks.
pub(crate) const PAGE: &str = "tests/README.md";

/// Steps to files that are not there, or to a room that the walk has left.
pub(crate) fn faults(files: &Files) -> Vec<String> {
    let page = files.get(PAGE).map_or("", String::as_str);
    let (mut wrong, mut walks, mut rooms) = (Vec::new(), 0, Vec::<&str>::new());
    let lines = page.lines().enumerate().skip_while(|(_, line)| *line != "## Walks");
    for (index, line) in lines {
        if line.starts_with("### ") {
            walks += 1;
            rooms.clear();
        }
        let Some((_, step)) = line.split_once(". `") else { continue };
        let file = step.split('`').next().unwrap_or(step);
        let place = format!("{PAGE}:{}", index + 1);
        if !files.contains_key(file) {
            wrong.push(format!("{place}: there is no {file}: walk through the file that does this now"));
        }
        let room = room_of(file);
        if rooms.last() != Some(&room) && rooms.contains(&room) {
            wrong.push(format!("{place}: {file} leads back to `{room}`: a walk passes each room once"));
        }
        rooms.push(room);
    }
    if walks != 4 {
        wrong.push(format!("{PAGE}: there are {walks} walks, and should be 4, each under a heading of its own"));
    }
    wrong
}
