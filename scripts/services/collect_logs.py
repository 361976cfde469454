"""Follows the log files of all pods below some kubelet log directories and writes one file.

    collect_logs.py --output FILE [--exclude NAMESPACE]... DIRECTORY...

A file is DIRECTORY/NAMESPACE_POD_UID/CONTAINER/N.log with lines "TIME STREAM TAG TEXT".
"""

import argparse
import os
import time

INTERVAL = 0.5
KEEP = 8 * 1024 * 1024


class Follower:
    def __init__(self, exclude):
        self.exclude = set(exclude)
        self.offsets = {}

    def sources(self, directories):
        for directory in directories:
            for pod in names(directory):
                namespace, _, rest = pod.partition("_")
                if namespace in self.exclude:
                    continue
                for container in names(os.path.join(directory, pod)):
                    folder = os.path.join(directory, pod, container)
                    label = f"{namespace}/{rest.rpartition('_')[0]} {container}"
                    for file in names(folder):
                        if file.endswith(".log"):
                            yield os.path.join(folder, file), label

    def new_lines(self, directories):
        seen = {}
        lines = []
        for path, label in self.sources(directories):
            offset = self.offsets.get(path, 0)
            try:
                with open(path, "rb") as file:
                    if os.fstat(file.fileno()).st_size < offset:
                        offset = 0
                    file.seek(offset)
                    data = file.read()
            except OSError:
                continue
            end = data.rfind(b"\n") + 1
            seen[path] = offset + end
            lines.extend(formatted(label, line) for line in data[:end].splitlines())
        self.offsets = seen
        return sorted(lines)


def names(directory):
    try:
        return sorted(os.listdir(directory))
    except OSError:
        return []


def formatted(label, line):
    moment, _, rest = line.decode("utf-8", "replace").partition(" ")
    text = rest.split(" ", 2)[-1]
    return f"{moment[:19]}Z {label} {text}"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--output", required=True)
    parser.add_argument("--exclude", action="append", default=[])
    parser.add_argument("directories", nargs="+")
    options = parser.parse_args()
    follower = Follower(options.exclude)
    # what the files still hold is read again from their beginning
    open(options.output, "w", encoding="utf-8").close()
    while True:
        lines = follower.new_lines(options.directories)
        if lines:
            too_long = os.path.exists(options.output) and os.path.getsize(options.output) > KEEP
            with open(options.output, "w" if too_long else "a", encoding="utf-8") as output:
                output.write("\n".join(lines) + "\n")
        time.sleep(INTERVAL)


main()
