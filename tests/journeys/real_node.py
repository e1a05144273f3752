"""A real node and the command lines of its clients, for journeys. Not a program."""

import contextlib
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import traceback

HANDFAST = ""


class Run:
    """What one command line did."""

    def __init__(self, words, done):
        self.words, self.code = words, done.returncode
        self.out, self.err = done.stdout, done.stderr

    def __str__(self):
        return f"$ handfast {' '.join(self.words)}\n-> {self.code}\n{self.out}{self.err}"

    def ends(self, code, error=None, out=None):
        assert self.code == code, f"exit code {code} was expected\n{self}"
        if error is not None:
            assert self.err.startswith("handfast: "), str(self)
            assert error in self.err, f"'{error}' was expected\n{self}"
        if out is not None:
            assert self.out == out, f"{out!r} was expected\n{self}"
        return self

    def json(self):
        self.ends(0)
        return json.loads(self.out)

    def lines(self):
        self.ends(0)
        return self.out.splitlines()


class Node:
    """A node in a folder of its own; `settings` go to --set."""

    def __init__(self, folder, *settings):
        self.folder, self.settings = folder, settings
        self.process = None
        self.server = "127.0.0.1:1"

    def start(self):
        words = [HANDFAST, "node", "--data", self.folder, "--listen", "127.0.0.1:0", "--set", "listen.http=",
                 "--set", "store.segment_size=16MiB"]
        for setting in self.settings:
            words += ["--set", setting]
        self.log = open(self.folder + ".log", "a")
        self.process = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=self.log, text=True)
        for line in self.process.stdout:
            found = re.match(r"\s*clients\s+(\S+)", line)
            if found:
                self.server = found.group(1)
            if line.startswith("Ready"):
                return self
        raise AssertionError("the node did not start:\n" + open(self.folder + ".log").read())

    def refuses_to_start(self, code=1):
        """Starts it, expects it to end by itself with `code`, and returns what it wrote."""
        try:
            self.start()
        except AssertionError:
            ended = self.process.wait(timeout=30)
            self.process = None
            self.log.close()
            with open(self.folder + ".log") as log:
                written = log.read()
            assert ended == code, f"it ended with {ended} instead of {code}:\n{written}"
            return written
        raise AssertionError("the node started")

    def stop(self, how=signal.SIGTERM):
        if self.process is None:
            return
        self.process.send_signal(how)
        with contextlib.suppress(Exception):
            self.process.stdout.read()
        code = self.process.wait(timeout=30)
        self.process = None
        self.log.close()
        if how == signal.SIGTERM:
            assert code == 0, f"the node ended with {code}:\n" + open(self.folder + ".log").read()

    def fresh(self):
        """Forgets what the stopped node stored."""
        shutil.rmtree(self.folder)
        os.remove(self.folder + ".log")

    def __call__(self, *words, stdin="", env=None):
        """Runs one client command."""
        return command(*words, stdin=stdin, env={"HANDFAST_SERVER": self.server, **(env or {})})

    def background(self, *words):
        return subprocess.Popen([HANDFAST, *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                                env={**os.environ, "HANDFAST_SERVER": self.server})


def command(*words, stdin="", env=None):
    return Run(words, subprocess.run([HANDFAST, *words], input=stdin, capture_output=True, text=True, timeout=60,
                                     env={**os.environ, **(env or {})}))


def eventually(condition, seconds=20):
    """Waits for what has no event of its own; generous, since the machine may be busy."""
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "it never came true"
        time.sleep(0.05)


def run(name, journey):
    folder = tempfile.mkdtemp(prefix="handfast-journey-")
    node = Node(os.path.join(folder, "data"))
    try:
        journey(node)
        node.stop()
        print(f"ok      {name}", flush=True)
        return True
    except Exception:  # whatever went wrong belongs to this journey alone
        print(f"FAILED  {name}\n{traceback.format_exc()}", flush=True)
        return False
    finally:
        if node.process is not None:
            node.process.kill()
            node.process.wait()
        shutil.rmtree(folder, ignore_errors=True)


def main(of_module):
    """Runs the functions `journey_*` of a module, or those that the command line names."""
    global HANDFAST
    HANDFAST = os.path.abspath(sys.argv[1])
    all_journeys = {n[len("journey_"):]: f for n, f in of_module.items() if n.startswith("journey_")}
    names = sys.argv[2:] or list(all_journeys)
    failed = sum(not run(name, all_journeys[name]) for name in names)
    print(f"{len(names) - failed} of {len(names)} journeys went well")
    return failed
