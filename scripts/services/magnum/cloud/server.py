"""The stand-in's HTTP: one port, a service below each first part of the path, tokens checked by Keystone.

Tests steer it with its key (header X-Stand-In-Key):

    POST   /stand-in/faults  {"path": REGEX, "method"?: "GET", "status"?: 500, "body"?: {...}, "seconds"?: 2.5, "times"?: 1}
    DELETE /stand-in/faults
    GET    /stand-in/state

With the key, X-Stand-In-Project (and -User) names the project that a request is for: so Magnum's simulated drivers use the
ordinary API without a token of their own.
"""

import hashlib
import json
import re
import time
import urllib.error
import urllib.parse
import urllib.request
import uuid
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from cloud import compute, image, load_balancer, network, volume
from cloud.request import Refused, Request

SERVICES = {"compute": compute, "network": network, "volume": volume, "load-balancer": load_balancer, "image": image}
ROUTES = {
    name: [(method, re.compile(path), answer) for method, path, answer in module.ROUTES] for name, module in SERVICES.items()
}
# answered without a token, as by the services themselves
VERSIONS = re.compile(r"/(compute|network|volume|load-balancer|image)(/v[0-9.]+)?/?")
TOKEN_SECONDS = 10


class Tokens:
    """Who a token belongs to, by Keystone; answers are used again for some seconds."""

    def __init__(self, keystone_url):
        self.keystone_url = keystone_url
        self.known = {}

    def caller(self, token):
        """Returns project, user and roles of a token, or None."""
        key = hashlib.sha256(token.encode()).digest()
        until, found = self.known.get(key, (0, None))
        if time.monotonic() < until:
            return found
        found = self.ask(token)
        if found:
            self.known = {one: about for one, about in self.known.items() if about[0] > time.monotonic()}
            self.known[key] = (time.monotonic() + TOKEN_SECONDS, found)
        return found

    def ask(self, token):
        request = urllib.request.Request(f"{self.keystone_url}/auth/tokens?nocatalog")
        request.add_header("x-auth-token", token)
        request.add_header("x-subject-token", token)
        try:
            with urllib.request.urlopen(request, timeout=20) as response:
                about = json.load(response)["token"]
        except (OSError, ValueError):
            return None
        roles = frozenset(role["name"] for role in about.get("roles", []))
        return about.get("project", {}).get("id"), about["user"]["id"], roles


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server_version = "portico-stand-in"

    def log_message(self, format, *arguments):
        pass

    def handle_any(self):
        path, _, query = self.path.partition("?")
        length = int(self.headers.get("content-length") or 0)
        raw = self.rfile.read(length)
        try:
            body = json.loads(raw) if raw else {}
            status, answer = self.answer(path, dict(urllib.parse.parse_qsl(query)), body)
        except Refused as refused:
            status, answer = refused.status, refused.body
        except (KeyError, ValueError, TypeError) as fault:
            status, answer = 400, {"badRequest": {"code": 400, "message": f"Invalid input: {fault}"}}
        self.send(status, answer)

    do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = handle_any

    def send(self, status, answer):
        data = b"" if answer is None else json.dumps(answer).encode()
        self.send_response(status)
        if data:
            self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(data)))
        self.send_header("x-openstack-request-id", f"req-{uuid.uuid4()}")
        self.send_header("openstack-api-version", self.headers.get("openstack-api-version", "compute 2.1"))
        self.end_headers()
        self.wfile.write(data)

    def answer(self, path, query, body):
        if path.startswith("/stand-in/"):
            return self.control(path, body)
        self.inject(path)
        service, _, rest = path[1:].partition("/")
        rest = "/" + urllib.parse.unquote(rest)
        base = f"http://{self.headers.get('host')}"
        state = self.server.state
        if VERSIONS.fullmatch(path):
            project, user, roles = None, None, frozenset()
        else:
            project, user, roles = self.caller()
        request = Request(state, base, project, user, roles, query, body)
        for method, pattern, answer in ROUTES.get(service, []):
            found = pattern.fullmatch(rest)
            if found and method == self.command:
                with state.lock:
                    return answer(request, *found.groups())
        raise Refused(
            404, {"error": {"code": 404, "title": "Not Found", "message": f"The stand-in has no {self.command} {path}"}}
        )

    def has_key(self):
        return self.headers.get("x-stand-in-key") == self.server.key

    def caller(self):
        if self.has_key() and "x-stand-in-project" in self.headers:
            user = self.headers.get("x-stand-in-user") or "stand-in"
            return self.headers["x-stand-in-project"], user, frozenset({"member"})
        token = self.headers.get("x-auth-token")
        found = self.server.tokens.caller(token) if token else None
        if not found or not found[0]:
            message = "The request you have made requires authentication."
            raise Refused(401, {"error": {"code": 401, "title": "Unauthorized", "message": message}})
        return found

    def control(self, path, body):
        if not self.has_key():
            raise Refused(403, {"error": {"code": 403, "message": "The header X-Stand-In-Key is missing or wrong."}})
        state = self.server.state
        with state.lock:
            if path == "/stand-in/state" and self.command == "GET":
                return 200, state.data
            if path == "/stand-in/faults" and self.command == "POST":
                re.compile(body["path"])
                state.faults.append(body)
                return 201, {"faults": state.faults}
            if path == "/stand-in/faults" and self.command == "DELETE":
                state.faults.clear()
                return 204, None
        raise Refused(404, {"error": {"code": 404, "message": path}})

    def inject(self, path):
        """Waits and fails as a test has asked for this path."""
        state = self.server.state
        with state.lock:
            for fault in state.faults:
                if re.search(fault["path"], path) and fault.get("method", self.command) == self.command:
                    break
            else:
                return
            if "times" in fault:
                fault["times"] -= 1
                if fault["times"] <= 0:
                    state.faults.remove(fault)
        time.sleep(fault.get("seconds", 0))
        if "status" in fault:
            default = {"error": {"code": fault["status"], "message": "A fault that a test has asked for."}}
            raise Refused(fault["status"], fault.get("body", default))


class Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 128


def serve(port, keystone_url, state, key):
    server = Server(("127.0.0.1", port), Handler)
    server.state, server.key, server.tokens = state, key, Tokens(keystone_url)
    server.serve_forever()
