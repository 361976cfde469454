"""Pushes a few small images to a registry, in the OCI format, by its HTTP API: registry_seed.py URL"""

import gzip
import hashlib
import io
import json
import sys
import tarfile
import urllib.error
import urllib.parse
import urllib.request

IMAGES = {
    "acme/storefront": ("1.0.0", "1.1.0", "1.2.0", "latest"),
    "acme/checkout": ("2.4.1", "2.5.0"),
    "acme/tools/report": ("2026-11",),
}
CONFIG_TYPE = "application/vnd.oci.image.config.v1+json"
LAYER_TYPE = "application/vnd.oci.image.layer.v1.tar+gzip"
MANIFEST_TYPE = "application/vnd.oci.image.manifest.v1+json"


def digest(data):
    return "sha256:" + hashlib.sha256(data).hexdigest()


def call(method, url, data=None, content_type="application/octet-stream", accept=None):
    request = urllib.request.Request(url, method=method, data=data, headers={"content-type": content_type})
    if accept:
        request.add_header("accept", accept)
    try:
        with urllib.request.urlopen(request, timeout=20) as response:
            return response.status, response.headers
    except urllib.error.HTTPError as error:
        return error.code, error.headers


def expect(answer, status):
    if answer[0] != status:
        sys.exit(f"registry: expected {status}, got {answer[0]}")
    return answer[1]


def push_blob(registry, repository, data):
    base = f"{registry}/v2/{repository}/blobs"
    if call("HEAD", f"{base}/{digest(data)}")[0] == 200:
        return
    location = expect(call("POST", f"{base}/uploads/", data=b""), 202)["location"]
    target = urllib.parse.urljoin(registry, location)
    query = "&" if "?" in target else "?"
    expect(call("PUT", f"{target}{query}digest={urllib.parse.quote(digest(data))}", data=data), 201)


def layer(repository, tag):
    text = f"{repository} {tag}\n".encode()
    plain = io.BytesIO()
    with tarfile.open(fileobj=plain, mode="w") as archive:
        entry = tarfile.TarInfo("etc/release")
        entry.size = len(text)
        archive.addfile(entry, io.BytesIO(text))
    return plain.getvalue()


def push_image(registry, repository, tag):
    plain = layer(repository, tag)
    packed = gzip.compress(plain, mtime=0)
    config = json.dumps({
        "architecture": "amd64", "os": "linux", "created": "2026-01-01T00:00:00Z",
        "config": {"Labels": {"org.opencontainers.image.version": tag}},
        "rootfs": {"type": "layers", "diff_ids": [digest(plain)]},
    }).encode()
    for blob in (packed, config):
        push_blob(registry, repository, blob)
    manifest = json.dumps({
        "schemaVersion": 2, "mediaType": MANIFEST_TYPE,
        "config": {"mediaType": CONFIG_TYPE, "digest": digest(config), "size": len(config)},
        "layers": [{"mediaType": LAYER_TYPE, "digest": digest(packed), "size": len(packed)}],
    }).encode()
    expect(call("PUT", f"{registry}/v2/{repository}/manifests/{tag}", data=manifest, content_type=MANIFEST_TYPE), 201)


def main():
    registry = sys.argv[1]
    for repository, tags in IMAGES.items():
        for tag in tags:
            known = call("HEAD", f"{registry}/v2/{repository}/manifests/{tag}", accept=MANIFEST_TYPE)[0] == 200
            if not known:
                push_image(registry, repository, tag)


main()
