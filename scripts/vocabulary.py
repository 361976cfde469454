#!/usr/bin/env python3
"""vocabulary.py: reports words that docs/glossary.md replaces, in identifiers (Rust, TypeScript), names of Rust files and of tests, Markdown, and texts of users and operators.

Not read: comments (not for users), identifiers of scripts, strings of Rust tests (names of example users and servers),
and words of everyday English that are wrong in some sentences only (says, stands, comes)."""
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent

# types, traits, variants and functions
NAMES = {
    "AsTold": "what it takes the value from, such as FromEnvironment",
    "Arrival": "SignInMark",
    "Askers": "TokenHolders",
    "CannotSay": "Undecided",
    "Door": "AccessRequirement",
    "EventFacts": "EventFields",
    "Facts": "RequestContext, IdentityAttributes, or fields of an object",
    "Fitness": "Eligibility",
    "Held": "what is held, such as CurrentToken",
    "Question": "AuthRequest, ReviewKind",
    "RequestFacts": "RequestContext",
    "Rounds": "Redirects",
    "Verdict": "AuthDecision, ReviewResult",
    "Doubtful": "Eligibility::Suspect",
    "Driven": "what it is, such as Connection",
    "FromElsewhere": "CrossOrigin",
    "Holdup": "StalledSide",
    "Judgement": "Assessment",
    "Kept": "what is stored, such as CachedToken",
    "LastLines": "WorkerGuard",
    "Lingers": "LingeringClose",
    "Manner": "ClientOptions",
    "Naming": "MatchedRules",
    "Notices": "what it holds, such as Wakers",
    "Otherwise": "Fallback",
    "Said": "FederationAttribute, CommandOutput",
    "Somebody": "Subject",
    "Speaks": "Protocol",
    "Standing": "HealthState, Validity",
    "Told": "IdentityHeaders, ForwardedRequest",
    "Unsayable": "UnencodableAttribute",
    "Untold": "ForwardedHeaderError",
    "Usual": "what it is: Primary, Default, Absent",
    "Visitor": "RequiredSubject",
    "answers_anybody": "skips_origin_check",
    "cannot_say": "undecided",
    "counts_rounds": "counts_redirects",
    "ensure_standing": "ensure_valid",
    "give_back_form": "resume",
    "hears": "note_activity",
    "is_from_elsewhere": "is_cross_origin",
    "is_of_a_program": "is_bearer_request",
    "judge": "assess, authorize",
    "judged": "assessed",
    "verdict": "result, decision",
    "kept_form": "saved_form",
    "lets_pages_elsewhere": "allows_cross_origin",
    "runs_in_circles": "is_redirect_loop",
    "says_nothing": "is_empty",
    "says_so": "what it expects",
    "unmeasured": "raw",
}
MODULES = {
    "again", "api_callers", "arrival", "choice", "driven", "facts", "framing", "guard", "judge", "kept", "kept_form",
    "last_lines", "line", "measured", "meters", "other_ways", "private", "problem", "relay", "rounds", "said", "standing",
    "told", "troubles", "without_keystone",
}
# modules with a name of the list that is right there
RIGHT_MODULES = {
    # malformed framing of HTTP/1.1 messages
    "server/tests/attacks/framing.rs",
    # rounds of a benchmark
    "bench/src/gateway/rounds.rs",
    "bench/src/kube_auth/measure/rounds.rs",
    "bench/src/panel/rounds.rs",
}
# names of the list that are right there
RIGHT_NAMES = {
    # rounds of a benchmark
    ("bench", "Rounds"),
}
# parts of any identifier
WORDS = {
    "anybody": "any user, client or caller",
    "arrival": "post-login redirect",
    "askers": "clients, callers",
    "everybody": "all users",
    "holdup": "stalled side",
    "nobody": "no user, client or caller",
    "said": "what it is: message, output, reply",
    "somebody": "a user, client or caller",
    "told": "what it is: message, headers, request; or reported",
    "twin": "control case",
    "untold": "what is missing",
    "visitor": "user, client or browser",
    "visitors": "users, clients or browsers",
    "whoever": "a user, client or caller",
}
# in the names of tests
TEST_WORDS = re.compile(
    r"(?:^|[_ ])(?:told|said|says|stands|somebody|nobody|whoever|goes[_ ]on)(?:$|[_ ,.])|[^e][_ ]is[_ ]no[_ ](?!longer|other|one|more)"
)
# parts of constants: what and in what unit, as in MAX_HEADER_BYTES
CONSTANTS = {"LONGEST", "MOST", "AT_ONCE", "EVERY", "FRESH", "USUAL", "MOMENT", "FAREWELL"}
# in the documentation, in strings of Rust, and in the files of TEXTS; `nobody:` is the account of Unix
PROSE = {
    r"whoever|somebody|nobody(?!:)|anybody": "user, client, caller or operator",
    r"(?:is|are|was|were|be) told": "what it gets: receives, shows, reports",
    r"go(?:es)? on|has it that": "continues, or the noun that acts",
    r"(?<!there )is no (?!longer|other|one|more)": "is not a",
}
PROSE_PATTERNS = [(re.compile(rf"\b(?:{words})\b", re.IGNORECASE), better) for words, better in PROSE.items()]
# in headings
HEADINGS = {"the front door": "Listener", "watching": "Observability", "telling them": "Passing identity to apps"}
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
    "more than it can be told": "too long for its header",
    "This request cannot be judged": "Cannot authorize this request",
    "You could not be confirmed": "We could not verify that it is you",
    "Nothing lives at this address": "Unknown host name",
    "Signing in leads nowhere": "Sign-in loop detected",
    "has not prolonged": "did not renew",
    "Who administers this project can grant": "Ask a project administrator for access",
    "every namespace at once": "Leave empty for all namespaces",
    "Apart by spaces or commas": "Separate with spaces or commas",
    "Cannot say": "Unknown (Keystone did not respond)",
    "Half answered within": "Median latency (p50)",
    "could not be brought up to date": "could not refresh; retrying",
    "Made from the namespaces": "Showing the namespaces you can list",
    "is told who is asking": "gets the user's identity",
    "Stateful sets": "StatefulSets",
    "Config maps": "ConfigMaps",
    "Volume claims": "PersistentVolumeClaims",
    "Not looked at": "Not checked",
    "End what you do not know": "End any session you do not recognise",
}

