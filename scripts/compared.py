#!/usr/bin/env python3
"""compared.py PAGE JUNIT...: each yes (a full circle) of Portico's in PAGE must name a test that exists and has passed in
the JUnit files of nextest's runs; everything else must give a reason."""
import re
import sys
import xml.etree.ElementTree as ET


def results(files):
    """Test name to whether it passed, by the name without its binary."""
    found = {}
    for file in files:
        for case in ET.parse(file).getroot().iter("testcase"):
            failed = any(case.find(tag) is not None for tag in ("failure", "error", "skipped"))
            found[case.get("name")] = not failed
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


def main():
    page, *files = sys.argv[1:]
    tests = results(files)
    problems, shown = [], 0
    with open(page, encoding="utf-8") as text:
        for number, point, answer, evidence in rows(text.read()):
            named = re.fullmatch(r"`([A-Za-z0-9_:]+)`", evidence)
            if answer.startswith("●"):
                shown += 1
                name = named and named.group(1)
                matches = [test for test in tests if name and (test == name or test.endswith("::" + name))]
                if not name:
                    problems.append(f"{page}:{number}: {point}: names no test")
                elif not matches:
                    problems.append(f"{page}:{number}: {point}: no test {name} was run")
                elif not all(tests[test] for test in matches):
                    problems.append(f"{page}:{number}: {point}: {name} has not passed")
            elif not evidence or named:
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
