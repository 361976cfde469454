"""Neutron's part: networks, subnets, routers, ports, security groups, floating IPs, quotas
(https://docs.openstack.org/api-ref/network/)."""

from cloud import compute
from cloud.request import Refused, now, page

PUBLIC = {
    "id": "33333333-3333-4333-8333-333333333333",
    "name": "public",
    "router:external": True,
    "shared": False,
    "status": "ACTIVE",
    "admin_state_up": True,
    "project_id": "stand-in",
    "tenant_id": "stand-in",
    "subnets": ["33333333-3333-4333-8333-333333333334"],
    "availability_zones": list(compute.ZONES),
    "description": "addresses of 198.18.0.0/16, not routed anywhere",
}
SHARED = {
    **PUBLIC,
    "id": "44444444-4444-4444-8444-444444444444",
    "name": "shared",
    "router:external": False,
    "shared": True,
    "subnets": ["44444444-4444-4444-8444-444444444445"],
    "description": "",
}


def subnet_record(network, identity, name, cidr):
    prefix = cidr.rsplit(".", 1)[0]
    return {
        "id": identity,
        "name": name,
        "network_id": network["id"],
        "project_id": network["project_id"],
        "tenant_id": network["project_id"],
        "cidr": cidr,
        "ip_version": 4,
        "gateway_ip": f"{prefix}.1",
        "enable_dhcp": True,
        "dns_nameservers": [],
        "allocation_pools": [{"start": f"{prefix}.2", "end": f"{prefix}.254"}],
    }


SUBNETS = [
    subnet_record(PUBLIC, PUBLIC["subnets"][0], "public", "198.18.0.0/16"),
    subnet_record(SHARED, SHARED["subnets"][0], "shared", "10.64.0.0/24"),
]
RECORDS = {
    "networks": ("network", "networks"),
    "subnets": ("subnet", "subnets"),
    "routers": ("router", "routers"),
    "ports": ("port", "ports"),
    "security-groups": ("security_group", "security_groups"),
    "floatingips": ("floatingip", "floating_ips"),
}
PROVIDED = {"networks": [PUBLIC, SHARED], "subnets": SUBNETS}


def error(status, kind, message):
    return Refused(status, {"NeutronError": {"type": kind, "message": message, "detail": ""}})


def versions(request):
    link = {"rel": "self", "href": f"{request.base}/network/v2.0/"}
    return 200, {"versions": [{"id": "v2.0", "status": "CURRENT", "links": [link]}]}


def resources(request):
    return 200, {"resources": [{"collection": name, "name": one} for name, (one, _) in RECORDS.items()]}


def extensions(request):
    return 200, {"extensions": [{"alias": name, "name": name} for name in ("external-net", "router", "quotas", "quota_details")]}


def default_group(request):
    return {
        "id": f"{request.project[:8]}-0000-4000-8000-000000000000",
        "name": "default",
        "description": "Default security group",
        "project_id": request.project,
        "tenant_id": request.project,
        "security_group_rules": [],
    }


def matches(record, name, wanted):
    value = record.get(name)
    if isinstance(value, bool):
        return str(value).lower() == wanted.lower()
    return str(value) == wanted


def records(request, kind):
    _, collection = RECORDS[kind]
    found = [*PROVIDED.get(kind, []), *request.state.of(collection, None if request.is_admin else request.project)]
    if kind == "security-groups":
        found.append(default_group(request))
    for name, wanted in request.query.items():
        if name not in ("limit", "marker", "fields", "sort_key", "sort_dir", "page_reverse"):
            found = [one for one in found if matches(one, name, wanted)]
    return found


def listed(request, kind):
    return 200, {RECORDS[kind][1].replace("floating_ips", "floatingips"): page(request, records(request, kind))}


def find(request, kind, identity):
    request.query = {}
    for one in records(request, kind):
        if one["id"] == identity:
            return one
    singular = RECORDS[kind][0]
    raise error(404, f"{singular.title()}NotFound", f"{singular.title()} {identity} could not be found.")


def show(request, kind, identity):
    return 200, {RECORDS[kind][0]: find(request, kind, identity)}