# files whose texts users and operators see, with the comments that are not read; a `#` after a space ends a line even
# within quotes
TEXT_FOLDERS = ("deploy/", "scripts/", "app/browser/")
HASH, SLASHES = r"(?:^|(?<=\s))#[^\n]*", r"(?:^|(?<=\s))//[^\n]*|/\*.*?\*/"
COMMENTS = {
    suffix: re.compile(comment, re.DOTALL | re.MULTILINE)
    for comment, suffixes in (
        (HASH, (".toml", ".yaml", ".yml", ".sh", ".py")),
        (SLASHES, (".js", ".mjs")),
        (r"--[^\n]*", (".lua",)),
        (r"<!--.*?-->|<style>.*?</style>", (".html",)),
    )
    for suffix in suffixes
}

# comments and string literals, in which only the names in braces are identifiers
NOT_CODE = re.compile(r'//[^\n]*|/\*.*?\*/|b?r(#*)".*?"\1|b?"(?:[^"\\]|\\.)*"', re.DOTALL)
STRING = re.compile(r'//[^\n]*|/\*.*?\*/|r(#*)"(?P<raw>.*?)"\1|"(?P<plain>(?:[^"\\]|\\.)*)"', re.DOTALL)
# the same of TypeScript, with regular expressions
NOT_TYPESCRIPT = re.compile(
    r"""(?<!:)//[^\n]*|/\*.*?\*/|"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'|`(?:[^`\\]|\\.)*`|(?<=[(,=:\[])\s*/(?:[^/\\\n]|\\.)+/""", re.DOTALL
)
identifier = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
part = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z0-9]+")
test_module = re.compile(r"#\[cfg\(test\)\]\s*(?:#\[[^\n]*\]\s*)*mod \w+ \{")
module = re.compile(r"\bmod\s+([a-z]\w*)\s*;")
constant = re.compile(r"\b(?:const|static)\s+([A-Z][A-Z0-9_]*)\s*:")
rust_test = re.compile(r"#\[(?:\w+::)?test\b[^\]]*\]\s*(?:#\[[^\n]*\]\s*)*(?:pub )?(?:async )?fn\s+(\w+)")
browser_test = re.compile(r"\btest(?:\.describe)?\(\s*([\"'`])((?:\\.|(?!\1).)*)\1", re.DOTALL)


