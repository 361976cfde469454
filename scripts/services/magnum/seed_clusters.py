"""Makes templates and three clusters through Magnum's API: shop-staging (made), analytics (failed: its workers exceed the
quota), edge-cache (stalled: its load balancer does not become ready). Run again it makes what is missing; a cluster that was
deleted since is not made again.

    seed_clusters.py [--without-clusters] KEYSTONE_URL ADMIN_PASSWORD_FILE USER_PASSWORD_FILE MAGNUM_URL SEED_JSON
    seed_clusters.py --check KEYSTONE_URL USER_PASSWORD_FILE MAGNUM_URL

With --without-clusters it makes the templates only.
"""

import json
import os
import pathlib
import sys
import time
import urllib.error
import urllib.request

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from keystone_seed import read  # noqa: E402


def template(name, image, driver, kube_tag, **more):
    return {
        "name": name,
        "coe": "kubernetes",
        "image_id": image,
        "driver": driver,
        "external_network_id": "public",
        "flavor_id": "m1.medium",
        "master_flavor_id": "m1.medium",
        "network_driver": "calico",
        "volume_driver": "cinder",
        "server_type": "vm",
        "public": True,
        "master_lb_enabled": True,
        "floating_ip_enabled": False,
        **more,
        "labels": {"kube_tag": kube_tag, "auto_healing_enabled": "true", "boot_volume_size": "20", **more.get("labels", {})},
    }


TEMPLATES = [
    template("kubernetes-1.31", "ubuntu-24.04-kube-v1.31.4", "k8s_sim_full", "v1.31.4"),
    template("kubernetes-1.32", "ubuntu-24.04-kube-v1.32.1", "k8s_sim_full", "v1.32.1"),
    template("kubernetes-1.31-cluster-api", "ubuntu-24.04-kube-v1.31.4", "k8s_sim_capi", "v1.31.4"),
    template("kubernetes-1.31-heat", "fedora-coreos-40", "k8s_sim_heat", "v1.31.4", network_driver="flannel"),
    template("kubernetes-local", "kubernetes-local", "k8s_local", "v1.20.2", flavor_id="m1.small", master_flavor_id="m1.small"),
]
CLUSTERS = [
    {
        "name": "shop-staging",
        "cluster_template_id": "kubernetes-1.31",
        "master_count": 1,
        "node_count": 2,
        "labels": {"sim_seconds": "30", "sim_workload": "lbs,volumes"},
    },
    {
        "name": "analytics",
        "cluster_template_id": "kubernetes-1.31",
        "master_count": 1,
        "node_count": 3,
        # one of them needs all cores that the project may have
        "flavor_id": "c1.8xlarge",
        "labels": {"sim_seconds": "30"},
    },
    {
        "name": "edge-cache",
        "cluster_template_id": "kubernetes-1.31-cluster-api",
        "master_count": 1,
        "node_count": 2,
        "labels": {"sim_stall": "api_load_balancer"},
    },
]
WITHOUT_CLUSTERS = "--without-clusters"
EXPECTED = {"shop-staging": "CREATE_COMPLETE", "analytics": "CREATE_FAILED", "edge-cache": "CREATE_IN_PROGRESS"}


def call(method, url, token=None, body=None):
    request = urllib.request.Request(url, method=method, data=None if body is None else json.dumps(body).encode())
    request.add_header("content-type", "application/json")
    request.add_header("openstack-api-version", "container-infra 1.14")
    if token:
        request.add_header("x-auth-token", token)
    try:
        with urllib.request.urlopen(request, timeout=30) as response:
            answer = response.read()
            return response.headers, json.loads(answer) if answer else None
    except urllib.error.HTTPError as error:
        sys.exit(f"{method} {url} answered {error.code}: {error.read().decode(errors='replace')[:500]}")


def sign_in(keystone_url, user, password, project):
    domain = {"id": "default"}
    identity = {"methods": ["password"], "password": {"user": {"name": user, "domain": domain, "password": password}}}
    scope = {"project": {"name": project, "domain": domain}}
    headers, _ = call("POST", f"{keystone_url}/auth/tokens", body={"auth": {"identity": identity, "scope": scope}})
    return headers["x-subject-token"]


def seed_templates(magnum_url, admin, made):
    """Returns the UUIDs by name."""
    existing = {one["name"]: one["uuid"] for one in call("GET", f"{magnum_url}/clustertemplates", admin)[1]["clustertemplates"]}
    for wanted in TEMPLATES:
        if wanted["name"] not in existing and f"template {wanted['name']}" not in made:
            existing[wanted["name"]] = call("POST", f"{magnum_url}/clustertemplates", admin, wanted)[1]["uuid"]
        made.add(f"template {wanted['name']}")
    return existing


def seed_clusters(magnum_url, user, existing, made):
    present = {one["name"] for one in call("GET", f"{magnum_url}/clusters", user)[1]["clusters"]}
    for wanted in CLUSTERS:
        mark = f"cluster {wanted['name']}"
        uuid = existing.get(wanted["cluster_template_id"])
        if uuid and mark not in made and wanted["name"] not in present:
            body = {**wanted, "cluster_template_id": uuid, "keypair": "ops", "merge_labels": True}
            call("POST", f"{magnum_url}/clusters", user, body)
        made.add(mark)


def states(magnum_url, token):
    return {one["name"]: one["status"] for one in call("GET", f"{magnum_url}/clusters", token)[1]["clusters"]}


def wait_for(magnum_url, token, expected, seconds):
    deadline = time.monotonic() + seconds
    while True:
        found = states(magnum_url, token)
        if all(found.get(name) == state for name, state in expected.items()):
            return
        if time.monotonic() > deadline:
            sys.exit(f"clusters are not as expected: {found}")
        time.sleep(0.5)


def check(keystone_url, password, magnum_url):
    token = sign_in(keystone_url, "ada", password, "acme")
    wait_for(magnum_url, token, EXPECTED, 60)
    for name, state in states(magnum_url, token).items():
        print(f"  {name:<24} {state}")


def main():
    arguments = [one for one in sys.argv[1:] if one != WITHOUT_CLUSTERS]
    if len(sys.argv) == 5 and sys.argv[1] == "--check":
        check(sys.argv[2], read(sys.argv[3]), sys.argv[4])
    elif len(arguments) == 5:
        keystone_url, admin_file, user_file, magnum_url, target = arguments
        before = json.loads(read(target)) if os.path.exists(target) else {}
        admin = sign_in(keystone_url, "admin", read(admin_file), "admin")
        made = set(before.get("made", []))
        existing = seed_templates(magnum_url, admin, made)
        if WITHOUT_CLUSTERS not in sys.argv:
            seed_clusters(magnum_url, sign_in(keystone_url, "ada", read(user_file), "acme"), existing, made)
        with open(target, "w", encoding="utf-8") as file:
            json.dump({"made": sorted(made)}, file, indent=2)
    else:
        sys.exit(__doc__)


main()
