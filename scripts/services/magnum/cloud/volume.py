"""Cinder's part: volumes, snapshots, types, limits, quotas (https://docs.openstack.org/api-ref/block-storage/)."""

from cloud import compute
from cloud.request import Refused, now, page

TYPES = [
    {"id": "66666666-6666-4666-8666-666666666661", "name": "standard", "is_public": True, "description": None, "extra_specs": {}},
    {"id": "66666666-6666-4666-8666-666666666662", "name": "fast", "is_public": True, "description": None, "extra_specs": {}},
]
QUOTAS = ("volumes", "snapshots", "gigabytes", "per_volume_gigabytes")


def versions(request):
    link = {"rel": "self", "href": f"{request.base}/volume/v3/"}
    about = {"id": "v3.0", "status": "CURRENT", "version": "3.71", "min_version": "3.0", "links": [link]}
    return 200, {"versions": [about]}


def limits(request, _project):
    quota, used = request.state.quota(request.project), request.state.usage(request.project, compute.FLAVORS)
    absolute = {
        "maxTotalVolumes": quota["volumes"],
        "maxTotalSnapshots": quota["snapshots"],
        "maxTotalVolumeGigabytes": quota["gigabytes"],
        "maxTotalBackups": 10,
        "maxTotalBackupGigabytes": 1000,
        "totalVolumesUsed": used["volumes"],
        "totalGigabytesUsed": used["gigabytes"],
        "totalSnapshotsUsed": used["snapshots"],
        "totalBackupsUsed": 0,
        "totalBackupGigabytesUsed": 0,
    }
    return 200, {"limits": {"rate": [], "absolute": absolute}}


def shown(request, volume):
    return {
        **volume,
        "os-vol-tenant-attr:tenant_id": volume["project_id"],
        "bootable": "false",
        "encrypted": False,
        "multiattach": False,
        "links": [],
        "attachments": volume.get("attachments", []),
    }


def volumes(request, _project):
    return 200, {"volumes": [shown(request, one) for one in page(request, request.state.of("volumes", request.scope))]}


def find(request, collection, identity):
    found = request.state.find(collection, identity, None if request.is_admin else request.project)
    if not found:
        kind = collection[:-1].title()
        raise Refused(404, {"itemNotFound": {"code": 404, "message": f"{kind} {identity} could not be found."}})
    return found


def volume(request, _project, identity):
    return 200, {"volume": shown(request, find(request, "volumes", identity))}


def over_quota(message):
    return Refused(413, {"overLimit": {"code": 413, "message": message, "retryAfter": "0"}})


def create_volume(request, _project):
    request.must_be_member()
    wanted = request.body["volume"]
    quota, used = request.state.quota(request.project), request.state.usage(request.project, compute.FLAVORS)
    if 0 <= quota["volumes"] < used["volumes"] + 1:
        raise over_quota(
            f"VolumeLimitExceeded: Maximum number of volumes allowed ({quota['volumes']}) exceeded for quota 'volumes'."
        )
    if 0 <= quota["gigabytes"] < used["gigabytes"] + wanted["size"]:
        raise over_quota(
            f"VolumeSizeExceedsAvailableQuota: Requested volume or snapshot exceeds allowed gigabytes quota. Requested "
            f"{wanted['size']}G, quota is {quota['gigabytes']}G and {used['gigabytes']}G has been consumed."
        )
    record = {
        "name": wanted.get("name") or "",
        "description": wanted.get("description"),
        "size": wanted["size"],
        "status": wanted.get("status", "available"),
        "volume_type": wanted.get("volume_type") or TYPES[0]["name"],
        "availability_zone": wanted.get("availability_zone") or compute.ZONES[0],
        "metadata": wanted.get("metadata") or {},
        "created_at": now(),
        "updated_at": None,
        "snapshot_id": wanted.get("snapshot_id"),
        "project_id": request.project,
        "user_id": request.user,
    }
    return 202, {"volume": shown(request, request.state.add("volumes", record))}


def delete_volume(request, _project, identity):
    request.must_be_member()
    found = find(request, "volumes", identity)
    if found["status"] == "in-use":
        message = "Invalid volume: Volume status must be available or error or error_restoring and must not be attached."
        raise Refused(400, {"badRequest": {"code": 400, "message": message}})
    request.state.remove("volumes", identity)
    return 202, None


def snapshots(request, _project):
    return 200, {"snapshots": page(request, request.state.of("snapshots", request.scope))}


def create_snapshot(request, _project):
    request.must_be_member()
    wanted = request.body["snapshot"]
    source = find(request, "volumes", wanted["volume_id"])
    record = {
        "name": wanted.get("name") or "",
        "description": wanted.get("description"),
        "volume_id": source["id"],
        "size": source["size"],
        "status": "available",
        "metadata": wanted.get("metadata") or {},
        "created_at": now(),
        "project_id": request.project,
    }
    return 202, {"snapshot": request.state.add("snapshots", record)}


def delete_snapshot(request, _project, identity):
    request.must_be_member()
    find(request, "snapshots", identity)
    request.state.remove("snapshots", identity)
    return 202, None


def types(request, _project):
    return 200, {"volume_types": TYPES}


def zones(request, _project):
    return 200, {"availabilityZoneInfo": [{"zoneName": name, "zoneState": {"available": True}} for name in compute.ZONES]}


def quota(request, _project, project):
    compute.own_project(request, project)
    quota_of, used = request.state.quota(project), request.state.usage(project, compute.FLAVORS)
    if request.query.get("usage") in ("True", "true", "1"):
        values = {name: {"limit": quota_of[name], "in_use": used[name], "reserved": 0} for name in QUOTAS}
    else:
        values = {name: quota_of[name] for name in QUOTAS}
    return 200, {"quota_set": {"id": project, **values}}


def set_quota(request, _project, project):
    request.must_be_admin()
    request.state.set_quota(project, {name: value for name, value in request.body["quota_set"].items() if name in QUOTAS})
    return quota(request, _project, project)


PROJECT = r"/v3/([^/]+)"
ROUTES = [
    ("GET", r"/?", versions),
    ("GET", r"/v3/?", versions),
    ("GET", rf"{PROJECT}/limits", limits),
    ("GET", rf"{PROJECT}/volumes/detail", volumes),
    ("GET", rf"{PROJECT}/volumes", volumes),
    ("POST", rf"{PROJECT}/volumes", create_volume),
    ("GET", rf"{PROJECT}/volumes/([^/]+)", volume),
    ("DELETE", rf"{PROJECT}/volumes/([^/]+)", delete_volume),
    ("GET", rf"{PROJECT}/snapshots/detail", snapshots),
    ("GET", rf"{PROJECT}/snapshots", snapshots),
    ("POST", rf"{PROJECT}/snapshots", create_snapshot),
    ("DELETE", rf"{PROJECT}/snapshots/([^/]+)", delete_snapshot),
    ("GET", rf"{PROJECT}/types", types),
    ("GET", rf"{PROJECT}/os-availability-zone", zones),
    ("GET", rf"{PROJECT}/os-quota-sets/([^/]+)", quota),
    ("PUT", rf"{PROJECT}/os-quota-sets/([^/]+)", set_quota),
]
