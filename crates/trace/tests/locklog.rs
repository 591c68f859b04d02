//! The plain lock log: what is written is read again, what others wrote is read, and what is broken is reported line by line.

use proptest::prelude::*;
use trace::locklog::{
    LineProblem, LockEventKind, LockLogReader, LogError, LogItem, WallClock, write_event, write_start,
};
use trace::time::Nanos;

/// A line as a test holds it: nanoseconds, kind, thread, frames.
type Line = (u64, LockEventKind, String, Vec<(String, String)>);

/// A start, or an event.
type Item = Result<Line, WallClock>;

/// What a log holds, its lines that make no sense, and whether it is cut.
fn read(log: &[u8]) -> (Vec<Item>, Vec<(u64, LineProblem)>, bool) {
    let (mut lines, mut problems) = (Vec::new(), Vec::new());
    let mut reader = LockLogReader::new(log);
    loop {
        match reader.next_item() {
            Ok(None) => return (lines, problems, reader.is_cut()),
            Ok(Some(LogItem::Start(clock))) => lines.push(Err(clock)),
            Ok(Some(LogItem::Event(event))) => {
                let frames = event.frames.into_iter().map(|f| (f.class.into_owned(), f.method.into_owned())).collect();
                lines.push(Ok((event.since_start.0, event.kind, event.thread.into_owned(), frames)));
            }
            Err(LogError::Line { line, problem }) => problems.push((line, problem)),
            Err(error) => panic!("{error}"),
        }
    }
}

fn frames(pairs: &[(&str, &str)]) -> Vec<(String, String)> {
    pairs.iter().map(|&(class, method)| (class.to_owned(), method.to_owned())).collect()
}

#[test]
fn a_log_of_tradition_is_read() {
    let log = "2011/03/14 15:09:26.535\n\
               1205331 TRY [pool-1 [a] thread 2] Ldemo/Queue;#take Ldemo/Worker$1;#<init> Ljava/lang/Thread;#run\n\
               3205982 LCK [pool-1 [a] thread 2] Ldemo/Queue;#take Ldemo/Worker$1;#<init> Ljava/lang/Thread;#run\r\n\
               \n\
               3205983 TRY [main] \n\
               3205984 LCK [main]\n";
    let (lines, problems, is_cut) = read(log.as_bytes());
    let stack = frames(&[("demo.Queue", "take"), ("demo.Worker$1", "<init>"), ("java.lang.Thread", "run")]);
    let thread = || "pool-1 [a] thread 2".to_owned();
    let clock = WallClock { year: 2011, month: 3, day: 14, hour: 15, minute: 9, second: 26, milli: 535 };
    let expected = [
        Err(clock),
        Ok((1_205_331, LockEventKind::Try, thread(), stack.clone())),
        Ok((3_205_982, LockEventKind::Locked, thread(), stack)),
        Ok((3_205_983, LockEventKind::Try, "main".to_owned(), vec![])),
        Ok((3_205_984, LockEventKind::Locked, "main".to_owned(), vec![])),
    ];
    assert_eq!((lines.as_slice(), problems.as_slice(), is_cut), (&expected[..], &[][..], false));
}

#[test]
fn lines_that_make_no_sense_are_told_and_passed_over() {
    let long = format!("1 TRY [{}]\n", "x".repeat(2 << 20));
    let log = format!(
        "hello\n-1 TRY [a]\n1 GET [a]\n1 TRY a\n1 TRY [a\n1 TRY [a]La;#b\n1 TRY [a] La;b\n1 TRY [a] La;#b c;#d\n{long}2 LCK [a]\n"
    );
    let (lines, problems, _) = read(log.as_bytes());
    assert_eq!(lines, [Ok((2, LockEventKind::Locked, "a".to_owned(), vec![]))]);
    use LineProblem::*;
    let expected = [Time, Time, Kind, Thread, Thread, Frame, Frame, Frame, Length];
    assert_eq!(problems, (1..).zip(expected).collect::<Vec<_>>());
}

#[test]
fn names_that_are_no_utf_8_are_latin_1() {
    let (lines, ..) = read(b"\xEF\xBB\xBF2011/03/14 15:09:26.535\n1 TRY [caf\xE9] La;#b\n");
    assert_eq!(lines.len(), 2);
    assert_eq!(lines[1].as_ref().unwrap().2, "café");
}

#[test]
fn a_log_may_begin_and_end_anywhere() {
    let mut log = Vec::new();
    write_start(&WallClock { year: 2026, month: 11, day: 21, hour: 1, minute: 2, second: 3, milli: 4 }, &mut log);
    for number in 0..20 {
        let kind = if number % 2 == 0 { LockEventKind::Try } else { LockEventKind::Locked };
        write_event(Nanos(number * 1000), kind, "worker 1", [("demo.Queue", "take"), ("demo.A", "b c")], &mut log);
    }
    for cut in 0..log.len() {
        let (lines, problems, is_cut) = read(&log[..cut]);
        let whole = log[..cut].iter().filter(|&&byte| byte == b'\n').count();
        assert_eq!(is_cut, cut > 0 && log[cut - 1] != b'\n', "cut at {cut}");
        assert!(lines.len() + problems.len() - whole <= 1 && problems.len() <= 1, "cut at {cut}");
        let (lines, problems, _) = read(&log[cut..]);
        let left = log[cut..].iter().filter(|&&byte| byte == b'\n').count();
        // Only the line that lost its beginning may be wrong, or nothing.
        assert!(lines.len() + 1 >= left && lines.len() + problems.len() <= left, "from {cut}");
    }
}

/// Names as Java may have them: anything without what the JVM forbids in them.
fn name(forbidden: &'static [char]) -> impl Strategy<Value = String> {
    "(\\PC|\\pC|\\\\u[0-9a-f]{4}| L|\\]|#|[a-zA-Z$<> ])*".prop_map(move |text| text.replace(forbidden, "x"))
}

proptest! {
    #[test]
    fn what_is_written_comes_back(
        lines in proptest::collection::vec(
            (
                any::<u64>(),
                prop_oneof![Just(LockEventKind::Try), Just(LockEventKind::Locked)],
                name(&[]),
                proptest::collection::vec((name(&[';', '[']), name(&['.', ';', '[', '/'])), 0..5),
            ),
            0..10,
        ),
    ) {
        let mut log = Vec::new();
        for (nanos, kind, thread, frames) in &lines {
            let frames = frames.iter().map(|(class, method)| (class.as_str(), method.as_str()));
            write_event(Nanos(*nanos), *kind, thread, frames, &mut log);
        }
        let (read, problems, is_cut) = read(&log);
        prop_assert_eq!((problems.as_slice(), is_cut), (&[][..], false));
        prop_assert_eq!(read, lines.into_iter().map(Ok).collect::<Vec<_>>());
    }

    #[test]
    fn any_bytes_are_read_to_their_end(
        bytes in proptest::collection::vec(
            prop_oneof![8 => proptest::sample::select(b"01 TRYLCK[];#\n/.".as_slice()), 1 => any::<u8>()],
            0..400,
        ),
    ) {
        let (lines, problems, _) = read(&bytes);
        prop_assert!(lines.len() + problems.len() <= bytes.iter().filter(|&&byte| byte == b'\n').count() + 1);
    }
}
