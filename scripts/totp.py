"""Prints the current one-time code (RFC 6238, SHA-1, 30 s, 6 digits) of a base32 secret read from standard input."""

import base64
import hashlib
import hmac
import struct
import sys
import time


def code(secret, moment):
    key = base64.b32decode(secret + "=" * (-len(secret) % 8))
    digest = hmac.new(key, struct.pack(">Q", int(moment) // 30), hashlib.sha1).digest()
    offset = digest[-1] & 15
    number = struct.unpack(">I", digest[offset : offset + 4])[0] & 0x7FFFFFFF
    return f"{number % 1_000_000:06d}"


now = time.time()
print(f"{code(sys.stdin.read().strip(), now)}   ({30 - int(now) % 30} s left)")
