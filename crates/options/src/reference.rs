//! The reference page, `docs/reference/options.md`.

use std::fmt::Write;

use super::spec::{Default, Group, OptionSpec};
use super::table::OPTIONS;

const HEAD: &str = "\
# Options of the agent

<!-- Written from the table in crates/options. To write it again: MARTINI_UPDATE=1 cargo test -p agent-options -->

`martini run` takes each option with two dashes in front; a JVM that you start yourself takes them behind the agent's path:

```
martini run --heap events --file app.trcxml java -jar app.jar
java -agentpath:/path/to/libmartini.so=heap=events,file=app.trcxml -jar app.jar
```

- An option is a name, `=` and a value; options have commas between. **A comma inside a value is doubled**: `file=a,,b.trcxml` is the file `a,b.trcxml`.
  `martini run` does that itself.
- `%p` in the path of a trace, lock log or heap dump becomes the id of the JVM's process. Give each JVM a file of its own by it.
- `SIZE` is a number of bytes. `k`, `m` and `g` behind it mean KiB, MiB and GiB: `512k`, `64m`, `2g`.
- `DEPTH` is a number of stack frames, `SECONDS` a whole number.
- An option that has no effect beside the others, such as `stack` with `heap=counts`, is accepted; `martini run` notes it.
- Options with `on`, `off` or `true`, `false` may stand alone on the command line: `--locks` is `locks=on`, `--live` is `live=true`.
  So may `--sampled`, `--cpu` and `--wall`: they are `sampled=512k`, `cpu=10ms`, `wall=20ms`. Another value of theirs stands behind `=`: `--cpu=1ms`.
- An option on the JVM's own command line that is not understood, or a file there that cannot be written, stops the JVM before the program starts.
  One line on standard error says why. Whatever else is wrong, the program runs without being profiled, after such a line: so does every JVM that
  has the agent from an environment variable (`JAVA_TOOL_OPTIONS`, `JDK_JAVA_OPTIONS`, `_JAVA_OPTIONS`) or an options file.
- The environment variable `MARTINI_OFF=1` switches the agent off wherever it stands: nothing is checked, written or said.

## Files that are there already

Traces and lock logs are for their owner alone (mode 0600), also those that replace older ones.

| the name | what happens |
|---|---|
| is free | the file is made |
| has `%p` in it, or is the default, and is taken | the next free name is used: `NAME-2.trcxml`, `NAME-3.trcxml` |
| is that of a trace of Martini's (lock log for `locklog`), or of an empty file | it is replaced |
| is that of any other file, of one with several names (hard links), of one that belongs to another user | it is refused |
| is a symbolic link | it is refused, but for the system's names of open files: `/dev/stdout`, `/dev/fd/3`; a regular file behind such a name is appended to |
| is a named pipe or a device | the trace is written to it |
";

const TPTP: &str = "
## TPTP's spelling

The options of TPTP's agent are understood too:

```
-agentpath:/path/to/libmartini.so=JPIAgent:server=standalone,file=x.trcxml,filters=f.txt;HeapProf:allocsites=true
```

| TPTP | the same here |
|---|---|
| `server=standalone` | required; Martini does not connect to an Agent Controller |
| `file=PATH` | `file=PATH`; `trace.trcxml` if it is left out |
| `filters=PATH` | `filters=PATH` |
| `format=xml` | `format=xml` |
| `;HeapProf` | `heap=events` |
| `;HeapProf:allocsites=true` | `heap=events,allocsites=true` |
| `;ThreadProf` | `locks=on`, with `heap=off` unless `HeapProf` is there too |
";

/// The reference page as Markdown.
pub fn reference() -> String {
    let mut page = HEAD.to_owned();
    for group in Group::ALL {
        let _ = write!(page, "\n## {}\n\n", group.title());
        page.push_str("| option | values | default | what it does | examples |\n|---|---|---|---|---|\n");
        OPTIONS.iter().filter(|option| option.group == group).for_each(|option| page.push_str(&row(option)));
    }
    page.push_str("\n## Old spellings\n\nThey are still understood. Help does not list them.\n\n");
    page.push_str("| old | today |\n|---|---|\n");
    for option in OPTIONS {
        for old in option.old {
            let _ = writeln!(page, "| `{old}` | `{}` |", option.name);
        }
    }
    page.push_str(TPTP);
    page
}

fn row(option: &OptionSpec) -> String {
    let values: Vec<String> = option.values().split('|').map(|value| format!("`{value}`")).collect();
    let default = match option.default {
        Default::Value(value) => format!("`{value}`"),
        Default::Text(text) => text.to_owned(),
    };
    let mut what = format!("{}.", option.help);
    for choice in option.choices() {
        let _ = write!(what, " `{}`: {}.", choice.word, choice.means);
    }
    for sentence in [option.more, option.needs.sentence().unwrap_or_default()] {
        if !sentence.is_empty() {
            let _ = write!(what, " {sentence}");
        }
    }
    let examples: Vec<String> = option.examples.iter().map(|example| format!("`{example}`")).collect();
    format!("| `{}` | {} | {default} | {what} | {} |\n", option.name, values.join(", "), examples.join(", "))
}
