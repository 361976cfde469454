#!/usr/bin/env python3
"""compared.py PAGE JUNIT...: each yes (a full circle) of Portico's in PAGE must name tests that exist and have passed in
the JUnit files of nextest's and Playwright's runs; everything else must give a reason.

A test of Rust is named by its path (`lists::a_test`), one of the browser suite by its file and title
(`lists.spec.ts: a title`; titles of groups come first, with › between)."""
import re
import sys
import xml.etree.ElementTree as ET

BROWSER = re.compile(r"([\w-]+\.spec\.ts): (.+)")
PATH = re.compile(r"[A-Za-z0-9_:]+")


def results(files):
    """Test name to whether it passed: a path without its binary, or the file and title of a browser test."""
    found = {}
    for file in files:
        for case in ET.parse(file).getroot().iter("testcase"):
            name = case.get("name")
            source = (case.get("classname") or "").rsplit("/", 1)[-1]
            if source.endswith(".spec.ts"):
                name = f"{source}: {name}"
            failed = any(case.find(tag) is not None for tag in ("failure", "error", "skipped"))
            found[name] = found.get(name, True) and not failed
    return found


def rows(page):
    """Of each table with the columns Portico and "Shown by": line number, first cell, Portico's cell, the last cell."""
    column = None
    for number, line in enumerate(page.splitlines(), 1):
        if not line.startswith("|"):
            column = None
            continue
        cells = [cell.strip() for cell in line.strip().strip("|").split("|")]
        if "Portico" in cells:
            column = cells.index("Portico")
        elif column is not None and not set(line) <= set("|:- "):
            yield number, cells[0], cells[column], cells[-1]


def named_tests(evidence):
    """The tests that a cell names, if it is nothing but a list of tests."""
    if not re.fullmatch(r"`[^`]+`(, `[^`]+`)*", evidence):
        return []
    names = re.findall(r"`([^`]+)`", evidence)
    return names if all(BROWSER.fullmatch(name) or PATH.fullmatch(name) for name in names) else []


def matching(name, tests):
    if BROWSER.fullmatch(name):
        return [test for test in tests if test == name]
    return [test for test in tests if test == name or test.endswith("::" + name)]


def main():
    page, *files = sys.argv[1:]
    tests = results(files)
    problems, shown = [], 0
    with open(page, encoding="utf-8") as text:
        for number, point, answer, evidence in rows(text.read()):
            names = named_tests(evidence)
            if answer.startswith("●"):
                shown += 1
                if not names:
                    problems.append(f"{page}:{number}: {point}: names no test")
                for name in names:
                    matches = matching(name, tests)
                    if not matches:
                        problems.append(f"{page}:{number}: {point}: no test {name} was run")
                    elif not all(tests[test] for test in matches):
                        problems.append(f"{page}:{number}: {point}: {name} has not passed")
            elif not evidence or names:
                problems.append(f"{page}:{number}: {point}: gives no reason")
    if not shown:
        problems.append(f"{page}: no table with the columns Portico and Shown by")
    for problem in problems:
        print(problem, file=sys.stderr)
    if problems:
        sys.exit(1)
    print(f"{page}: {shown} points, each shown by a test that passed")


if __name__ == "__main__":
    main()
