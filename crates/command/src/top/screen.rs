//! The lines of the screen.

use std::cmp::Ordering;

use crossterm::style::Attribute;
use trace::time::Nanos;

use super::figures::{Column, Topic, Unit, VALUES};
use super::keys::{HELP, View};
use super::rates::{History, Since};
use crate::render::human;
use crate::render::page::shorten_packages;

/// A line of the screen, and how it looks.
pub(crate) type ScreenLine = (Attribute, String);

/// What stands above the tables.
#[derive(Clone, Debug)]
pub(crate) struct Title {
    /// What is watched.
    pub(crate) what: String,
    /// Bytes of the trace.
    pub(crate) bytes: u64,
    /// Seconds since the view began.
    pub(crate) seconds: u64,
    /// Nothing comes any more.
    pub(crate) is_ended: bool,
}

struct Row<'a> {
    name: &'a str,
    /// As in the columns.
    numbers: Vec<f64>,
}

/// The screen, of so many columns and lines.
pub(crate) fn lines(title: &Title, view: &View, history: &History, width: usize, height: usize) -> Vec<ScreenLine> {
    let mut lines = vec![(Attribute::Reverse, first(title, view, width)), (Attribute::Reset, overview(history))];
    let deadlock = history.last().and_then(|now| now.deadlock.as_ref());
    lines.extend(deadlock.map(|names| (Attribute::Bold, format!("deadlock: {names}"))));
    lines.push(tabs(view));
    if view.shows_help {
        lines.extend(HELP.iter().map(|(key, what)| (Attribute::Reset, format!("{key:>13}  {what}"))));
    } else {
        table(view, history, width, height.saturating_sub(lines.len()), &mut lines);
    }
    lines.truncate(height);
    lines.iter_mut().for_each(|(_, line)| *line = line.chars().take(width).collect());
    lines
}

fn first(title: &Title, view: &View, width: usize) -> String {
    let state = match (title.is_ended, view.is_paused) {
        (true, _) => "ended",
        (_, true) => "paused",
        _ => "",
    };
    let (minutes, seconds) = (title.seconds / 60, title.seconds % 60);
    let right = format!("{state}  {minutes}:{seconds:02}  trace {}  h help  q end", human::bytes(title.bytes));
    let room = width.saturating_sub(right.chars().count() + 1);
    let left: String = format!("martini top  {}", title.what).chars().take(room).collect();
    format!("{left:room$} {right}")
}

fn overview(history: &History) -> String {
    let Some(now) = history.last() else { return "no data yet".to_owned() };
    let rate = |topic: Topic, value: usize, unit: Unit| {
        let grown = history.since(topic, value)?.rate_of_all();
        (now.sum(topic, value) > 0).then(|| number(grown, true, unit))
    };
    let mut parts = Vec::new();
    if let Some(rate) = rate(Topic::Classes, 0, Unit::Bytes) {
        parts.push(format!("allocates {rate}{}", if now.is_sampled { " (sampled)" } else { "" }));
    }
    parts.extend(rate(Topic::Cpu, 0, Unit::Time).map(|rate| format!("cpu {rate}")));
    parts.extend(rate(Topic::Locks, 0, Unit::Time).map(|rate| format!("blocked {rate}")));
    if now.collections.0 > 0 {
        let pauses = human::duration(Nanos(now.collections.1));
        let left = now.used.map_or(String::new(), |bytes| format!(", {} left", human::bytes(bytes)));
        parts.push(format!("{} collections ({pauses}{left})", human::count(now.collections.0)));
    }
    parts.push(human::counted(now.threads, "thread", "threads"));
    parts.join("  ")
}

fn tabs(view: &View) -> ScreenLine {
    let tab = |(at, topic): (usize, &Topic)| {
        let name = topic.name();
        if at == view.topic { format!("[{} {name}]", at + 1) } else { format!(" {} {name} ", at + 1) }
    };
    let mut line = Topic::ALL.iter().enumerate().map(tab).collect::<Vec<_>>().join(" ");
    if view.is_typing {
        line.push_str(&format!("   /{}_", view.filter));
    } else if !view.filter.is_empty() {
        line.push_str(&format!("   /{}", view.filter));
    }
    (Attribute::Bold, line)
}

