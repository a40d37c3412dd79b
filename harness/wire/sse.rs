//! The data of recorded SSE frames. Only what a recording needs: names, ids and retry times are for `events`.

/// Calls `on` with the data of each event of a frame, `data:` lines joined by newlines.
///
/// Comments, other fields, any of the three line ends, a leading BOM, and a last event without its blank line (which a
/// client would drop, but which tools that keep recordings often strip) are all fine.
pub(super) fn each_data<E>(frame: &str, mut on: impl FnMut(&str) -> Result<(), E>) -> Result<(), E> {
    let mut data: Option<String> = None;
    let frame = frame.trim_start_matches('\u{feff}').replace("\r\n", "\n");
    for line in frame.split(['\n', '\r']) {
        if line.is_empty() {
            data.take().map_or(Ok(()), |data| on(&data))?;
        } else if let Some(value) = line.strip_prefix("data:") {
            let value = value.strip_prefix(' ').unwrap_or(value);
            match &mut data {
                Some(data) => {
                    data.push('\n');
                    data.push_str(value);
                }
                None => data = Some(value.to_owned()),
            }
        }
    }
    data.map_or(Ok(()), |data| on(&data))
}

/// A frame of one event without a name.
pub(super) fn frame(data: &str) -> String {
    format!("data: {data}\n\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn data(frame: &str) -> Vec<String> {
        let mut all = Vec::new();
        let _ = each_data(frame, |data| {
            all.push(data.to_owned());
            Ok::<(), ()>(())
        });
        all
    }

    #[test]
    fn data_is_found_among_all_that_a_frame_may_hold() {
        assert_eq!(data("data: a\n\n"), ["a"]);
        assert_eq!(data(": PROCESSING\r\nevent: x\r\ndata:a\r\ndata:  b\r\n\r\n"), ["a\n b"]);
        assert_eq!(data("\u{feff}data: a\r\rdata: b\n\ndata: c"), ["a", "b", "c"]);
        assert_eq!(data(": ping\n\n"), Vec::<String>::new());
        assert_eq!(data(&frame("{}")), ["{}"]);
    }
}
