"""Seeds Keystone with the demo's projects, roles and users. Run again it adds what is missing; a role that was taken away
since stays away.

    keystone_seed.py URL ADMIN_PASSWORD_FILE USER_PASSWORD_FILE SEED_JSON
    keystone_seed.py --print-env SEED_JSON

With OIDC_ISSUER in the environment, people of that OpenID Connect provider may sign in by federation; their groups are
those of Keystone with the same name.
"""

import base64
import json
import os
import secrets
import sys
import urllib.error
import urllib.parse
import urllib.request

PROJECTS = ("acme", "globex")
ROLES = ("k8s_admin", "k8s_developer", "k8s_viewer")
USERS = {
    "ada": [("acme", "k8s_admin")],
    "devi": [("acme", "k8s_developer"), ("globex", "k8s_viewer")],
    "vera": [("acme", "k8s_viewer")],
    "nora": [("acme", "member")],
    "otto": [("globex", "k8s_admin")],
    "mia": [("acme", "k8s_developer")],
}
WITH_TOTP = ("mia",)
GROUPS = {
    "k8s-admins": [("acme", "k8s_admin")],
    "developers": [("acme", "k8s_developer"), ("globex", "k8s_viewer")],
}
IDENTITY_PROVIDER = "op"
PROTOCOL = "openid"
MAPPING = "op"


class Keystone:
    def __init__(self, url, password):
        self.url = url
        self.token = None
        user = {"name": "admin", "domain": {"id": "default"}, "password": password}
        scope = {"project": {"name": "admin", "domain": {"id": "default"}}}
        identity = {"methods": ["password"], "password": {"user": user}}
        headers, _ = self.call("POST", "/auth/tokens", {"auth": {"identity": identity, "scope": scope}})
        self.token = headers["x-subject-token"]

    def call(self, method, path, body=None):
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(self.url + path, method=method, data=data)
        request.add_header("content-type", "application/json")
        if self.token:
            request.add_header("x-auth-token", self.token)
        try:
            with urllib.request.urlopen(request, timeout=20) as response:
                answer = response.read()
                return response.headers, json.loads(answer) if answer else None
        except urllib.error.HTTPError as error:
            sys.exit(f"keystone: {method} {path} answered {error.code}")

    def find(self, collection, **query):
        found = self.call("GET", f"/{collection}?{urllib.parse.urlencode(query)}")[1][collection]
        return found[0] if found else None

    def ensure(self, kind, query, extra=None):
        collection = kind + "s"
        return self.find(collection, **query) or self.call("POST", f"/{collection}", {kind: {**query, **(extra or {})}})[1][kind]


def ensure_totp(keystone, user_id):
    """Gives a user a TOTP secret and asks for it at each sign-in; returns the secret (base32)."""
    credential = keystone.find("credentials", user_id=user_id, type="totp")
    if credential is None:
        blob = base64.b32encode(secrets.token_bytes(20)).decode()
        body = {"type": "totp", "user_id": user_id, "blob": blob}
        credential = keystone.call("POST", "/credentials", {"credential": body})[1]["credential"]
    options = {"multi_factor_auth_enabled": True, "multi_factor_auth_rules": [["password", "totp"]]}
    keystone.call("PATCH", f"/users/{user_id}", {"user": {"options": options}})
    return credential["blob"]


