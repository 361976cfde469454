"""Octavia's part: load balancers and quotas (https://docs.openstack.org/api-ref/load-balancer/)."""

from cloud import compute
from cloud.request import Refused, now, page

QUOTAS = {
    "loadbalancer": "load_balancer",
    "listener": "listener",
    "member": "member",
    "pool": "pool",
    "healthmonitor": "health_monitor",
}


def error(status, message):
    return Refused(status, {"faultcode": "Client", "faultstring": message, "debuginfo": None})


def versions(request):
    link = {"rel": "self", "href": f"{request.base}/load-balancer/v2"}
    return 200, {"versions": [{"id": "v2.27", "status": "CURRENT", "updated": "2023-10-16T00:00:00Z", "links": [link]}]}


def listed(request):
    found = request.state.of("load_balancers", None if request.is_admin else request.project)
    for name in ("name", "vip_address", "provisioning_status", "project_id"):
        if name in request.query:
            found = [one for one in found if one[name] == request.query[name]]
    return 200, {"loadbalancers": page(request, found), "loadbalancers_links": []}


def find(request, identity):
    found = request.state.find("load_balancers", identity, None if request.is_admin else request.project)
    if not found:
        raise error(404, f"Load Balancer {identity} not found.")
    return found


def show(request, identity):
    return 200, {"loadbalancer": find(request, identity)}


def create(request):
    request.must_be_member()
    limits, used = request.state.quota(request.project), request.state.usage(request.project, compute.FLAVORS)
    if 0 <= limits["loadbalancer"] < used["loadbalancer"] + 1:
        raise error(403, "Quota has been met for resources: Load Balancer")
    wanted = request.body["loadbalancer"]
    port = request.state.add("ports", {"name": f"octavia-lb-{wanted['name']}", "project_id": request.project, "status": "ACTIVE"})
    record = {
        "name": wanted["name"],
        "description": wanted.get("description") or "",
        "project_id": request.project,
        "provider": wanted.get("provider") or "amphora",
        "provisioning_status": "ACTIVE",
        "operating_status": "ONLINE",
        "admin_state_up": True,
        "vip_address": request.state.address("10.0"),
        "vip_port_id": port["id"],
        "vip_subnet_id": wanted.get("vip_subnet_id"),
        "vip_network_id": wanted.get("vip_network_id"),
        "listeners": [],
        "pools": [],
        "tags": wanted.get("tags") or [],
        "created_at": now(),
        "updated_at": None,
    }
    return 201, {"loadbalancer": request.state.add("load_balancers", record)}


def delete(request, identity):
    request.must_be_member()
    request.state.remove("ports", find(request, identity)["vip_port_id"])
    request.state.remove("load_balancers", identity)
    return 204, None


def quota(request, project):
    compute.own_project(request, project)
    limits = request.state.quota(project)
    # Octavia has both names of each, the old one for old clients
    return 200, {"quota": {name: limits[key] for key, new in QUOTAS.items() for name in (key, new)}}


def set_quota(request, project):
    request.must_be_admin()
    old = {new: key for key, new in QUOTAS.items()}
    values = {old.get(name, name): value for name, value in request.body["quota"].items()}
    request.state.set_quota(project, {name: value for name, value in values.items() if name in QUOTAS})
    return quota(request, project)


def providers(request):
    return 200, {"providers": [{"name": "amphora", "description": "The stand-in"}]}


V2 = r"/v2(?:\.0)?/lbaas"
ROUTES = [
    ("GET", r"/?", versions),
    ("GET", r"/v2/?", versions),
    ("GET", rf"{V2}/loadbalancers", listed),
    ("POST", rf"{V2}/loadbalancers", create),
    ("GET", rf"{V2}/loadbalancers/([^/]+)", show),
    ("DELETE", rf"{V2}/loadbalancers/([^/]+)", delete),
    ("GET", rf"{V2}/quotas/([^/]+)", quota),
    ("PUT", rf"{V2}/quotas/([^/]+)", set_quota),
    ("GET", rf"{V2}/providers", providers),
]