fn table(view: &View, history: &History, width: usize, height: usize, lines: &mut Vec<ScreenLine>) {
    const NUMBER: usize = 12;
    let (topic, columns) = (view.topic(), view.topic().columns());
    let Some(now) = history.last() else { return };
    let since: Vec<_> = columns.iter().map(|column| history.since(topic, column.value)).collect();
    let wanted = view.filter.to_lowercase();
    let rows = now.rows(topic).iter().filter(|(name, _)| name.to_lowercase().contains(&wanted));
    let mut rows: Vec<Row<'_>> = rows.map(|(name, values)| row(columns, name, values, &since)).collect();
    rows.sort_by(|a, b| {
        let order = compare(a, b, view.sorted_by());
        if view.is_reversed { order.reverse() } else { order }
    });
    let heading = |at: usize, text: &str| if at == view.sorted_by() { format!("*{text}") } else { text.to_owned() };
    let mut head: String =
        columns.iter().enumerate().map(|(at, column)| format!("{:>NUMBER$}", heading(at, column.heading))).collect();
    head.push_str(&format!("  {}", heading(columns.len(), topic.name())));
    lines.push((Attribute::Bold, head));
    if rows.is_empty() {
        let why = if now.rows(topic).is_empty() {
            format!("  nothing yet; {} records it", topic.options())
        } else {
            "  nothing matches; Esc shows all".to_owned()
        };
        return lines.push((Attribute::Dim, why));
    }
    let shown = height.saturating_sub(1);
    let first = view.scrolled.min(rows.len().saturating_sub(shown));
    for row in rows.iter().skip(first).take(shown) {
        let numbers = row.numbers.iter().zip(columns);
        let numbers: String = numbers
            .map(|(&value, column)| format!("{:>NUMBER$}", number(value, column.is_rate, column.unit)))
            .collect();
        let room = width.saturating_sub(numbers.len() + 2);
        let mut rates = columns.iter().zip(&row.numbers).filter(|(column, _)| column.is_rate);
        let is_idle = since.iter().any(Option::is_some) && rates.all(|(_, &rate)| rate == 0.0);
        let look = if is_idle { Attribute::Dim } else { Attribute::Reset };
        lines.push((look, format!("{numbers}  {}", shortened(row.name, room))));
    }
}

/// A name that fits: with packages shortened; if that is not enough, of `a.Shop.price(Shop.java:41)` what says most, `Shop.price:41`, and of
/// others the end.
fn shortened(name: &str, room: usize) -> String {
    let length = |text: &str| text.chars().count();
    let short = shorten_packages(name, room);
    if length(&short) <= room {
        return short;
    }
    let short =
        match short.split_once('(').and_then(|(method, at)| Some((method, at.split_once(':')?.1.split_once(')')?))) {
            Some((method, (line, mark))) => {
                let class = method.rmatch_indices('.').nth(1).map_or(0, |(dot, _)| dot + 1);
                format!("{}:{line}{mark}", &method[class..])
            }
            None => short,
        };
    match length(&short) {
        length if length > room => format!("…{}", short.chars().skip(length + 1 - room.max(1)).collect::<String>()),
        _ => short,
    }
}

