#!/usr/bin/env python3
"""reference.py PORTICO [--check]: writes docs/reference from the program itself: the configuration's keys from
`config schema`, the fields of the cluster file from `cluster schema`, the commands from their --help. With --check it
only says whether the files are up to date."""
import json
import pathlib
import subprocess
import sys

EFFECTS = {None: "restart", "reload": "reload", "file": "restart; its content: reload"}
REFERENCE = pathlib.Path(__file__).resolve().parent.parent / "docs/reference"
MADE = "<!-- Made from the program by scripts/reference.py; change the program's own texts instead. -->\n\n"


def run(program, *arguments):
    environment = {"PATH": "/usr/bin:/bin", "COLUMNS": "100", "NO_COLOR": "1"}
    return subprocess.run([program, *arguments], env=environment, check=True, capture_output=True, text=True).stdout


def text(schema):
    return " ".join(schema.get("description", "").split()).replace("|", "\\|")


class Schema:
    def __init__(self, schema):
        self.root = schema
        self.lines = []

    def resolve(self, schema):
        """Follows references and options to the schema that has the content; keeps the nearest description."""
        description = schema.get("description")
        while True:
            if "$ref" in schema:
                schema = self.root["$defs"][schema["$ref"].rsplit("/", 1)[1]]
            elif "allOf" in schema and len(schema["allOf"]) == 1:
                schema = schema["allOf"][0]
            elif "anyOf" in schema:
                schema = next(choice for choice in schema["anyOf"] if choice.get("type") != "null")
            else:
                return {**schema, "description": description or schema.get("description", "")}

    def kind(self, schema):
        resolved = self.resolve(schema)
        values = resolved.get("enum") or [choice["const"] for choice in resolved.get("oneOf", []) if "const" in choice]
        if values:
            return " or ".join(f"`{json.dumps(value)}`" for value in values)
        kind = resolved.get("type", "value")
        if isinstance(kind, list):
            kind = next(name for name in kind if name != "null")
        if kind == "array":
            return f"list of {self.kind(resolved.get('items', {}))}"
        return {"object": self.OBJECT, "boolean": "true or false", "integer": "number"}.get(kind, kind)


class Configuration(Schema):
    OBJECT = "table"

    def section(self, name, schema, many=False):
        resolved = self.resolve(schema)
        heading = f"[[{name}]]" if many else f"[{name}]"
        self.lines += [f"## `{heading}`", ""]
        if resolved.get("description"):
            description = " ".join(resolved["description"].split()).split("]`: ", 1)[-1]
            self.lines += [description[0].upper() + description[1:], ""]
        self.lines += ["| Key | Value | Default | Takes effect | Meaning |", "|---|---|---|---|---|"]
        below = []
        for key, value in sorted(resolved.get("properties", {}).items()):
            inner = self.resolve(value)
            if inner.get("type") == "object" and "properties" in inner:
                below.append((f"{name}.{key}", value, False))
                continue
            items = self.resolve(inner["items"]) if "items" in inner else {}
            if "properties" in items:
                below.append((f"{name}.{key}", inner["items"], True))
            default = "required" if key in resolved.get("required", []) else json.dumps(value.get("default", "")) or ""
            default = default if default == "required" else ("" if default in ('""', "null") else f"`{default}`")
            self.lines.append(f"| `{key}` | {self.kind(value)} | {default} | {EFFECTS[value.get('x-portico-takes-effect')]} | {text({'description': inner.get('description', '')})} |")
        self.lines.append("")
        for part in below:
            self.section(*part)

    def page(self):
        self.lines = [
            "# Configuration",
            "",
            "TOML files, then the environment (`PORTICO_GATEWAY__LISTEN` is `listen` in `[gateway]`). Unknown keys are errors. "
            "A list in a variable is written `a,b` or `[\"a\", \"b\"]`; `[[apps]]` and `[[clusters]]` are written in files only. "
            "Relative paths start at the file that names them. `portico config check` tells what is wrong; "
            "`portico config schema` prints the same as JSON Schema, for editors.",
            "",
            "*Takes effect* says when a change of the key counts. `restart`: at the next start. `reload`: within seconds, and at "
            "once on SIGHUP. `restart; its content: reload`: another file name counts at the next start, other content of the "
            "file within seconds. After SIGHUP the log names each changed key that waits for a restart, and what was read again.",
            "",
        ]
        for name, schema in sorted(self.root["properties"].items()):
            resolved = self.resolve(schema)
            many = resolved.get("type") == "array"
            self.section(name, resolved["items"] if many else schema, many)
        return MADE + "\n".join(self.lines).rstrip() + "\n"


