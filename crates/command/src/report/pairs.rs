//! Rows of two traces, side by side.

use rustc_hash::FxHashMap;
use serde_json::{Value, json};

use super::names::shown;

/// Rows by their text: what the first trace has, and the second.
#[derive(Default)]
pub(super) struct Pairs<const N: usize> {
    rows: FxHashMap<String, [Option<[f64; N]>; 2]>,
}

impl<const N: usize> Pairs<N> {
    /// Adds to the row of a trace. Rows that differ in what their text does not show are one.
    pub(super) fn add(&mut self, trace: usize, text: String, values: [f64; N]) {
        let sums = self.rows.entry(text).or_default()[trace].get_or_insert([0.0; N]);
        sums.iter_mut().zip(values).for_each(|(sum, value)| *sum += value);
    }

    /// The rows with the largest first number in either trace, and how many there are beyond `most`. A row that is left out has
    /// less than each that is not, before and after, so that no row seems to be of one trace that is of both.
    pub(super) fn json(self, most: usize) -> Value {
        let first = |values: &Option<[f64; N]>| values.map_or(0.0, |values| values[0]);
        let mut rows: Vec<_> = self.rows.into_iter().collect();
        rows.sort_by(|(a, ones), (b, others)| {
            let largest = |pair: &[Option<[f64; N]>; 2]| first(&pair[0]).max(first(&pair[1]));
            largest(others).total_cmp(&largest(ones)).then_with(|| a.cmp(b))
        });
        let left = rows.len().saturating_sub(most);
        rows.truncate(most);
        let numbers = |values: Option<[f64; N]>| values.map(|values| values.to_vec());
        let row = |(text, [before, after]): (String, [Option<[f64; N]>; 2])| json!({ "text": shown(&text), "before": numbers(before), "after": numbers(after) });
        json!({ "rows": rows.into_iter().map(row).collect::<Vec<_>>(), "left": left })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_side_by_side_and_those_of_one_trace_say_so() {
        let mut pairs = Pairs::default();
        for (trace, text, values) in
            [(0, "both", [5.0, 1.0]), (1, "both", [7.0, 2.0]), (1, "new", [90.0, 1.0]), (0, "gone", [1.0, 9.0])]
        {
            pairs.add(trace, text.to_owned(), values);
        }
        pairs.add(1, "both".to_owned(), [1.0, 1.0]);
        let expected = json!({
            "rows": [
                { "text": "new", "before": null, "after": [90.0, 1.0] },
                { "text": "both", "before": [5.0, 1.0], "after": [8.0, 3.0] },
            ],
            "left": 1,
        });
        assert_eq!(pairs.json(2), expected);
    }
}
