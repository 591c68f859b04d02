"""A store of traces of this project and of fresh recordings of its demo, and how it is asked."""

import re
import subprocess
from pathlib import Path

TRACES = Path(__file__).parent.parent / "traces"
# Recorded in every way there is.
GOLDEN = ["callers", "contention", "counts", "cpu", "explain", "heap", "requests", "sampled", "start", "threads", "waits"]

# Each with parameters that leave nothing out.
ALL = ["top=1000000"]
QUESTIONS = {
    "lines": ALL,
    "classes": ALL,
    "releases": [*ALL, "before=1.4", "after=1.5"],
    "cpu": ALL,
    "shared": [*ALL, "services=1"],
    "growing": [*ALL, "share=0"],
    "locks": ALL,
    "collections": ALL,
    "first-requests": ALL,
    "coverage": ALL,
}
# Of each release, in a service whose second release allocates more.
RUNS = 3


class Fleet:
    def __init__(self, martini, duckdb, work):
        self.martini, self.duckdb, self.store = martini, duckdb, work / "store"
        # (service, release): paths
        self.traces = {(name, "unknown"): [TRACES / f"{name}.trcxml"] for name in GOLDEN}
        self._record(work)
        for number, ((service, release), paths) in enumerate(self.traces.items()):
            self.run("fleet", "add", self.store, *paths, "--service", service, "--release", release)
            # Large files and small ones.
            if number == len(self.traces) // 2:
                self.run("fleet", "compact", self.store)

    def run(self, *words):
        command = [str(word) for word in (self.martini, *words)]
        return subprocess.run(command, check=True, capture_output=True, timeout=300, stdin=subprocess.DEVNULL).stdout.decode()

    def ask(self, question, form):
        return self.run("fleet", "ask", question, self.store, "--format", form, "--duckdb", self.duckdb, *self.parameters(question))

    @staticmethod
    def parameters(question):
        return [word for parameter in QUESTIONS[question] for word in ("--param", parameter)]

    def statements(self, question, engine):
        """The views, and the question, without a semicolon."""
        text = self.run("fleet", "ask", question, self.store, "--sql", engine, *self.parameters(question))
        views, end = text.rsplit(";\n", 2)[0], text.rsplit(";\n", 2)[1]
        return views + ";\n", end

    def _record(self, work):
        self.run("demo", "--out", work / "demo")
        demo = ["-Xmx256m", "-cp", work / "demo/classes", "demo.Main"]
        counts, mixed = work / "counts.trcxml", work / "mixed.trcxml"
        self.run("run", "--file", counts, "java", *demo)
        self.run(
            *["run", "--heap", "off", "--sampled=16k", "--cpu=1ms", "--locks", "--juc", "--warmup", "--live"],
            *["--request", "demo.OrderDesk.take", "--file", mixed, "java", *demo],
        )
        self.traces["desk", "1.3"] = [work / "demo/demo.trcxml"]
        self.traces["mixed", "1.3"] = [mixed]
        text = counts.read_text()
        (begin,) = re.findall(r' pid="(\d+)"', text)
        for release, times in (("1.4", 1), ("1.5", 2)):
            self.traces["desk", release] = [work / f"{release}-{number}.trcxml" for number in range(RUNS)]
            for number, path in enumerate(self.traces["desk", release]):
                run = text.replace(f' pid="{begin}"', f' pid="{number}{release[-1]}"')
                path.write_text(planted(run, times))


def planted(text, times):
    """A trace in which `demo.PriceWatch.<init>` allocates so many times as much."""
    (class_id,) = re.findall(r'<classDef name="demo.PriceWatch"[^>]* classId="(\d+)"', text)
    (method,) = re.findall(rf'<methodDef name="-init-"[^>]* methodId="(\d+)" classIdRef="{class_id}"', text)

    def more(count):
        if f' methodIdRef="{method}"' not in count[0]:
            return count[0]
        return re.sub(r' (instances|bytes|allocatedBytes)="(\d+)"', lambda of: f' {of[1]}="{times * int(of[2])}"', count[0])

    return re.sub(r"<allocCount [^>]*>", more, text)
