"""A cluster of Spark on this machine: a master and two workers, each a JVM of its own."""

import json
import os
import re
import signal
import subprocess
import time
from pathlib import Path

from fleet import QUESTIONS

# Much longer than anything takes.
LIMIT_SECONDS = 240

SETTINGS = """\
spark.driver.bindAddress 127.0.0.1
spark.driver.host 127.0.0.1
spark.executor.memory 512m
spark.sql.catalogImplementation in-memory
spark.sql.shuffle.partitions 4
spark.ui.enabled false
"""
# Which task is where.
LOGGING = """\
rootLogger.level = warn
rootLogger.appenderRef.console.ref = console
appender.console.type = Console
appender.console.name = console
appender.console.target = SYSTEM_ERR
appender.console.layout.type = PatternLayout
appender.console.layout.pattern = %p %m%n
appender.tasks.type = File
appender.tasks.name = tasks
appender.tasks.fileName = FILE
appender.tasks.layout.type = PatternLayout
appender.tasks.layout.pattern = %m%n
logger.tasks.name = org.apache.spark.scheduler.TaskSetManager
logger.tasks.level = info
logger.tasks.appenderRef.tasks.ref = tasks
"""


def wait_for(what, condition):
    end = time.monotonic() + LIMIT_SECONDS
    while not (found := condition()):
        if time.monotonic() > end:
            raise SystemExit(f"   failed: waited {LIMIT_SECONDS} s for {what}")
        time.sleep(0.02)
    return found


class Cluster:
    def __init__(self, spark, java, work):
        self.spark, self.work = spark, work
        self.tasks = work / "tasks.log"
        configuration = work / "spark-conf"
        configuration.mkdir()
        (configuration / "spark-defaults.conf").write_text(SETTINGS)
        (configuration / "log4j2.properties").write_text(LOGGING.replace("FILE", str(self.tasks)))
        self.environment = {**os.environ, "SPARK_HOME": str(spark), "JAVA_HOME": java, "SPARK_LOCAL_IP": "127.0.0.1"}
        self.client = {**self.environment, "SPARK_CONF_DIR": str(configuration)}
        self.daemons = []

    def __enter__(self):
        try:
            log, _ = self._daemon("master.Master")
            (self.url,) = wait_for("Spark's master", lambda: re.findall(r"Starting Spark master at (\S+)", log.read_text()))
            self.workers = [self._worker(), self._worker()]
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_):
        for daemon in self.daemons:
            # With its executors.
            try:
                os.killpg(daemon.pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
            daemon.wait()

    def _daemon(self, name, *words):
        log = self.work / f"daemon-{len(self.daemons)}.log"
        command = [self.spark / "bin/spark-class", f"org.apache.spark.deploy.{name}", "--host", "127.0.0.1", "--port", "0",
                   "--webui-port", "0", *words]
        with log.open("w") as out:
            self.daemons.append(subprocess.Popen(command, env=self.environment, stdin=subprocess.DEVNULL, stdout=out, stderr=out,
                                                 start_new_session=True))
        return log, self.daemons[-1]

    def _worker(self):
        log, worker = self._daemon("worker.Worker", "-c", "1", "-m", "1g", "-d", str(self.work / "spark-work"), self.url)
        wait_for("a worker", lambda: "Successfully registered with master" in log.read_text())
        return worker

    def answers(self, fleet):
        """What Spark answers to all questions, in one session."""
        views, _ = fleet.statements("lines", "spark")
        text = views
        for question in QUESTIONS:
            _, sql = fleet.statements(question, "spark")
            text += f"select 'question {question}';\nselect to_json(struct(*), map('ignoreNullFields', 'false')) from (\n{sql}\n);\n"
        (self.work / "all.sql").write_text(text)
        command = [self.spark / "bin/spark-sql", "--master", self.url, "-S", "-f", self.work / "all.sql"]
        out = subprocess.run(command, env=self.client, check=True, capture_output=True, timeout=2 * LIMIT_SECONDS,
                             stdin=subprocess.DEVNULL).stdout.decode()
        parts = re.split(r"^question (\S+)\n", out, flags=re.MULTILINE)[1:]
        return {name: [json.loads(line) for line in rows.splitlines()] for name, rows in zip(parts[::2], parts[1::2])}

    def ask_and_kill_a_worker(self, fleet, question, form):
        """Stops an executor that got a task, waits until a task of it does not end, and kills it and its worker. Gives the answer, and whether
        that task was lost."""
        self.tasks.write_text("")
        command = [fleet.martini, "fleet", "ask", question, fleet.store, "--format", form, "--engine", "spark", "--master", self.url,
                   *fleet.parameters(question)]
        asking = subprocess.Popen(command, env=self.client, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        try:
            (executor, _), *_ = wait_for("a task", lambda: self._open_tasks() or asking.poll())
            worker, pid = wait_for("the executor", lambda: self._process_of(executor))
            os.kill(pid, signal.SIGSTOP)
            stopped = wait_for("a task of the stopped executor", lambda: asking.poll() is not None or self._waits_for(executor))
            worker.kill()
            os.kill(pid, signal.SIGKILL)
            out, err = asking.communicate(timeout=LIMIT_SECONDS)
            if asking.returncode:
                raise SystemExit(f"   failed: with a worker killed, fleet ask ends with {asking.returncode}: {err.decode()}")
        finally:
            asking.kill()
            asking.wait()
        worker.wait()
        self.workers.remove(worker)
        self.workers.append(self._worker())
        # Whoever ended in time was not lost.
        return out.decode(), stopped is not True and bool(stopped & self._open_tasks())

    def _open_tasks(self):
        """(executor, task) that have begun and not ended."""
        text = self.tasks.read_text()
        begun = re.findall(r"Starting task .*\(TID (\d+)\) \([^)]*executor (\d+)", text)
        ended = set(re.findall(r"Finished task .*\(TID (\d+)\)", text))
        return {(executor, task) for task, executor in begun if task not in ended}

    def _waits_for(self, executor):
        """Whether a task of this executor does not end, though it could have been said."""
        tasks = {pair for pair in self._open_tasks() if pair[0] == executor}
        time.sleep(0.5)
        return tasks & self._open_tasks()

    def _process_of(self, executor):
        for worker in self.workers:
            for pid in Path(f"/proc/{worker.pid}/task").glob("*/children"):
                for child in pid.read_text().split():
                    words = Path(f"/proc/{child}/cmdline").read_bytes().split(b"\0")
                    if b"--executor-id" in words and words[words.index(b"--executor-id") + 1] == executor.encode():
                        return worker, int(child)
        return None
