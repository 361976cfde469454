"""Adds to Keystone what Magnum needs: its service user, the roles that its policy asks of the demo's users, and the endpoints
of Magnum and of the stand-in for the cloud. Run again it adds what is missing; a role that was taken away since stays away.

    seed_keystone.py [--without-clusters] URL ADMIN_PASSWORD_FILE MAGNUM_PASSWORD_FILE MAGNUM_PORT CLOUD_PORT SEED_JSON

With --without-clusters the demo's users get no roles.
"""

import json
import os
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from keystone_seed import Keystone, read  # noqa: E402

WITHOUT_CLUSTERS = "--without-clusters"
ROLES = ("admin", "service", "member", "reader", "k8s_developer")
# Magnum's policy knows the roles reader and member, not those of Kubernetes. In a cluster that is enrolled, developers and viewers
# get rights, so those who make clusters are developers too.
GRANTS = {
    "ada": [("acme", "member"), ("acme", "k8s_developer")],
    "devi": [("acme", "reader")],
    "vera": [("acme", "reader")],
    "otto": [("globex", "member"), ("globex", "k8s_developer")],
}


def endpoints(magnum_port, cloud_port):
    """Returns type -> name and address. A name with "stand-in" is of what only pretends to be that service."""
    cloud = f"http://127.0.0.1:{cloud_port}"
    return {
        "container-infra": ("magnum", f"http://127.0.0.1:{magnum_port}/v1"),
        "compute": ("nova-stand-in", f"{cloud}/compute/v2.1"),
        "network": ("neutron-stand-in", f"{cloud}/network"),
        "block-storage": ("cinder-stand-in", f"{cloud}/volume/v3/$(project_id)s"),
        "volumev3": ("cinder-stand-in-v3", f"{cloud}/volume/v3/$(project_id)s"),
        "load-balancer": ("octavia-stand-in", f"{cloud}/load-balancer"),
        "image": ("glance-stand-in", f"{cloud}/image"),
    }


def ensure_endpoint(keystone, kind, name, url):
    service = keystone.find("services", type=kind)
    service = service or keystone.call("POST", "/services", {"service": {"type": kind, "name": name}})[1]["service"]
    existing = keystone.call("GET", f"/endpoints?service_id={service['id']}")[1]["endpoints"]
    by_interface = {one["interface"]: one for one in existing}
    for interface in ("public", "internal", "admin"):
        about = {"service_id": service["id"], "interface": interface, "region_id": "RegionOne", "url": url}
        if interface not in by_interface:
            keystone.call("POST", "/endpoints", {"endpoint": about})
        elif by_interface[interface]["url"] != url:
            keystone.call("PATCH", f"/endpoints/{by_interface[interface]['id']}", {"endpoint": {"url": url}})


def grant(keystone, project, user, role):
    keystone.call("PUT", f"/projects/{project}/users/{user}/roles/{role}")


def seed(keystone, password, magnum_port, cloud_port, before, grants):
    project = keystone.ensure("project", {"name": "service", "domain_id": "default"})["id"]
    user = keystone.ensure("user", {"name": "magnum", "domain_id": "default"}, {"password": password})["id"]
    if "user" not in before:
        # the password is new where Magnum's directory was removed
        keystone.call("PATCH", f"/users/{user}", {"user": {"password": password}})
    roles = {name: keystone.ensure("role", {"name": name})["id"] for name in ROLES}
    for role in ("admin", "service"):
        grant(keystone, project, user, roles[role])
    granted = set(before.get("granted", []))
    for name, wanted in grants.items():
        owner = keystone.find("users", name=name, domain_id="default")
        for project_name, role in wanted:
            mark = f"{name} {project_name} {role}"
            if owner and mark not in granted:
                target = keystone.find("projects", name=project_name, domain_id="default")
                grant(keystone, target["id"], owner["id"], roles[role])
                granted.add(mark)
    for kind, (name, url) in endpoints(magnum_port, cloud_port).items():
        ensure_endpoint(keystone, kind, name, url)
    return {"granted": sorted(granted), "user": user}


def main():
    arguments = [one for one in sys.argv[1:] if one != WITHOUT_CLUSTERS]
    if len(arguments) != 6:
        sys.exit(__doc__)
    url, admin_file, password_file, magnum_port, cloud_port, target = arguments
    grants = {} if WITHOUT_CLUSTERS in sys.argv else GRANTS
    before = json.loads(read(target)) if os.path.exists(target) else {}
    out = seed(Keystone(url, read(admin_file)), read(password_file), magnum_port, cloud_port, before, grants)
    with open(target, "w", encoding="utf-8") as file:
        json.dump(out, file, indent=2)


main()