fn row<'a>(columns: &[Column], name: &'a str, values: &[u64; VALUES], since: &[Option<Since<'_>>]) -> Row<'a> {
    let cell = |(column, since): (&Column, &Option<Since<'_>>)| match since {
        Some(since) if column.is_rate => since.rate(name, values[column.value]),
        None if column.is_rate => 0.0,
        _ => values[column.value] as f64,
    };
    Row { name, numbers: columns.iter().zip(since).map(cell).collect() }
}

/// The largest first; names in their order. Behind the column that is asked for, the others decide.
fn compare(a: &Row<'_>, b: &Row<'_>, column: usize) -> Ordering {
    let names = a.name.cmp(b.name);
    match (a.numbers.get(column), b.numbers.get(column)) {
        (Some(one), Some(other)) => {
            let others = || b.numbers.iter().zip(&a.numbers).map(|(b, a)| b.total_cmp(a));
            other.total_cmp(one).then_with(|| others().find(|order| order.is_ne()).unwrap_or(names))
        }
        _ => names,
    }
}

/// A number with its unit.
fn number(value: f64, is_rate: bool, unit: Unit) -> String {
    match (unit, is_rate) {
        (Unit::Bytes, true) => format!("{}/s", human::bytes(value as u64)),
        (Unit::Bytes, false) => human::bytes(value as u64),
        (Unit::Count, true) if value > 0.0 && value < 9.95 => format!("{value:.1}"),
        (Unit::Count, _) => human::count(value.round() as u64),
        (Unit::Time, true) => human::share(value / 1e9),
        (Unit::Time, false) => human::duration(Nanos(value as u64)),
    }
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use crossterm::event::KeyCode;

    use super::super::figures::Figures;
    use super::*;

    fn title() -> Title {
        Title { what: "app.trcxml".to_owned(), bytes: 20 << 20, seconds: 65, is_ended: false }
    }

    fn history() -> History {
        let begin = Instant::now();
        let mut history = History::default();
        for second in 0..10 {
            let mut figures =
                Figures::with(Topic::Lines, "com.shop.Order.add(Order.java:7)", [second << 20, second, 9, 0, 0]);
            figures.insert(Topic::Lines, "com.shop.Basket.put(Basket.java:70)", [500 << 20, 3, 4, 0, 0]);
            figures.insert(
                Topic::Cpu,
                "com.shop.Tax.of(Tax.java:1)",
                [second * 250_000_000, second * 500_000_000, 0, 0, 0],
            );
            history.push(begin + Duration::from_secs(second), figures);
        }
        history
    }

    fn text(view: &View, width: usize, height: usize) -> Vec<String> {
        lines(&title(), view, &history(), width, height).into_iter().map(|(_, line)| line).collect()
    }

    #[test]
    fn what_allocates_now_stands_first() {
        let shown = text(&View::default(), 100, 24);
        assert!(
            shown[0].starts_with("martini top  app.trcxml") && shown[0].contains("1:05  trace 20.0 MiB"),
            "{shown:#?}"
        );
        assert!(shown[3].contains("*allocates") && shown[3].ends_with("  lines"), "{shown:#?}");
        assert_eq!(shown[4], "   1.0 MiB/s         1.0     9.0 MiB         9 B  com.shop.Order.add(Order.java:7)");
        assert!(shown[5].ends_with("com.shop.Basket.put(Basket.java:70)"), "{shown:#?}");
        let mut by_sum = View::default();
        by_sum.press(KeyCode::Right.into(), 100);
        by_sum.press(KeyCode::Right.into(), 100);
        assert!(text(&by_sum, 100, 24)[4].contains("Basket.put"));
    }

    #[test]
    fn lines_keep_their_numbers() {
        let name = "com.acme.shop.pricing.PriceService.priceOf(PriceService.java:41)";
        for (room, short) in [
            (80, name),
            (58, "c.a.s.pricing.PriceService.priceOf(PriceService.java:41)"),
            (40, "PriceService.priceOf:41"),
            (12, "….priceOf:41"),
            (0, "…"),
        ] {
            assert_eq!(shortened(name, room), short, "{room}");
        }
        assert_eq!(shortened("a.B.c(B.java:7) [JDK]", 12), "B.c:7 [JDK]");
        assert_eq!(shortened("http-nio-8080-exec-12", 10), "…0-exec-12");
    }

    #[test]
    fn a_deadlock_is_on_every_screen() {
        let mut history = History::default();
        let mut figures = Figures::default();
        figures.deadlock = Some("a and b wait".to_owned());
        history.push(Instant::now(), figures);
        assert_eq!(lines(&title(), &View::default(), &history, 80, 24)[2].1, "deadlock: a and b wait");
    }

    #[test]
    fn shares_are_of_a_processor() {
        let mut view = View::default();
        view.press(KeyCode::Char('3').into(), 100);
        assert!(
            text(&view, 100, 24)[4].starts_with("        25 %        50 %      2.25 s  com.shop.Tax"),
            "{:#?}",
            text(&view, 100, 24)
        );
    }

    #[test]
    fn nothing_exceeds_the_screen() {
        let mut view = View::default();
        for (width, height) in [(1, 1), (20, 5), (80, 24), (300, 100)] {
            for key in [
                KeyCode::Tab,
                KeyCode::Down,
                KeyCode::Char('?'),
                KeyCode::Char('/'),
                KeyCode::Char('x'),
                KeyCode::PageDown,
            ] {
                view.press(key.into(), 100);
                let shown = text(&view, width, height);
                assert!(shown.len() <= height && shown.iter().all(|line| line.chars().count() <= width), "{shown:#?}");
            }
        }
    }

    #[test]
    fn what_is_not_there_is_said() {
        let mut view = View::default();
        view.press(KeyCode::Char('4').into(), 100);
        assert!(text(&view, 80, 24)[4].contains("--locks records it"));
        let typed =
            [KeyCode::Char('1'), KeyCode::Char('/'), KeyCode::Char('B'), KeyCode::Char('a'), KeyCode::Char('S')];
        typed.into_iter().for_each(|key| assert_eq!(view.press(key.into(), 100), super::super::keys::Next::Goes));
        let shown = text(&view, 100, 24);
        assert!(shown.len() == 5 && shown[4].contains("Basket.put") && shown[2].ends_with("/BaS_"), "{shown:#?}");
        view.press(KeyCode::Char('!').into(), 100);
        assert!(text(&view, 80, 24)[4].contains("Esc shows all"));
    }
}
