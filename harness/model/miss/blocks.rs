//! The blocks of a message that are no texts, such as images. Each stands as its JSON between the texts of the message.

use retake_base::text::counted;
use serde_json::{Deserializer, Value};

/// Says how a message differs in its blocks: `has no image any more`. `None` if it has the same ones at the same places.
pub(super) fn of_blocks(recorded: &str, called: &str) -> Option<String> {
    let (before, now) = (blocks(recorded), blocks(called));
    let less = |all: &[(usize, Value)], taken: &[(usize, Value)]| {
        let mut left: Vec<Value> = all.iter().map(|(_, block)| block.clone()).collect();
        for (_, block) in taken {
            left.iter().position(|other| other == block).map(|at| left.remove(at));
        }
        left
    };
    let (gone, come) = (less(&before, &now), less(&now, &before));
    Some(match (&gone[..], &come[..]) {
        ([], []) => {
            // A text that changed in its length moves what stands behind it, too.
            let moved = !before.is_empty() && before != now && recorded.len() == called.len();
            return moved.then(|| format!("has the {} at another place", kind(&before[0].1)));
        }
        ([first, ..], []) if gone.len() == before.len() => format!("has no {} any more", kind(first)),
        ([first, ..], []) => format!("has {} fewer", counted(gone.len(), &kind(first))),
        ([], [first, ..]) => format!("has {} that was not recorded", counted(come.len(), &kind(first))),
        ([first, ..], [other, ..]) if kind(first) == kind(other) => format!("has another {}", kind(other)),
        ([first, ..], [other, ..]) => format!("has {} in place of {}", kind(other), kind(first)),
    })
}

/// The blocks in a text, each with the number of characters before it.
fn blocks(text: &str) -> Vec<(usize, Value)> {
    let (mut found, mut at) = (Vec::new(), 0);
    while let Some(next) = text[at..].find("{\"").map(|next| at + next) {
        let mut values = Deserializer::from_str(&text[next..]).into_iter::<Value>();
        let block = values.next().and_then(Result::ok).filter(|block| block.get("type").is_some() || is_image(block));
        at = next + if block.is_some() { values.byte_offset() } else { 1 };
        found.extend(block.map(|block| (next, block)));
    }
    found
}

fn is_image(block: &Value) -> bool {
    block.as_object().is_some_and(|block| block.keys().any(|key| key.starts_with("image") || key.starts_with("inline")))
}

/// What a block is, by its type: `image`, `file`.
fn kind(block: &Value) -> String {
    let of_type = block.get("type").and_then(Value::as_str).filter(|_| !is_image(block)).unwrap_or("image");
    of_type.strip_prefix("input_").unwrap_or(of_type).split('_').next().unwrap_or_default().to_owned()
}

#[cfg(test)]
mod tests {
    use super::of_blocks;

    #[test]
    fn a_block_that_is_lost_changed_or_moved_is_named() {
        const IMAGE: &str = r#"{"image_url": {"url": "data:image/png;base64,QUJD"}, "type": "image_url"}"#;
        let other = IMAGE.replace("QUJD", "REVG");
        let said = |recorded: &str, called: &str| of_blocks(recorded, called).unwrap_or_default();
        assert_eq!(said(&format!("look {IMAGE}"), "look "), "has no image any more");
        assert_eq!(said("look ", &format!("look {IMAGE}")), "has 1 image that was not recorded");
        assert_eq!(said(&format!("{IMAGE}{other}"), IMAGE), "has 1 image fewer");
        assert_eq!(said(IMAGE, &other), "has another image");
        assert_eq!(said(&format!("look{IMAGE}"), &format!("{IMAGE}look")), "has the image at another place");
        assert_eq!(said(IMAGE, r#"{"file_id": "f", "type": "input_file"}"#), "has file in place of image");
        assert_eq!(said(r#"{"images": ["QUJD"]}a"#, "a"), "has no image any more");
        assert_eq!(said(&format!("a {IMAGE}"), &format!("b {IMAGE}")), "");
        assert_eq!(said(r#"say {"a": 1}"#, r#"say {"b": 1}"#), "");
    }
}