def create(request, kind):
    request.must_be_member()
    singular, collection = RECORDS[kind]
    quota, used = request.state.quota(request.project), request.state.usage(request.project, compute.FLAVORS)
    if 0 <= quota[singular] < used[singular] + 1:
        raise error(409, "OverQuota", f"Quota exceeded for resources: ['{singular}'].")
    owner = {"project_id": request.project, "tenant_id": request.project}
    record = {"status": "ACTIVE", "name": "", "description": "", "created_at": now(), **request.body[singular], **owner}
    if kind == "floatingips":
        record.setdefault("floating_network_id", PUBLIC["id"])
        record.setdefault("port_id", None)
        record.setdefault("fixed_ip_address", None)
        record["floating_ip_address"] = request.state.address("198.18")
        record["status"] = "ACTIVE" if record["port_id"] else "DOWN"
    if kind == "networks":
        record.update({"router:external": False, "shared": False, "admin_state_up": True})
        record.setdefault("subnets", [])
    if kind == "subnets":
        network = find(request, "networks", record["network_id"])
        record = {**subnet_record(network, None, record["name"], record["cidr"]), **record}
        record.pop("id")
    record = request.state.add(collection, record)
    if kind == "subnets":
        network["subnets"].append(record["id"])
        request.state.save()
    return 201, {singular: record}


def update(request, kind, identity):
    request.must_be_member()
    find(request, kind, identity).update(request.body[RECORDS[kind][0]])
    request.state.save()
    return show(request, kind, identity)


def delete(request, kind, identity):
    request.must_be_member()
    found = find(request, kind, identity)
    if kind == "security-groups":
        users = [one["id"] for one in request.state.of("ports") if identity in one.get("security_groups", [])]
        if users:
            raise error(409, "SecurityGroupInUse", f"Security Group {identity} in use.")
    if kind == "networks":
        ports = [one["id"] for one in request.state.of("ports") if one.get("network_id") == identity]
        if ports:
            message = (
                f"Unable to complete operation on network {identity}. There are one or more ports still in use on the network."
            )
            raise error(409, "NetworkInUse", message)
        for subnet in found.get("subnets", []):
            request.state.remove("subnets", subnet)
    request.state.remove(RECORDS[kind][1], identity)
    return 204, None


QUOTAS = ("network", "subnet", "router", "port", "floatingip", "security_group", "security_group_rule")


def quota(request, project):
    compute.own_project(request, project)
    limits = request.state.quota(project)
    return 200, {"quota": {name: limits[name] for name in QUOTAS}}


def quota_details(request, project):
    compute.own_project(request, project)
    limits, used = request.state.quota(project), request.state.usage(project, compute.FLAVORS)
    return 200, {"quota": {name: {"limit": limits[name], "used": used[name], "reserved": 0} for name in QUOTAS}}


def set_quota(request, project):
    request.must_be_admin()
    request.state.set_quota(project, {name: value for name, value in request.body["quota"].items() if name in QUOTAS})
    return quota(request, project)


def zones(request):
    available = [{"name": name, "state": "available", "resource": "network"} for name in compute.ZONES]
    return 200, {"availability_zones": available}


KINDS = "(" + "|".join(RECORDS) + ")"
ROUTES = [
    ("GET", r"/?", versions),
    ("GET", r"/v2\.0/?", resources),
    ("GET", r"/v2\.0/extensions", extensions),
    ("GET", r"/v2\.0/availability_zones", zones),
    ("GET", r"/v2\.0/quotas/([^/]+)", quota),
    ("GET", r"/v2\.0/quotas/([^/]+)/details\.json", quota_details),
    ("GET", r"/v2\.0/quotas/([^/]+)/details", quota_details),
    ("PUT", r"/v2\.0/quotas/([^/]+)", set_quota),
    ("GET", rf"/v2\.0/{KINDS}", listed),
    ("POST", rf"/v2\.0/{KINDS}", create),
    ("GET", rf"/v2\.0/{KINDS}/([^/]+)", show),
    ("PUT", rf"/v2\.0/{KINDS}/([^/]+)", update),
    ("DELETE", rf"/v2\.0/{KINDS}/([^/]+)", delete),
]
