"""Processes by recorded pid and start time, in the files of scripts/lib/process.sh: $state/run/NAME.pid and
$state/log/NAME.log, so that the stack's scripts see and end them too.
"""

import contextlib
import os
import shutil
import signal
import subprocess
import time

STATE = os.environ.get("PORTICO_STACK_STATE", "")
# children, to be waited for
_started = {}


def _record(name):
    return os.path.join(STATE, "run", f"{name}.pid")


def log_of(name):
    return os.path.join(STATE, "log", f"{name}.log")


def _start_time(pid):
    """Returns the process's start in clock ticks, as text; None when it has ended."""
    with contextlib.suppress(ChildProcessError, OSError):
        if pid in _started:
            _started[pid].poll()
    try:
        with open(f"/proc/{pid}/stat", encoding="utf-8") as file:
            fields = file.read().rsplit(") ", 1)[1].split()
    except (OSError, IndexError):
        return None
    return None if fields[0] == "Z" else fields[19]


def pid_of(name):
    """Returns the pid of a running process, or None."""
    try:
        with open(_record(name), encoding="utf-8") as file:
            pid, started = file.read().split()
    except (OSError, ValueError):
        return None
    return int(pid) if _start_time(int(pid)) == started else None


def launch(name, arguments, environment=None):
    """Starts a process in a session of its own, unless it runs."""
    if pid_of(name):
        return
    for path in (_record(name), log_of(name)):
        os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(log_of(name), "ab") as log:
        process = subprocess.Popen(
            arguments,
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            start_new_session=True,
            env={"PATH": os.environ["PATH"], "HOME": os.environ.get("HOME", "/"), **(environment or {})},
        )
    _started[process.pid] = process
    with open(_record(name), "w", encoding="utf-8") as file:
        file.write(f"{process.pid} {_start_time(process.pid) or 0}\n")


def terminate(name, seconds):
    """Sends TERM, and KILL when the process is still there after so many seconds."""
    pid = pid_of(name)
    if pid:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGTERM)
        deadline = time.monotonic() + seconds
        while pid_of(name) and time.monotonic() < deadline:
            time.sleep(0.05)
        with contextlib.suppress(ProcessLookupError):
            if pid_of(name):
                os.kill(pid, signal.SIGKILL)
    with contextlib.suppress(FileNotFoundError):
        os.remove(_record(name))


def forget(name):
    """Removes records and logs below a name that ends in a slash."""
    for kind in ("run", "log"):
        shutil.rmtree(os.path.join(STATE, kind, name), ignore_errors=True)


def last_line(name):
    try:
        with open(log_of(name), encoding="utf-8", errors="replace") as file:
            lines = [line.strip() for line in file.read().splitlines() if line.strip()]
    except OSError:
        return ""
    return lines[-1][:300] if lines else ""
