//! The reference page, `docs/reference/options.md`.

use std::fmt::Write;

use super::spec::{DefaultValue, Group, OptionSpec};
use super::table::OPTIONS;

const HEAD: &str = "\
# Agent options

<!-- Written from the table in crates/options. To write it again: MARTINI_UPDATE=1 cargo test -p agent-options -->

`martini run` takes each option with two leading dashes. A JVM that you start yourself takes them after the agent's path:

```
martini run --heap events --file app.trcxml java -jar app.jar
java -agentpath:/path/to/libmartini.so=heap=events,file=app.trcxml -jar app.jar
```

- Options are `name=value`, separated by commas. **Double a comma inside a value**: `file=a,,b.trcxml` is the file `a,b.trcxml`.
  `martini run` does that for you.
- `%p` in the path of a trace, lock log or heap dump becomes the process id. Use it to give each JVM its own file.
- `SIZE` is a number of bytes. The suffixes `k`, `m` and `g` mean KiB, MiB and GiB: `512k`, `64m`, `2g`.
- `DEPTH` is a number of stack frames, `SECONDS` an integer.
- An option that has no effect with the others, such as `stack` with `heap=counts`, is accepted; `martini run` notes it.
- On the command line, `on`/`off` and `true`/`false` options work without a value: `--locks` is `locks=on`, `--live` is `live=true`.
  So do `--sampled` (`sampled=512k`), `--cpu` (`cpu=10ms`) and `--wall` (`wall=20ms`). For another value write `=`: `--cpu=1ms`.
- An invalid option on the JVM's own command line, or a file there that cannot be written, stops the JVM before the program starts, with one line
  on standard error. After any other problem the program runs unprofiled, also with one line. The same holds for JVMs that get the agent from
  an environment variable (`JAVA_TOOL_OPTIONS`, `JDK_JAVA_OPTIONS`, `_JAVA_OPTIONS`) or an options file.
- The environment variable `MARTINI_OFF=1` turns the agent off completely: it checks, writes and prints nothing.

## Existing files

Traces and lock logs are readable only by their owner (mode 0600), even if they replace older files.

| the name | what happens |
|---|---|
| does not exist | the file is created |
| has `%p` in it, or is the default, and exists | the next free name is used: `NAME-2.trcxml`, `NAME-3.trcxml` |
| is a Martini trace (lock log for `locklog`) or an empty file | it is replaced |
| is any other file, has several names (hard links), or belongs to another user | it is refused |
| is a symbolic link | it is refused, except for the system's names of open files: `/dev/stdout`, `/dev/fd/3`; output is appended to a regular file behind such a name |
| is a named pipe or a device | the trace is written to it |
";

const TPTP: &str = "
## TPTP's syntax

TPTP's agent options also work:

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
| `;ThreadProf` | `locks=on`, with `heap=off` unless `HeapProf` is also given |
";

/// The reference page as Markdown.
pub fn reference() -> String {
    let mut page = HEAD.to_owned();
    for group in Group::ALL {
        let _ = write!(page, "\n## {}\n\n", group.title());
        page.push_str("| option | values | default | what it does | examples |\n|---|---|---|---|---|\n");
        OPTIONS.iter().filter(|option| option.group == group).for_each(|option| page.push_str(&row(option)));
    }
    page.push_str("\n## Old spellings\n\nStill accepted, but not listed in help.\n\n");
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
        DefaultValue::Value(value) => format!("`{value}`"),
        DefaultValue::Text(text) => text.to_owned(),
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
