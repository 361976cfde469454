"""Runs the stand-in:

python3 -m cloud PORT KEYSTONE_URL STATE_FILE KEY_FILE
"""

import sys

from cloud.server import serve
from cloud.state import State


def main():
    if len(sys.argv) != 5:
        sys.exit(__doc__)
    port, keystone_url, state_file, key_file = sys.argv[1:]
    with open(key_file, encoding="utf-8") as file:
        key = file.read().strip()
    serve(int(port), keystone_url, State(state_file), key)


main()
