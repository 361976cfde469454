"""Glance's part: images (https://docs.openstack.org/api-ref/image/). `magnum_driver` is a property that Magnum reads."""

from cloud.request import Refused, page


def image(number, name, **properties):
    return {
        "id": f"1111111{number}-1111-4111-8111-111111111111",
        "name": name,
        "status": "active",
        "visibility": "public",
        "protected": False,
        "os_hidden": False,
        "owner": "stand-in",
        "disk_format": "qcow2",
        "container_format": "bare",
        "size": 2147483648,
        "virtual_size": None,
        "min_disk": 10,
        "min_ram": 1024,
        "checksum": None,
        "tags": [],
        "created_at": "2026-01-15T08:00:00Z",
        "updated_at": "2026-01-15T08:00:00Z",
        "self": f"/v2/images/1111111{number}-1111-4111-8111-111111111111",
        "file": "",
        "schema": "/v2/schemas/image",
        **properties,
    }


IMAGES = [
    image(1, "ubuntu-24.04-kube-v1.31.4", os_distro="ubuntu", os_version="24.04", kube_version="v1.31.4"),
    image(2, "ubuntu-24.04-kube-v1.32.1", os_distro="ubuntu", os_version="24.04", kube_version="v1.32.1"),
    image(3, "fedora-coreos-40", os_distro="fedora-coreos", os_version="40"),
    image(4, "kubernetes-local", os_distro="ubuntu", os_version="24.04", kube_version="v1.20.2"),
    image(5, "no-distro"),
]


def versions(request):
    link = {"rel": "self", "href": f"{request.base}/image/v2/"}
    return 200, {"versions": [{"id": "v2.16", "status": "CURRENT", "links": [link]}]}


def images(request):
    found = IMAGES
    for name in ("name", "os_distro", "visibility", "status"):
        if name in request.query:
            found = [one for one in found if one.get(name) == request.query[name]]
    return 200, {"images": page(request, found), "schema": "/v2/schemas/images", "first": "/v2/images"}


def show(request, identity):
    for one in IMAGES:
        if one["id"] == identity:
            return 200, one
    raise Refused(404, {"code": 404, "title": "Not Found", "message": f"No image found with ID {identity}"})


ROUTES = [
    ("GET", r"/?", versions),
    ("GET", r"/v2/images", images),
    ("GET", r"/v2/images/([^/]+)", show),
]
