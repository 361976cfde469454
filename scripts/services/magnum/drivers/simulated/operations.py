"""Operations under way, one JSON file per cluster, so that they continue after a restart of the conductor."""

import contextlib
import json
import os
import threading
import time

_locks = {}
_guard = threading.Lock()


def state_directory():
    return os.environ["PORTICO_MAGNUM_STATE"]


def _path(uuid):
    directory = os.path.join(state_directory(), "operations")
    os.makedirs(directory, exist_ok=True)
    return os.path.join(directory, f"{uuid}.json")


@contextlib.contextmanager
def locked(uuid, wait=True):
    """Yields whether the cluster's lock was taken; with `wait=False` it is not when another thread has it."""
    with _guard:
        lock = _locks.setdefault(uuid, threading.RLock())
    taken = lock.acquire(blocking=wait)
    try:
        yield taken
    finally:
        if taken:
            lock.release()


def load(uuid):
    try:
        with open(_path(uuid), encoding="utf-8") as file:
            return json.load(file)
    except FileNotFoundError:
        return None


def save(uuid, operation):
    path = _path(uuid)
    with open(os.open(path + ".new", os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w", encoding="utf-8") as file:
        json.dump(operation, file)
    os.replace(path + ".new", path)


def remove(uuid):
    with contextlib.suppress(FileNotFoundError):
        os.remove(_path(uuid))


def begin(uuid, kind, seconds, steps, **more):
    """Starts an operation. Steps are [part of the time, name, arguments]; another operation of this cluster ends."""
    save(uuid, {"kind": kind, "started": time.time(), "seconds": seconds, "steps": steps, "done": 0, "blocked": None, **more})


def spread(first, last, names):
    """Returns steps for [name, arguments] pairs, evenly between two parts of the time."""
    width = (last - first) / max(len(names), 1)
    return [[round(first + width * number, 4), name, arguments] for number, (name, arguments) in enumerate(names)]
