#!/usr/bin/env python3
"""slowest.py JUNIT...: prints the ten slowest tests of the JUnit files of nextest's and Playwright's runs.

A test is named by its package, binary and path, or by its file and title (browser). The time of a test that was tried
again is that of its last try (nextest) or of all tries (Playwright)."""
import sys
import xml.etree.ElementTree as ET

SHOWN = 10


def tests(files):
    """Seconds and name of each test that was run."""
    for file in files:
        for case in ET.parse(file).getroot().iter("testcase"):
            if case.find("skipped") is None:
                source = case.get("classname") or ""
                yield float(case.get("time") or 0), f"{source} {case.get('name')}".strip()


def main():
    found = sorted(tests(sys.argv[1:]), reverse=True)
    total = sum(seconds for seconds, _ in found)
    print(f"\nThe {min(SHOWN, len(found))} slowest of {len(found)} tests ({total:.0f} s one after the other):")
    for seconds, name in found[:SHOWN]:
        print(f"{seconds:8.1f} s  {name}")


if __name__ == "__main__":
    main()
