"""An HTTP proxy that passes everything on and writes one JSON line a request, with the Keystone tokens that it saw.

    recording_proxy.py --listen HOST:PORT --upstream HOST:PORT --output FILE

A line has time, method, path, status, caller_token (X-Auth-Token), subject_token (X-Subject-Token of the request) and
issued_token (X-Subject-Token of the response to a new token). When the upstream is not there, neither is this proxy: it
closes the connection without an answer.
"""

import argparse
import http.client
import http.server
import json
import os
import threading
import time

HOP_BY_HOP = {"connection", "keep-alive", "proxy-connection", "te", "trailer", "transfer-encoding", "upgrade"}


class Recorder:
    def __init__(self, path):
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        self.file = os.fdopen(descriptor, "a", encoding="utf-8")
        self.lock = threading.Lock()

    def write(self, entry):
        with self.lock:
            self.file.write(json.dumps(entry) + "\n")
            self.file.flush()


class Proxy(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    upstream = None
    recorder = None

    def relay(self):
        length = int(self.headers.get("content-length") or 0)
        body = self.rfile.read(length) if length else None
        headers = {name: value for name, value in self.headers.items() if name.lower() not in HOP_BY_HOP}
        connection = http.client.HTTPConnection(*self.upstream, timeout=60)
        try:
            connection.request(self.command, self.path, body=body, headers=headers)
            response = connection.getresponse()
            answer = response.read()
        except (OSError, http.client.HTTPException):
            self.close_connection = True
            return
        finally:
            connection.close()
        self.record(response)
        self.respond(response, answer)

    def record(self, response):
        issued = self.command == "POST" and response.status == 201
        self.recorder.write({
            "time": time.time(),
            "method": self.command,
            "path": self.path,
            "status": response.status,
            "caller_token": self.headers.get("x-auth-token"),
            "subject_token": self.headers.get("x-subject-token"),
            "issued_token": response.headers.get("x-subject-token") if issued else None,
        })

    def respond(self, response, answer):
        self.send_response_only(response.status, response.reason)
        for name, value in response.getheaders():
            if name.lower() not in HOP_BY_HOP and name.lower() != "content-length":
                self.send_header(name, value)
        if self.command == "HEAD":
            self.send_header("content-length", response.headers.get("content-length", "0"))
        elif response.status != 204:
            self.send_header("content-length", str(len(answer)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(answer)

    do_GET = do_HEAD = do_POST = do_PUT = do_PATCH = do_DELETE = relay

    def log_message(self, format, *arguments):
        """Says nothing: what happened is in the recording."""


def address(text):
    host, _, number = text.rpartition(":")
    return host, int(number)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--listen", type=address, required=True)
    parser.add_argument("--upstream", type=address, required=True)
    parser.add_argument("--output", required=True)
    options = parser.parse_args()
    Proxy.upstream = options.upstream
    Proxy.recorder = Recorder(options.output)
    http.server.ThreadingHTTPServer(options.listen, Proxy).serve_forever()


main()
