//! Reads the text of a golden, of this format or an older one.
//!
//! Two blank lines end a block, one blank line a part of it: head, sequence, trees. Within a line, names and texts that could be
//! mistaken for notation are in JSON's quotes, so that each line is read from left to right without looking ahead.

//!
//! | file | reads |
//! |---|---|
//! | `line` | the parts of any line |
//! | `sequence` | status, headers, and events with what is shown of them |
//! | `trees` | shapes |

mod line;
mod sequence;
mod trees;

use super::writer::{AFTER_LAST, BROKE_OFF, CLOSED, LEFT_OPEN};
use super::{Block, COST, EventLine, Golden, RECORDING, Top};
use crate::cost::CallerCost;
use crate::events::captured::Ending;
use line::Line;
use retake_base::error::{Error, Result};
use trees::{TreeLine, Whole};

impl Golden {
    /// Reads the text of a golden.
    ///
    /// # Errors
    /// If a line cannot be read. The error has its place.
    pub fn parse(text: &str) -> Result<Golden> {
        let lines: Vec<Line<'_>> = text.lines().enumerate().map(|(nth, text)| Line { nth, text, at: 0 }).collect();
        // The places to which later lines can refer.
        let mut wholes = Vec::new();
        let (mut blocks, mut cost, mut recording, mut rest) = (Vec::new(), Vec::new(), None, &lines[..]);
        while let Some(start) = rest.iter().position(|line| !line.is_blank()) {
            rest = &rest[start..];
            let end = rest.windows(2).position(|two| two[0].is_blank() && two[1].is_blank()).unwrap_or(rest.len());
            if rest[0].text == COST {
                let lines = rest[1..end].iter().filter(|line| !line.is_blank());
                let read = |of: &Line<'_>| CallerCost::parse(of.text).ok_or_else(|| of.expected("what calls cost"));
                cost = lines.map(read).collect::<Result<_>>()?;
            } else if let Some(hash) = rest[0].text.strip_prefix(RECORDING) {
                recording = Some(hash.to_owned());
            } else {
                blocks.push(block(&rest[..end], &mut wholes)?);
            }
            rest = &rest[end..];
        }
        Ok(Golden { blocks, cost, recording, ..Golden::default() })
    }
}

fn block(lines: &[Line<'_>], wholes: &mut Vec<Whole>) -> Result<Block> {
    let mut parts = lines.split(Line::is_blank);
    let (request, below) = parts.next().and_then(<[_]>::split_first).ok_or_else(|| Error::new("an empty golden"))?;
    let mut block = Block { request: request.text.to_owned(), ..Block::default() };
    let Some((head, headers)) = below.split_first() else {
        block.page = parts.flatten().map(|line| line.text.to_owned()).collect();
        return Ok(block);
    };
    block.head = Some(head.clone().head()?);
    block.headers = headers.iter().map(|line| line.clone().header()).collect::<Result<_>>()?;
    let mut late = false;
    for line in parts.next().unwrap_or_default() {
        // A label that begins like a note is written in quotes.
        match line.text {
            AFTER_LAST => late = true,
            BROKE_OFF => block.ending = Ending::BrokeOff,
            LEFT_OPEN => block.ending = Ending::Open,
            text if text.starts_with(CLOSED) => block.ending = line.clone().closed()?,
            _ if line.text.starts_with(' ') => {
                let mut line = line.clone();
                line.spaces();
                let Some(event) = block.events.last_mut() else { return Err(line.expected("an event")) };
                event.shown.extend(line.shown(event.top == Top::Collapsed)?);
            }
            _ => block.events.push(EventLine { is_late: late, ..line.clone().event()? }),
        }
    }
    let trees = parts.next().unwrap_or_default().iter().map(|line| line.clone().tree());
    let trees: Vec<TreeLine> = trees.collect::<Result<_>>()?;
    let mut rest = &trees[..];
    while !rest.is_empty() {
        block.trees.push(trees::read(&mut rest, wholes)?);
    }
    let Some(line) = parts.flatten().next() else { return Ok(block) };
    Err(line.expected("two blank lines before the next answer"))
}
