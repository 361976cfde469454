#!/usr/bin/env python3
"""recorded_api.py DEFINITIONS_WHEEL CLIENT_WHEEL DIRECTORY: writes the recorded OpenAPI definitions and discovery of a
current Kubernetes release, with which tests read what the stack's Kubernetes 1.20 does not have.

    pip download --no-deps --dest WHEELS kubernetes-validate==1.37.0 kubernetes==37.0.2
    scripts/kubernetes/recorded_api.py WHEELS/kubernetes_validate-*.whl WHEELS/kubernetes-*.whl server/tests/data/kubernetes-1.37

Both packages are generated from the OpenAPI document of that release. kubernetes-validate has its definitions as JSON schemas:
what it added for JSON Schema is taken out again. The official client has a method for each path and verb: discovery is made of
these. What neither has (short names, categories, subresources' verbs) is left out."""
import json
import re
import sys
import zipfile

RELEASE = "v1.37.0"
ROOTS = [
    "io.k8s.api.apps.v1.Deployment",
    "io.k8s.api.autoscaling.v2.HorizontalPodAutoscaler",
    "io.k8s.api.batch.v1.CronJob",
    "io.k8s.api.networking.v1.Ingress",
    "io.k8s.api.policy.v1.PodDisruptionBudget",
]
INT_OR_STRING = "io.k8s.apimachinery.pkg.util.intstr.IntOrString"
QUANTITY = "io.k8s.apimachinery.pkg.api.resource.Quantity"
GROUP_VERSION_KIND = "x-kubernetes-group-version-kind"
VERBS = {
    ("GET", True): ["get"], ("PUT", True): ["update"], ("PATCH", True): ["patch"], ("DELETE", True): ["delete"],
    ("GET", False): ["list", "watch"], ("POST", False): ["create"], ("DELETE", False): ["deletecollection"],
}
METHOD = re.compile(r"_response_types_map: [^\n]*\n\s*'200': \"(?P<type>\w+)\"|method='(?P<method>\w+)',\s*resource_path='(?P<path>[^']+)'")
PATH = re.compile(r"/(?:api|apis/(?P<group>[^/]+))/(?P<version>[^/]+)/(?P<namespace>namespaces/\{namespace\}/)?(?P<plural>[^/{]+)(?P<name>/\{name\})?")


def restored(schema):
    """A schema as in the OpenAPI document: without null as a type, and with references among definitions."""
    if isinstance(schema, list):
        return [restored(part) for part in schema]
    if not isinstance(schema, dict):
        return schema
    result = {}
    for keyword, value in schema.items():
        if keyword == "properties":
            result[keyword] = {name: restored(part) for name, part in value.items()}
        elif keyword == "type" and isinstance(value, list):
            [result[keyword]] = [name for name in value if name != "null"]
        elif keyword == "enum":
            result[keyword] = [choice for choice in value if choice is not None]
        elif keyword == "$ref":
            result[keyword] = value.replace("#/$defs/", "#/definitions/")
        else:
            result[keyword] = restored(value)
    return result


def read_definitions(wheel):
    name = f"kubernetes_validate/kubernetes-json-schema/{RELEASE}-local/_definitions.json"
    definitions = {name: restored(schema) for name, schema in json.loads(wheel.read(name))["$defs"].items()}
    for schema in definitions.values():
        # the package fixes them to the values of the kind
        for field in ("apiVersion", "kind"):
            if GROUP_VERSION_KIND in schema and isinstance(schema.get("properties", {}).get(field), dict):
                schema["properties"][field].pop("enum", None)
    definitions[INT_OR_STRING] = {"type": "string", "format": "int-or-string"}
    definitions[QUANTITY] = {"type": "string"}
    return definitions


def references(schema):
    if isinstance(schema, list):
        return {name for part in schema for name in references(part)}
    if not isinstance(schema, dict):
        return set()
    own = schema.get("$ref")
    found = {own.rsplit("/", 1)[1]} if isinstance(own, str) else set()
    return found | {name for part in schema.values() for name in references(part)}


def reachable(definitions, roots):
    found, queue = set(), list(roots)
    while queue:
        name = queue.pop()
        if name not in found:
            found.add(name)
            queue.extend(references(definitions[name]))
    return {name: definitions[name] for name in sorted(found)}


def kinds_of(definitions):
    """Group and version to the kinds of the definitions."""
    found = {}
    for schema in definitions.values():
        for entry in schema.get(GROUP_VERSION_KIND, []):
            found.setdefault((entry["group"], entry["version"]), set()).add(entry["kind"])
    return found


def read_resources(wheel, kinds):
    """Group, version and plural to kind, scope and verbs."""
    found = {}
    for file in sorted(wheel.namelist()):
        if not re.fullmatch(r"kubernetes/client/api/\w+_api\.py", file):
            continue
        answer = None
        for match in METHOD.finditer(wheel.read(file).decode()):
            if match["type"]:
                answer = match["type"]
                continue
            path = PATH.fullmatch(match["path"])
            if not path or "/watch/" in match["path"]:
                continue
            key = (path["group"] or "", path["version"], path["plural"])
            entry = found.setdefault(key, {"kind": "", "namespaced": False, "verbs": set()})
            entry["namespaced"] |= bool(path["namespace"])
            verb = VERBS.get((match["method"], bool(path["name"])), [])
            entry["verbs"].update(verb)
            if "get" in verb or ("create" in verb and not entry["kind"]):
                named = [kind for kind in kinds.get(key[:2], ()) if answer and answer.endswith(kind)]
                entry["kind"] = max(named, key=len, default="")
    return {key: entry for key, entry in found.items() if entry["kind"]}


def priority(version):
    """The order in which an API server lists versions: stable before beta before alpha, newer before older."""
    major, stage, minor = re.fullmatch(r"v(\d+)(?:(alpha|beta)(\d+))?", version).groups()
    return ({None: 0, "beta": 1, "alpha": 2}[stage], -int(major), -int(minor or 0))


def discovery(resources, groups):
    items = []
    for group in groups:
        versions = sorted({version for name, version, _ in resources if name == group}, key=priority)
        items.append({"metadata": {"name": group} if group else {}, "versions": [
            {"version": version, "resources": [
                {
                    "resource": plural,
                    "responseKind": {"group": group, "version": version, "kind": entry["kind"]},
                    "scope": "Namespaced" if entry["namespaced"] else "Cluster",
                    "verbs": sorted(entry["verbs"]),
                }
                for (name, of, plural), entry in sorted(resources.items()) if (name, of) == (group, version)
            ]}
            for version in versions
        ]})
    return {"kind": "APIGroupDiscoveryList", "apiVersion": "apidiscovery.k8s.io/v2", "metadata": {}, "items": items}


def write(file, value):
    with open(file, "w", encoding="utf-8") as out:
        json.dump(value, out, separators=(",", ":"), sort_keys=True, ensure_ascii=False)
        out.write("\n")


def main():
    definitions_wheel, client_wheel, directory = sys.argv[1:]
    definitions = read_definitions(zipfile.ZipFile(definitions_wheel))
    resources = read_resources(zipfile.ZipFile(client_wheel), kinds_of(definitions))
    groups = sorted({group for group, _, _ in resources} - {""})
    write(f"{directory}/openapi.json", {
        "swagger": "2.0",
        "info": {"title": "Kubernetes", "version": RELEASE},
        "definitions": reachable(definitions, ROOTS),
    })
    write(f"{directory}/api.json", discovery(resources, [""]))
    write(f"{directory}/apis.json", discovery(resources, groups))


main()