def files(*suffixes):
    listed = subprocess.run(["git", "ls-files", "-co", "--exclude-standard"], cwd=ROOT, capture_output=True, text=True, check=True)
    for name in listed.stdout.splitlines():
        path = ROOT / name
        if path.suffix in suffixes and path.is_file():
            yield name, path.read_text()


def line_of(text, at):
    return text.count("\n", 0, at) + 1


def without(pattern, text):
    """Removes what a pattern finds, but not its lines."""
    return pattern.sub(lambda found: "\n" * found.group().count("\n"), text)


def in_identifiers(code, names):
    seen = set()
    for number, line in enumerate(code.splitlines(), 1):
        for word in identifier.findall(line):
            better = names.get(word)
            for one in part.findall(word):
                better = better or WORDS.get(one.lower())
            if better and word not in seen:
                seen.add(word)
                yield number, word, better


def in_rust(name, text):
    code = without(NOT_CODE, text)
    folder = name.split("/")[0]
    for number, word, better in in_identifiers(code, NAMES):
        if (folder, word) not in RIGHT_NAMES:
            yield number, word, better
    for number, line in enumerate(code.splitlines(), 1):
        for word in module.findall(line):
            path = pathlib.PurePath(name).parent / f"{word}.rs"
            if word in MODULES and str(path) not in RIGHT_MODULES:
                yield number, f"mod {word}", "a name that says what the module has"
        for word in constant.findall(line):
            if word in CONSTANTS or any(word.startswith(f"{one}_") or word.endswith(f"_{one}") for one in CONSTANTS):
                yield number, word, "what it bounds and in what unit, as in MAX_HEADER_BYTES"


def in_tests(text):
    for pattern in (rust_test, browser_test):
        for found in pattern.finditer(text):
            title = found.group(found.lastindex)
            if TEST_WORDS.search(title):
                yield line_of(text, found.start()), title, "what the test checks, as the documentation does"


def in_markdown(text):
    fenced = False
    for number, line in enumerate(text.splitlines(), 1):
        if line.startswith("```"):
            fenced = not fenced
        if fenced:
            continue
        yield from in_prose(number, line)
        if line.startswith("#"):
            for words, better in HEADINGS.items():
                if words in line.lower():
                    yield number, words, better


def in_prose(number, line):
    for words, better in PROSE_PATTERNS:
        found = words.search(line)
        if found:
            yield number, found.group(), better


def in_text(suffix, text):
    for number, line in enumerate(without(COMMENTS[suffix], text).splitlines(), 1):
        yield from in_prose(number, line)


def in_rust_strings(name, text):
    """Yields words of PROSE in string literals before the tests of a file."""
    if "/src/" not in name or "/tests/" in name or name.endswith("_tests.rs"):
        return
    for found in STRING.finditer(test_module.split(text, maxsplit=1)[0]):
        yield from in_prose(line_of(text, found.start()), found["raw"] or found["plain"] or "")


def in_strings(text):
    for number, line in enumerate(text.splitlines(), 1):
        for words, better in STRINGS.items():
            if words in line:
                yield number, words, better


def main():
    found = []
    for name, text in files(".rs"):
        found += [(name, *one) for one in (*in_rust(name, text), *in_rust_strings(name, text), *in_tests(text))]
    for name, text in files(".ts"):
        code = without(NOT_TYPESCRIPT, text)
        found += [(name, *one) for one in (*in_identifiers(code, {}), *in_tests(text))]
    for name, text in files(*COMMENTS):
        if name.startswith(TEXT_FOLDERS) and name != "scripts/vocabulary.py":
            found += [(name, *one) for one in in_text(pathlib.PurePath(name).suffix, text)]
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
