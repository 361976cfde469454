"""Nova's part: flavors, keypairs, servers, limits, quotas, zones (https://docs.openstack.org/api-ref/compute/)."""

from cloud.request import Refused, now, page

SIZES = {
    "m1.tiny": (1, 1024, 10),
    "m1.small": (1, 2048, 20),
    "m1.medium": (2, 4096, 40),
    "m1.large": (4, 8192, 80),
    "m1.xlarge": (8, 16384, 160),
    "c1.8xlarge": (32, 65536, 200),
}
FLAVORS = {
    str(number): {
        "id": str(number),
        "name": name,
        "vcpus": vcpus,
        "ram": ram,
        "disk": disk,
        "links": [],
        "swap": 0,
        "rxtx_factor": 1.0,
        "OS-FLV-EXT-DATA:ephemeral": 0,
        "OS-FLV-DISABLED:disabled": False,
        "os-flavor-access:is_public": True,
        "description": None,
        "extra_specs": {},
    }
    for number, (name, (vcpus, ram, disk)) in enumerate(SIZES.items(), 1)
}
ZONES = ("zone-1", "zone-2")
PUBLIC_KEY = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIE9wc0tleU9mVGhlU3RhbmRJbkNsb3VkMDAwMDAwMDA= ops"


def version(request):
    link = {"rel": "self", "href": f"{request.base}/compute/v2.1/"}
    about = {"id": "v2.1", "status": "CURRENT", "version": "2.96", "min_version": "2.1", "links": [link]}
    return 200, {"version": about}


def flavor_by(reference):
    for flavor in FLAVORS.values():
        if reference in (flavor["id"], flavor["name"]):
            return flavor
    raise Refused(400, {"badRequest": {"code": 400, "message": f"Flavor {reference} could not be found."}})


def flavors(request):
    return 200, {"flavors": page(request, FLAVORS.values())}


def flavor(request, identity):
    if identity not in FLAVORS:
        raise not_found(f"Flavor {identity} could not be found.")
    return 200, {"flavor": FLAVORS[identity]}


def not_found(message):
    return Refused(404, {"itemNotFound": {"code": 404, "message": message}})


# Nova's keypairs belong to users; each user of the stand-in has one called ops
def keypairs_of(request):
    own = request.state.data["keypairs"].setdefault(request.user, {})
    if not own:
        own["ops"] = {"name": "ops", "type": "ssh", "fingerprint": "6e:4d:21:10:ac:33", "public_key": PUBLIC_KEY}
    return own


def keypairs(request):
    return 200, {"keypairs": [{"keypair": one} for one in page(request, keypairs_of(request).values(), "name")]}


def keypair(request, name):
    found = keypairs_of(request).get(name)
    if not found:
        raise not_found(f"Keypair {name} not found for user {request.user}")
    return 200, {"keypair": {**found, "user_id": request.user, "created_at": now(), "id": 1}}


def create_keypair(request):
    wanted = request.body["keypair"]
    own = keypairs_of(request)
    if wanted["name"] in own:
        message = f"Key pair '{wanted['name']}' already exists."
        raise Refused(409, {"conflictingRequest": {"code": 409, "message": message}})
    own[wanted["name"]] = {
        "name": wanted["name"],
        "type": wanted.get("type", "ssh"),
        "fingerprint": "00:00:00:00:00:00",
        "public_key": wanted.get("public_key", PUBLIC_KEY),
    }
    request.state.save()
    return 201, {"keypair": {**own[wanted["name"]], "user_id": request.user}}


def delete_keypair(request, name):
    keypair(request, name)
    del request.state.data["keypairs"][request.user][name]
    request.state.save()
    return 204, None


def shown(server):
    size = FLAVORS[server["flavor"]]
    return {
        "id": server["id"],
        "name": server["name"],
        "status": server["status"],
        "tenant_id": server["project_id"],
        "user_id": server["user_id"],
        "created": server["created"],
        "updated": server["created"],
        "metadata": server["metadata"],
        "key_name": server.get("key_name"),
        "image": {"id": server["image"], "links": []} if server.get("image") else "",
        "flavor": {
            "vcpus": size["vcpus"],
            "ram": size["ram"],
            "disk": size["disk"],
            "original_name": size["name"],
            "ephemeral": 0,
            "swap": 0,
            "extra_specs": {},
        },
        "addresses": {
            server["network"]: [{"addr": server["address"], "version": 4, "OS-EXT-IPS:type": "fixed"}],
        },
        "OS-EXT-AZ:availability_zone": server["zone"],
        "OS-EXT-STS:vm_state": server["status"].lower(),
        "OS-EXT-STS:task_state": None,
        "OS-EXT-STS:power_state": 1,
        "os-extended-volumes:volumes_attached": [],
        "security_groups": [],
        "fault": server.get("fault"),
        "links": [],
    }


def servers_detail(request):
    found = request.state.of("servers", request.scope)
    if "name" in request.query:
        found = [one for one in found if request.query["name"] in one["name"]]
    return 200, {"servers": [shown(one) for one in page(request, found)]}


