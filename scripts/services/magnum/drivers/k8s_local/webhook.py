"""The token webhook's files for one API server, as `portico init` writes them for the clusters that it knows: a kubeconfig of
kube-auth's address for this cluster, and a client certificate with the URI portico:cluster:<uuid>.
"""

import base64
import json
import os

from cryptography import x509
from cryptography.x509.oid import NameOID

from k8s_local.certificates import Authority, write

INSTALLATION = os.environ.get("PORTICO_INSTALLATION", "")
URL = os.environ.get("PORTICO_KUBE_AUTH_URL", "")


def _read(*path):
    with open(os.path.join(INSTALLATION, *path), "rb") as file:
        return file.read()


def write_files(directory, uuid):
    """Writes the files again if kube-auth's authorities have changed. Returns the API server's flags: none when this stack has
    no installation of Portico."""
    try:
        servers_ca = _read("tls", "ca.crt")
        authority = Authority(_read("ca", "api-servers-ca.crt"), _read("ca", "api-servers-ca.key"))
    except OSError:
        return []
    os.makedirs(directory, exist_ok=True)
    path = os.path.join(directory, "webhook.kubeconfig")
    signed_by = os.path.join(directory, "signed-by.crt")
    wanted = servers_ca + authority.certificate_pem + URL.encode()
    try:
        with open(signed_by, "rb") as file:
            current = file.read() == wanted
    except FileNotFoundError:
        current = False
    if not current:
        uri = [x509.UniformResourceIdentifier(f"portico:cluster:{uuid}")]
        authority.leaf(directory, "portico-webhook", [(NameOID.COMMON_NAME, f"kube-apiserver {uuid}")], ["client"], uri)
        # JSON is YAML
        write(path, json.dumps(_kubeconfig(uuid, servers_ca), indent=2))
        write(signed_by, wanted)
    return [
        f"--authentication-token-webhook-config-file={path}",
        "--authentication-token-webhook-version=v1",
        "--authentication-token-webhook-cache-ttl=10s",
    ]


def _kubeconfig(uuid, servers_ca):
    server = {
        "server": f"{URL}/clusters/{uuid}/tokenreview",
        "certificate-authority-data": base64.b64encode(servers_ca).decode(),
    }
    return {
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [{"name": "portico", "cluster": server}],
        "users": [
            {
                "name": "kube-apiserver",
                "user": {"client-certificate": "portico-webhook.crt", "client-key": "portico-webhook.key"},
            }
        ],
        "contexts": [{"name": "portico", "context": {"cluster": "portico", "user": "kube-apiserver"}}],
        "current-context": "portico",
    }