CLUSTER_FILE = """\
# Cluster file

A file that describes a cluster, in YAML or JSON, for `portico cluster create -f`, `apply -f` and `diff -f`, and for the
form *Create cluster* of the panel ([guide](../guides/clusters.md#describe-a-cluster-in-a-file)):

```yaml
apiVersion: portico.dev/v1alpha1
kind: Cluster
metadata: {name: shop, project: k8s-prod}
spec:
  template: k8s-1.32
  controlPlane: {replicas: 3}
  api: {exposure: public, allowedCIDRs: [198.51.100.0/24]}
  nodeGroups:
  - {name: default-worker, replicas: 3, flavor: m1.small}
```

Only `template` and `metadata.name` are required; an absent field has the value of the template. Unknown fields are errors.
`portico cluster schema` prints the same as JSON Schema. An editor with the YAML language server completes and checks a
file whose first line is `# yaml-language-server: $schema=cluster.schema.json`, with the schema in that file.

`portico cluster create NAME -t TEMPLATE --dry-run -o yaml` and `portico cluster export NAME` print such a file."""


class ClusterFile(Schema):
    OBJECT = "map"

    def section(self, name, schema):
        resolved = self.resolve(schema)
        self.lines += [f"## `{name}`" if name else "## The file", ""]
        if name and resolved.get("description"):
            self.lines += [" ".join(resolved["description"].split()), ""]
        self.lines += ["| Field | Value | Default | Meaning |", "|---|---|---|---|"]
        below = []
        required = resolved.get("required", [])
        for key, value in sorted(resolved.get("properties", {}).items(), key=lambda field: (field[0] not in required, field[0])):
            inner = self.resolve(value)
            items = self.resolve(inner["items"]) if "items" in inner else {}
            if "properties" in inner or "properties" in items:
                place = f"{name}.{key}".lstrip(".")
                listed = "properties" in items
                below.append((f"{place}[]", inner["items"]) if listed else (place, value))
            default = "required" if key in required else ""
            if not default and value.get("default") not in (None, "", {}, []):
                default = f"`{json.dumps(value['default'])}`"
            self.lines.append(f"| `{key}` | {self.kind(value)} | {default} | {text({'description': inner.get('description', '')})} |")
        self.lines.append("")
        for part in below:
            self.section(*part)

    def page(self):
        self.lines = [CLUSTER_FILE, ""]
        self.section("", self.root)
        return MADE + "\n".join(self.lines).rstrip() + "\n"


def command_line(program):
    lines = ["# Command line", ""]

    def walk(path):
        shown = run(program, *path, "--help").rstrip()
        lines.extend([f"{'##' if len(path) < 2 else '###'} `{' '.join(['portico', *path])}`", "", "```text", shown, "```", ""])
        listed = False
        for line in shown.splitlines():
            if line.endswith("ommands:"):
                listed = True
            elif listed and line.startswith("  ") and not line.startswith("   "):
                name = line.split()[0]
                if name != "help":
                    walk([*path, name])
            elif listed and not line.startswith(" "):
                listed = False

    walk([])
    return MADE + "\n".join(lines).rstrip() + "\n"


def main():
    program = sys.argv[1]
    pages = {
        "configuration.md": Configuration(json.loads(run(program, "config", "schema"))).page(),
        "cluster-file.md": ClusterFile(json.loads(run(program, "cluster", "schema"))).page(),
        "command-line.md": command_line(program),
    }
    stale = [name for name, page in pages.items() if not (REFERENCE / name).exists() or (REFERENCE / name).read_text() != page]
    if "--check" in sys.argv:
        if stale:
            sys.exit(f"out of date: {', '.join(stale)}; run scripts/reference.py target/debug/portico")
        return
    REFERENCE.mkdir(parents=True, exist_ok=True)
    for name in stale:
        (REFERENCE / name).write_text(pages[name])
    print(f"written: {', '.join(stale) or 'nothing, all is up to date'}")


main()