def servers(request):
    _, body = servers_detail(request)
    return 200, {"servers": [{"id": one["id"], "name": one["name"], "links": []} for one in body["servers"]]}


def server(request, identity):
    found = request.state.find("servers", identity, None if request.is_admin else request.project)
    if not found:
        raise not_found(f"Instance {identity} could not be found.")
    return 200, {"server": shown(found)}


def ensure_room(request, wanted):
    """Refuses, with Nova's words, what would exceed a quota; the first in Nova's order is named."""
    limits = request.state.quota(request.project)
    used = request.state.usage(request.project, FLAVORS)
    for name, amount in wanted.items():
        if 0 <= limits[name] < used[name] + amount:
            message = f"Quota exceeded for {name}: Requested {amount}, but already used {used[name]} of {limits[name]} {name}"
            raise Refused(403, {"forbidden": {"code": 403, "message": message}})


def create_server(request):
    request.must_be_member()
    wanted = request.body["server"]
    size = flavor_by(wanted["flavorRef"])
    ensure_room(request, {"cores": size["vcpus"], "instances": 1, "ram": size["ram"]})
    record = {
        "name": wanted["name"],
        "project_id": request.project,
        "user_id": request.user,
        "status": "ACTIVE",
        "created": now(),
        "flavor": size["id"],
        "image": wanted.get("imageRef"),
        "key_name": wanted.get("key_name"),
        "metadata": wanted.get("metadata") or {},
        "zone": wanted.get("availability_zone") or ZONES[0],
        "network": wanted.get("network") or "private",
        "address": request.state.address("10.0"),
    }
    return 202, {"server": shown(request.state.add("servers", record))}


def delete_server(request, identity):
    request.must_be_member()
    server(request, identity)
    request.state.remove("servers", identity)
    return 204, None


def limits(request):
    quota = request.state.quota(request.project)
    used = request.state.usage(request.project, FLAVORS)
    absolute = {
        "maxTotalCores": quota["cores"],
        "maxTotalInstances": quota["instances"],
        "maxTotalRAMSize": quota["ram"],
        "maxTotalKeypairs": quota["key_pairs"],
        "maxServerGroups": quota["server_groups"],
        "maxServerGroupMembers": quota["server_group_members"],
        "maxServerMeta": 128,
        "totalCoresUsed": used["cores"],
        "totalInstancesUsed": used["instances"],
        "totalRAMUsed": used["ram"],
        "totalServerGroupsUsed": 0,
    }
    return 200, {"limits": {"rate": [], "absolute": absolute}}


NAMES = ("instances", "cores", "ram", "key_pairs", "server_groups", "server_group_members")


def own_project(request, project):
    if project != request.project:
        request.must_be_admin()


def quota(request, project):
    own_project(request, project)
    limits_of = request.state.quota(project)
    return 200, {"quota_set": {"id": project, **{name: limits_of[name] for name in NAMES}}}


def quota_detail(request, project):
    own_project(request, project)
    limits_of = request.state.quota(project)
    used = request.state.usage(project, FLAVORS)
    detail = {name: {"limit": limits_of[name], "in_use": used[name], "reserved": 0} for name in NAMES}
    return 200, {"quota_set": {"id": project, **detail}}


def set_quota(request, project):
    request.must_be_admin()
    values = {name: value for name, value in request.body["quota_set"].items() if name in NAMES}
    request.state.set_quota(project, values)
    return quota(request, project)


def zones(request):
    available = [{"zoneName": name, "zoneState": {"available": True}, "hosts": None} for name in ZONES]
    return 200, {"availabilityZoneInfo": available}


def server_groups(request):
    return 200, {"server_groups": []}


ROUTES = [
    ("GET", r"/v2\.1/?", version),
    ("GET", r"/v2\.1/flavors/detail", flavors),
    ("GET", r"/v2\.1/flavors", flavors),
    ("GET", r"/v2\.1/flavors/([^/]+)", flavor),
    ("GET", r"/v2\.1/os-keypairs", keypairs),
    ("POST", r"/v2\.1/os-keypairs", create_keypair),
    ("GET", r"/v2\.1/os-keypairs/([^/]+)", keypair),
    ("DELETE", r"/v2\.1/os-keypairs/([^/]+)", delete_keypair),
    ("GET", r"/v2\.1/servers/detail", servers_detail),
    ("GET", r"/v2\.1/servers", servers),
    ("POST", r"/v2\.1/servers", create_server),
    ("GET", r"/v2\.1/servers/([^/]+)", server),
    ("DELETE", r"/v2\.1/servers/([^/]+)", delete_server),
    ("GET", r"/v2\.1/limits", limits),
    ("GET", r"/v2\.1/os-quota-sets/([^/]+)", quota),
    ("GET", r"/v2\.1/os-quota-sets/([^/]+)/detail", quota_detail),
    ("PUT", r"/v2\.1/os-quota-sets/([^/]+)", set_quota),
    ("GET", r"/v2\.1/os-availability-zone", zones),
    ("GET", r"/v2\.1/os-server-groups", server_groups),
]
