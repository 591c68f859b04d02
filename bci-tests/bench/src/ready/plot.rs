//! What was seen of servers as a picture: how long answers took, how many there were, and the moments of the signals.

use std::fmt::Write as _;

use super::{DELAY, Seen, TIME};

const WIDTH: f64 = 760.0;
const HEIGHT: f64 = 150.0;
const LEFT: f64 = 60.0;
const GAP: f64 = 50.0;

/// An SVG with a panel for each server: answers per second grey, the median of how long they took black, on scales that begin at 0.
pub(super) fn svg(all: &[(String, Seen)]) -> String {
    let height = all.len() as f64 * (HEIGHT + GAP) + GAP;
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{:.0}\" height=\"{height:.0}\" \
         font-family=\"sans-serif\" font-size=\"12\"><rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n",
        WIDTH + 2.0 * LEFT
    );
    for (number, (name, seen)) in all.iter().enumerate() {
        panel(&mut svg, number as f64 * (HEIGHT + GAP) + GAP, name, seen);
    }
    svg + "</svg>\n"
}

fn panel(svg: &mut String, top: f64, name: &str, seen: &Seen) {
    let seconds = TIME.as_secs_f64();
    let x = |second: f64| LEFT + second / seconds * WIDTH;
    let most = |of: fn(&(f64, usize)) -> f64| seen.typical.iter().map(of).filter(|v| v.is_finite()).fold(0.0, f64::max);
    let (slowest, answers) = (most(|second| second.0), most(|second| second.1 as f64));
    let mut write = |text: String| {
        // Writing to a string does not fail.
        let _ = writeln!(svg, "{text}");
    };
    let bottom = top + HEIGHT;
    write(format!("<text x=\"{LEFT}\" y=\"{:.0}\" font-weight=\"bold\">{name}</text>", top - 22.0));
    write(format!("<path d=\"M{LEFT} {top} V{bottom} H{:.0}\" stroke=\"#888\" fill=\"none\"/>", LEFT + WIDTH));
    write(format!("<text x=\"4\" y=\"{:.0}\">{slowest:.1} ms</text>", top + 10.0));
    write(format!("<text x=\"{:.0}\" y=\"{:.0}\" fill=\"#888\">{answers:.0}/s</text>", LEFT + WIDTH + 4.0, top + 10.0));
    for second in (0..=seconds as u64).step_by(10) {
        write(format!(
            "<text x=\"{:.0}\" y=\"{:.0}\" text-anchor=\"middle\">{second}</text>",
            x(second as f64),
            bottom + 14.0
        ));
    }
    let mut line = |of: fn(&(f64, usize)) -> f64, most: f64, colour: &str| {
        let points = seen.typical.iter().enumerate().filter(|(_, second)| of(second).is_finite());
        let points: String = points
            .map(|(at, second)| {
                format!("{:.1},{:.1} ", x(at as f64 + 0.5), bottom - of(second) / most.max(1e-9) * HEIGHT)
            })
            .collect();
        write(format!("<polyline points=\"{points}\" stroke=\"{colour}\" fill=\"none\"/>"));
    };
    line(|second| second.1 as f64, answers, "#aaa");
    line(|second| second.0, slowest, "black");
    let signal = (seen.signal.1 == "warm").then_some(seen.signal.0);
    let moments = [
        ("warm", seen.settled, "#080"),
        ("martini", signal, "#c00"),
        ("agent", seen.agent, "#c60"),
        ("2,000 methods", seen.methods.0, "#06c"),
        ("30 s", Some(DELAY), "#999"),
    ];
    for (number, (label, at, colour)) in moments.into_iter().enumerate() {
        let Some(at) = at else { continue };
        let y = top - 8.0 + 11.0 * number as f64;
        write(format!("<path d=\"M{:.1} {top} V{bottom}\" stroke=\"{colour}\" stroke-dasharray=\"4 2\"/>", x(at)));
        write(format!("<text x=\"{:.1}\" y=\"{y:.0}\" fill=\"{colour}\">{label}</text>", x(at) + 3.0));
    }
}