def ensure_federation(keystone, issuer):
    """Trusts an OpenID Connect provider, as a web server in front of Keystone passes on what it says (mod_auth_openidc)."""
    provider = f"/OS-FEDERATION/identity_providers/{IDENTITY_PROVIDER}"
    trusted = {"identity_provider": {"remote_ids": [issuer], "enabled": True}}
    known = [one["id"] for one in keystone.call("GET", "/OS-FEDERATION/identity_providers")[1]["identity_providers"]]
    keystone.call("PATCH" if IDENTITY_PROVIDER in known else "PUT", provider, trusted)
    rules = [
        {
            "local": [
                {"user": {"name": "{0}", "email": "{1}"}},
                {"groups": "{2}", "domain": {"id": "default"}},
            ],
            "remote": [
                {"type": "HTTP_OIDC_CLAIM_PREFERRED_USERNAME"},
                {"type": "HTTP_OIDC_CLAIM_EMAIL"},
                {"type": "HTTP_OIDC_CLAIM_GROUPS", "whitelist": sorted(GROUPS)},
                {"type": "HTTP_OIDC_ISS", "any_one_of": [issuer]},
            ],
        }
    ]
    known = [one["id"] for one in keystone.call("GET", "/OS-FEDERATION/mappings")[1]["mappings"]]
    keystone.call("PATCH" if MAPPING in known else "PUT", f"/OS-FEDERATION/mappings/{MAPPING}", {"mapping": {"rules": rules}})
    known = [one["id"] for one in keystone.call("GET", f"{provider}/protocols")[1]["protocols"]]
    protocol = {"protocol": {"mapping_id": MAPPING}}
    keystone.call("PATCH" if PROTOCOL in known else "PUT", f"{provider}/protocols/{PROTOCOL}", protocol)


def seed(url, admin_password, user_password, before, issuer):
    keystone = Keystone(url, admin_password)
    out = {"url": url, "projects": {}, "roles": {}, "users": {}, "groups": {}, "totp": {}}
    for name in PROJECTS:
        project = keystone.ensure("project", {"name": name, "domain_id": "default"})
        out["projects"][name] = project["id"]
    for name in ("member", *ROLES):
        out["roles"][name] = keystone.ensure("role", {"name": name})["id"]
    for name, grants in USERS.items():
        about = {"password": user_password, "email": f"{name}@example.test"}
        user_id = keystone.ensure("user", {"name": name, "domain_id": "default"}, about)["id"]
        out["users"][name] = user_id
        if not before:
            for project, role in grants:
                path = f"/projects/{out['projects'][project]}/users/{user_id}/roles/{out['roles'][role]}"
                keystone.call("PUT", path)
        if name in WITH_TOTP:
            out["totp"][name] = ensure_totp(keystone, user_id)
    if issuer:
        for name, grants in GROUPS.items():
            group_id = keystone.ensure("group", {"name": name, "domain_id": "default"})["id"]
            out["groups"][name] = group_id
            if name not in before.get("groups", {}):
                for project, role in grants:
                    path = f"/projects/{out['projects'][project]}/groups/{group_id}/roles/{out['roles'][role]}"
                    keystone.call("PUT", path)
        ensure_federation(keystone, issuer)
        out["federation"] = {"identity_provider": IDENTITY_PROVIDER, "protocol": PROTOCOL, "issuer": issuer}
    return out


def print_env(out):
    for name, value in out["projects"].items():
        print(f"PROJECT_ID_{name.upper()}={value}")
    for name, value in out["roles"].items():
        print(f"ROLE_ID_{name.upper()}={value}")
    for name, value in out["users"].items():
        print(f"USER_ID_{name.upper()}={value}")
    for name, value in out["totp"].items():
        print(f"TOTP_SECRET_{name.upper()}={value}")
    for name, value in out["groups"].items():
        print(f"GROUP_ID_{name.upper().replace('-', '_')}={value}")
    for name, value in out.get("federation", {}).items():
        print(f"FEDERATION_{name.upper()}={value}")


def read(path):
    with open(path, encoding="utf-8") as file:
        return file.read().strip()


def main():
    if len(sys.argv) == 3 and sys.argv[1] == "--print-env":
        print_env(json.loads(read(sys.argv[2])))
    elif len(sys.argv) == 5:
        url, admin_file, user_file, target = sys.argv[1:]
        before = json.loads(read(target)) if os.path.exists(target) else {}
        out = seed(url, read(admin_file), read(user_file), before, os.environ.get("OIDC_ISSUER"))
        with open(os.open(target + ".new", os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w", encoding="utf-8") as file:
            json.dump(out, file, indent=2)
        os.replace(target + ".new", target)
    else:
        sys.exit(__doc__)


if __name__ == "__main__":
    main()
