"""Adds to Keystone what Heat needs: its service user, the domain for users of stacks with its administrator, and the endpoint.
Run again it adds what is missing.

    seed_keystone.py URL ADMIN_PASSWORD_FILE HEAT_PASSWORD_FILE HEAT_PORT
"""

import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from keystone_seed import Keystone, read  # noqa: E402


def ensure_user(keystone, name, domain, password):
    found = keystone.find("users", name=name, domain_id=domain)
    if found:
        # the password is new where Heat's directory was removed
        keystone.call("PATCH", f"/users/{found['id']}", {"user": {"password": password}})
        return found["id"]
    return keystone.ensure("user", {"name": name, "domain_id": domain}, {"password": password})["id"]


def ensure_endpoint(keystone, url):
    service = keystone.ensure("service", {"type": "orchestration", "name": "heat"})
    known = keystone.call("GET", f"/endpoints?service_id={service['id']}")[1]["endpoints"]
    by_interface = {one["interface"]: one for one in known}
    for interface in ("public", "internal", "admin"):
        about = {"service_id": service["id"], "interface": interface, "region_id": "RegionOne", "url": url}
        if interface not in by_interface:
            keystone.call("POST", "/endpoints", {"endpoint": about})
        elif by_interface[interface]["url"] != url:
            keystone.call("PATCH", f"/endpoints/{by_interface[interface]['id']}", {"endpoint": {"url": url}})


def seed(keystone, password, port):
    roles = {name: keystone.ensure("role", {"name": name})["id"] for name in ("admin", "service", "heat_stack_user")}
    project = keystone.ensure("project", {"name": "service", "domain_id": "default"})["id"]
    user = ensure_user(keystone, "heat", "default", password)
    for role in ("admin", "service"):
        keystone.call("PUT", f"/projects/{project}/users/{user}/roles/{roles[role]}")
    domain = keystone.ensure("domain", {"name": "heat"})["id"]
    administrator = ensure_user(keystone, "heat_domain_admin", domain, password)
    keystone.call("PUT", f"/domains/{domain}/users/{administrator}/roles/{roles['admin']}")
    ensure_endpoint(keystone, f"http://127.0.0.1:{port}/v1/$(project_id)s")


def main():
    if len(sys.argv) != 5:
        sys.exit(__doc__)
    url, admin_file, password_file, port = sys.argv[1:]
    seed(Keystone(url, read(admin_file)), read(password_file), port)


main()
