#!/usr/bin/env python3
"""Runs a test command, and ends it if it stands still.

    Scripts/run-tests.py [--minutes N] command argument ... [--and command argument ...]

A run that takes longer than N minutes (25 by default) is ended, with the tests that have not finished and what the threads of
the processes wait for. Without this, a test that hangs leaves nothing but the last full buffer of the output. A command after
--and runs at the same time.

The failures of a run, and the stack of a crash, are printed again at its end, where a log that keeps only its last lines
still shows them.
"""

import argparse
import os
import pty
import re
import select
import shutil
import signal
import subprocess
import sys
import time


def session(leader):
    """The processes of a session, those that have lost their parents, too."""
    found = [leader]
    for name in os.listdir("/proc") if os.path.isdir("/proc") else []:
        if name.isdigit() and int(name) != leader:
            try:
                with open(f"/proc/{name}/stat") as stat:
                    # State, parent, group, session follow the name, which may have spaces.
                    if int(stat.read().rsplit(")", 1)[1].split()[3]) == leader:
                        found.append(int(name))
            except OSError:
                continue
    return found


def describe(process):
    """What a process waits for: the stacks of its threads where a debugger is installed, else the kernel's word for it."""
    try:
        with open(f"/proc/{process}/cmdline") as file:
            print(f"\n-- process {process}: {file.read().replace(chr(0), ' ')[:300]}")
        for thread in sorted(os.listdir(f"/proc/{process}/task"), key=int):
            with open(f"/proc/{process}/task/{thread}/comm") as comm, open(f"/proc/{process}/task/{thread}/wchan") as wchan:
                print(f"   thread {thread} {comm.read().strip()}: {wchan.read() or 'running'}")
    except OSError as error:
        print(f"   {error}")
    commands = [
        ["gdb", "-p", str(process), "-batch", "-ex", "thread apply all backtrace 40"],
        ["lldb", "-p", str(process), "--batch", "-o", "thread backtrace all"],
    ]
    sys.stdout.flush()
    for command in commands:
        if shutil.which(command[0]):
            try:
                subprocess.run(command, stdin=subprocess.DEVNULL, stderr=subprocess.DEVNULL, timeout=240)
            except subprocess.TimeoutExpired:
                print(f"   {command[0]} did not answer")
            return


def stop(process):
    """Says what the processes of a session wait for, and ends them."""
    processes = session(process.pid)
    for child in processes:
        describe(child)
    sys.stdout.flush()
    for child in processes:
        try:
            os.kill(child, signal.SIGKILL)
        except ProcessLookupError:
            pass
    process.wait()


class Progress:
    """Which tests have begun and not ended, and what has failed."""

    # The lines after an issue that belong to it: comments and values.
    DETAIL = re.compile(r"^(↳|\S+ ↳|│)")

    # What a crash report of Swift has before its registers and images: the reason, the thread and its frames.
    CRASH = re.compile(r".*Program crashed: |Thread \d+ .*crashed|\d+ .* in .+|\.\.\.$")

    def __init__(self):
        self.running = {}
        self.failures = []
        self.crash = []
        self.in_failure = False
        self.in_crash = False

    def read(self, line):
        plain = re.sub(r"\x1b\[[0-9;]*[mK]", "", line).strip()
        self.in_crash = plain != "Registers:" and (self.in_crash or "Program crashed: " in plain)
        if self.in_crash and self.CRASH.match(plain) and len(self.crash) < 60:
            self.crash.append(plain[:300])
        self.in_failure = " recorded an issue " in plain or (self.in_failure and bool(self.DETAIL.match(plain)))
        if self.in_failure and len(self.failures) < 200:
            self.failures.append(plain[:1000])
        if match := re.match(r"^\S+ Test (?!case passing |run )(.+) started\.$", plain):
            self.running[match[1]] = time.monotonic()
        elif match := re.match(r"^\S+ Test (.+?)(?: with \d+ test cases?)? (?:passed|failed) after ", plain):
            self.running.pop(match[1], None)


class Run:
    """A command that writes to a terminal: a process that writes into a pipe keeps the last lines until its buffer is full."""

    def __init__(self, command):
        self.terminal, end = pty.openpty()
        self.process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=end, stderr=end, start_new_session=True)
        os.close(end)
        self.rest = b""
        self.is_over = False

    def lines(self):
        """The lines that are there, after the terminal has something to read."""
        try:
            data = os.read(self.terminal, 65536)
        except OSError:
            data = b""
        lines = (self.rest + data).split(b"\n")
        self.rest = lines.pop()
        if not data:
            self.is_over = True
            lines += [self.rest] if self.rest else []
        return [line.decode(errors="replace").rstrip("\r") for line in lines]


def commands(arguments):
    """The commands that run at the same time."""
    result = [[]]
    for argument in arguments:
        if argument == "--and":
            result.append([])
        else:
            result[-1].append(argument)
    return result


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--minutes", type=float, default=25)
    parser.add_argument("command", nargs=argparse.REMAINDER)
    options = parser.parse_args()
    runs = [Run(command) for command in commands(options.command)]
    progress = Progress()
    deadline = time.monotonic() + options.minutes * 60
    while open_runs := {run.terminal: run for run in runs if not run.is_over}:
        ready, _, _ = select.select(list(open_runs), [], [], 1)
        for terminal in ready:
            for text in open_runs[terminal].lines():
                progress.read(text)
                print(text, flush=True)
        for terminal, run in open_runs.items():
            # Another process may have inherited the terminal and keep it open, so look for the end of the process, too.
            if run.process.poll() is not None and not select.select([terminal], [], [], 0)[0]:
                run.is_over = True
        now = time.monotonic()
        if now > deadline:
            print(f"\nThe tests have not ended after {options.minutes:g} minutes. Not finished:", flush=True)
            for name, start in sorted(progress.running.items(), key=lambda item: item[1]):
                print(f"   {name}, begun {now - start:.0f} s ago")
            for run in runs:
                if run.process.poll() is None:
                    stop(run.process)
            return 124
    statuses = [run.process.wait() for run in runs]
    if progress.failures:
        print("\nFailures of this run:")
        for line in progress.failures:
            print(f"   {line}")
    if progress.crash:
        running = sorted(progress.running.items(), key=lambda item: item[1])
        print(f"\nThe tests have crashed. Not finished: {', '.join(name for name, _ in running[:40])}")
        for line in progress.crash:
            print(f"   {line}")
    return max(status if status >= 0 else 128 - status for status in statuses)


if __name__ == "__main__":
    sys.exit(main())
