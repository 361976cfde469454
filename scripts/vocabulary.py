#!/usr/bin/env python3
"""vocabulary.py: reports words that docs/glossary.md replaces, in Rust identifiers and file names, Markdown headings and interface strings."""
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent

# types, traits and modules
NAMES = {
    "Askers": "TokenHolders",
    "Door": "AccessRequirement",
    "Driven": "InlineConnection",
    "Holdup": "StalledSide",
    "Kept": "what is stored, such as ConnectionPool or CachedToken",
    "LastLines": "LogFlushGuard",
    "Manner": "ClientOptions",
    "Naming": "MatchedRules",
    "Otherwise": "Fallback",
    "Somebody": "Subject",
    "Standing": "HealthState, Validity",
    "Told": "IdentityHeaders, ForwardedRequest",
    "Unsayable": "UnencodableAttribute",
    "Untold": "ForwardedHeaderError",
    "Usual": "PrimaryPool",
}
MODULES = {
    "again", "arrival", "driven", "facts", "guard", "judge", "kept", "meters", "other_ways", "private", "problem",
    "said", "told", "troubles",
}
# parts of constants: what and in what unit, as in MAX_HEADER_BYTES
CONSTANTS = {"LONGEST", "MOST", "AT_ONCE", "EVERY", "FRESH", "USUAL", "MOMENT", "FAREWELL"}
HEADINGS = {"whoever", "somebody", "nobody"}
STRINGS = {
    "Hold still": "Pause updates",
    "cannot be read in one way only": "is ambiguous",
    "does not make sense": "Invalid request",
    "answers other methods": "Method not allowed",
    "carries too much": "Request headers too large",
    "came to a halt": "timed out",
    "Portico made a mistake": "Internal error",
    "broke off in the middle": "closed the connection early",
    "does not stand by the token": "rejected the token it issued",
    "Nothing lives at this address": "Unknown host name",
    "Signing in leads nowhere": "Sign-in loop detected",
    "has not prolonged": "did not renew",
    "every namespace at once": "Leave empty for all namespaces",
    "Half answered within": "Median latency (p50)",
    "Not looked at": "Not checked",
    "End what you do not know": "End any session you do not recognise",
}

declaration = re.compile(r"\b(?:struct|enum|trait|type)\s+([A-Z]\w*)")
module = re.compile(r"\bmod\s+([a-z]\w*)\s*;")
constant = re.compile(r"\b(?:const|static)\s+([A-Z][A-Z0-9_]*)\s*:")


def files(*suffixes):
    listed = subprocess.run(["git", "ls-files", "-co", "--exclude-standard"], cwd=ROOT, capture_output=True, text=True, check=True)
    for name in listed.stdout.splitlines():
        path = ROOT / name
        if path.suffix in suffixes and path.is_file():
            yield name, path.read_text()


def in_rust(text):
    for number, line in enumerate(text.splitlines(), 1):
        for name in declaration.findall(line):
            if name in NAMES:
                yield number, name, NAMES[name]
        for name in module.findall(line):
            if name in MODULES:
                yield number, f"mod {name}", "a name that says what the module has"
        for name in constant.findall(line):
            if name in CONSTANTS or any(name.startswith(f"{word}_") or name.endswith(f"_{word}") for word in CONSTANTS):
                yield number, name, "what it bounds and in what unit, as in MAX_HEADER_BYTES"


def in_markdown(text):
    fenced = False
    for number, line in enumerate(text.splitlines(), 1):
        if line.startswith("```"):
            fenced = not fenced
        if line.startswith("#") and not fenced:
            for word in HEADINGS:
                if re.search(rf"\b{word}\b", line, re.IGNORECASE):
                    yield number, word, "user, client, caller or operator"


def in_strings(text):
    for number, line in enumerate(text.splitlines(), 1):
        for words, better in STRINGS.items():
            if words in line:
                yield number, words, better


def main():
    found = []
    for name, text in files(".rs"):
        found += [(name, *one) for one in in_rust(text)]
    for name, text in files(".md"):
        if not name.startswith("docs/adr/") and name not in ("docs/glossary.md", "CHANGELOG.md"):
            found += [(name, *one) for one in in_markdown(text)]
    for name, text in files(".rs", ".ts"):
        found += [(name, *one) for one in in_strings(text)]
    for name, number, word, better in found:
        print(f"{name}:{number}: {word!r}: write {better}", file=sys.stderr)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
