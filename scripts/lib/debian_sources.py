"""Prints the machine's own Debian sources in one-line form, for a private apt.

    debian_sources.py CODENAME            binary packages of this release, with its updates
    debian_sources.py CODENAME RELEASE    the same archive's RELEASE instead
    debian_sources.py --source ...        source packages as well
"""

import argparse
import glob
import re
import sys


def one_line_entries(text):
    for line in text.splitlines():
        match = re.match(r"\s*deb\s+(?:\[([^\]]*)\]\s+)?(\S+)\s+(\S+)\s+(.+)$", line.split("#")[0])
        if match:
            options, uri, suite, components = match.groups()
            yield options or "", uri, suite, components.strip()


def deb822_entries(text):
    for stanza in re.split(r"\n\s*\n", text):
        fields = {}
        for line in stanza.splitlines():
            if line.startswith("#"):
                continue
            name, colon, value = line.partition(":")
            if colon and not line[0].isspace():
                fields[name.lower()] = value.strip()
        if "deb" not in fields.get("types", "").split() or fields.get("enabled", "yes") == "no":
            continue
        key = fields.get("signed-by", "")
        options = f"signed-by={key}" if key.startswith("/") else ""
        for uri in fields.get("uris", "").split():
            for suite in fields.get("suites", "").split():
                yield options, uri, suite, fields.get("components", "main")


def entries():
    for path in ["/etc/apt/sources.list", *sorted(glob.glob("/etc/apt/sources.list.d/*"))]:
        try:
            with open(path, encoding="utf-8") as file:
                text = file.read()
        except OSError:
            continue
        yield from deb822_entries(text) if path.endswith(".sources") else one_line_entries(text)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--source", action="store_true")
    parser.add_argument("codename")
    parser.add_argument("release", nargs="?")
    args = parser.parse_args()
    codename, release = args.codename, args.release
    own_suites = {codename, f"{codename}-updates", f"{codename}-security", f"{codename}/updates"}
    types = ["deb", "deb-src"] if args.source else ["deb"]
    lines = {}
    for options, uri, suite, components in entries():
        rest = f"{f'[{options}] ' if options else ''}{uri}"
        if suite not in ({codename} if release else own_suites):
            continue
        for kind in types:
            lines[f"{kind} {rest} {release or suite} {components}"] = None
    if not lines:
        sys.exit(f"no source of Debian {codename} is configured in /etc/apt")
    print("\n".join(lines))


main()
