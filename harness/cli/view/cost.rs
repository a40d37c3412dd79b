//! What the model calls of a run cost, as a table for a terminal. Pure.

use super::columns::wrapped;
use retake::__private::report::{CostData, RunData};
use retake_base::text::in_thousands;

/// What the calls of each caller of a run cost, in lines of at most `width` characters.
pub(crate) fn cost_table(run: &RunData, width: usize) -> String {
    if run.cost.is_empty() {
        let what = format!(
            "{}: what its calls cost was not measured. To measure it: cost = true in {}",
            run.scenario,
            run.file.display()
        );
        return wrapped(&what, 0, width).join("\n");
    }
    let head = ["caller", "calls", "read", "written", "bytes", "kept", "cost"].map(str::to_owned);
    let row = |of: &CostData| {
        let numbers = [of.calls as u64, of.input, of.output, of.bytes as u64].map(in_thousands);
        let [calls, input, output, bytes] = numbers;
        let kept = of.prefix.map_or("–".to_owned(), |percent| format!("{percent} %"));
        let money = of.money.map_or("–".to_owned(), |money| format!("{money:.4}"));
        [of.caller.clone(), calls, input, output, bytes, kept, money]
    };
    let rows: Vec<[String; 7]> = std::iter::once(head).chain(run.cost.iter().map(row)).collect();
    let wide = |column: usize| rows.iter().map(|row| row[column].chars().count()).max().unwrap_or_default();
    let widths: Vec<usize> = (0..7).map(wide).collect();
    let line = |row: &[String; 7]| {
        let cells = row.iter().zip(&widths).enumerate();
        let cells =
            cells.map(|(at, (cell, width))| if at == 0 { format!("{cell:width$}") } else { format!("{cell:>width$}") });
        cells.collect::<Vec<_>>().join("  ")
    };
    let mut lines = vec![format!("{}: what its model calls cost", run.scenario)];
    lines.extend(rows.iter().map(|row| format!("  {}", line(row))));
    for of in &run.cost {
        let (Some(place), Some((one, other))) = (&of.ends, &of.texts) else { continue };
        let varies = if of.varies { ", in each run otherwise" } else { "" };
        let what = format!("{}: what a cache can keep ends at {place} ({one:?} → {other:?}){varies}", of.caller);
        lines.extend(wrapped(&what, 2, width));
    }
    lines.join("\n")
}
