// What is wrong with the objects of a text, as far as can be known without the API server.
import { isAlias, isMap, isSeq, visit } from "yaml";
import { apiVersionOf, field, fields, identity, isList, objects, parseApiVersion, textOf, typeOf } from "./documents.js";
import { rangeOf } from "./paths.js";
import { closest } from "./spelling.js";
import { isWellFormed, syntaxErrors } from "./syntax.js";
import { valueProblem } from "./values.js";

// the server sets them; an object that was read from it has them
const SET_BY_SERVER = new Set([
  "creationTimestamp",
  "deletionGracePeriodSeconds",
  "deletionTimestamp",
  "generation",
  "managedFields",
  "resourceVersion",
  "selfLink",
  "uid",
]);
// objects of these groups are questions: they are answered and not stored
const WITHOUT_NAME = new Set(["authentication.k8s.io", "authorization.k8s.io"]);
const ROOT_CHECKED = new Set(["apiVersion", "kind", "metadata", "status"]);

/**
 * Returns the problems of all documents, as `{ from, to, severity, message }`. `schemaOf` returns
 * what is known about a kind: `{ state: "ready", schema }`, `{ state: "missing" }` if the cluster does not
 * have it, or undefined.
 */
export function validate({ documents }, schemaOf) {
  const defined = definedKinds(documents);
  return documents.flatMap((document) => {
    const found = problemsOf(document, schemaOf, defined);
    return found.map(({ from, to, ...problem }) => ({ from: from + document.base, to: to + document.base, ...problem }));
  });
}

function problemsOf(document, schemaOf, defined) {
  const found = syntaxErrors(document);
  if (!isWellFormed(document)) return found;
  found.push(...unknownAliases(document));
  for (const { node, path } of objects(document)) new ObjectCheck(document, found).object(node, path, schemaOf, defined);
  return found;
}

/** Returns the kinds that the documents themselves add to the cluster. */
function definedKinds(documents) {
  const found = new Set();
  for (const { root } of documents) {
    if (identity(root)?.kind !== "CustomResourceDefinition") continue;
    const spec = field(root, "spec")?.value;
    found.add(`${textOf(spec, "group")}/${textOf(field(spec, "names")?.value, "kind")}`);
  }
  return found;
}

function unknownAliases({ tree, text }) {
  const found = [];
  visit(tree, {
    Alias(_, alias) {
      if (alias.resolve(tree)) return;
      const message = `The anchor "${alias.source}" is not defined before this place.`;
      found.push({ ...rangeOf(undefined, alias, text), severity: "error", message });
    },
  });
  return found;
}

class ObjectCheck {
  constructor({ text, tree }, found) {
    this.text = text;
    this.tree = tree;
    this.found = found;
  }

  report(key, value, severity, message) {
    this.found.push({ ...rangeOf(key, value, this.text), severity, message });
  }

  object(node, path, schemaOf, defined) {
    if (!isMap(node)) {
      const what = path.length === 0 ? "A document" : "An item of a List";
      this.report(undefined, node, "error", `${what} must be an object with apiVersion, kind and metadata.`);
      return;
    }
    this.required(undefined, node, ["apiVersion", "kind"].filter((name) => isUnset(node, name, this.tree)));
    const apiVersion = field(node, "apiVersion");
    const version = textOf(node, "apiVersion");
    if (version && !parseApiVersion(version)) {
      this.report(apiVersion.key, apiVersion.value, "error", 'apiVersion must be "version" or "group/version".');
    }
    const id = identity(node);
    if (isList(id)) return;
    if (!WITHOUT_NAME.has(id?.group)) this.name(node);
    const known = id && schemaOf(id);
    if (known?.state === "missing" && !defined.has(`${id.group}/${id.kind}`)) {
      const kind = field(node, "kind");
      this.report(kind.key, kind.value, "warning", `The cluster does not have the kind ${id.kind} in ${apiVersionOf(id)}.`);
    }
    if (known?.state === "ready") {
      this.schema = known.schema;
      this.fields(undefined, node, known.schema.root, []);
    }
  }

  name(node) {
    const metadata = field(node, "metadata");
    const value = metadata?.value;
    const isNamed = isMap(value) && ["name", "generateName"].some((name) => !isUnset(value, name, this.tree));
    // an alias or a merge key may hold the name
    if (isNamed || isAlias(value) || field(value, "<<")) return;
    this.report(metadata?.key, metadata ? undefined : node, "error", "metadata.name is missing.");
  }

  required(key, map, names) {
    if (names.length === 0 || field(map, "<<")) return;
    const quoted = names.map((name) => `"${name}"`).join(", ");
    const message = names.length === 1 ? `The required field ${quoted} is missing.` : `Required fields are missing: ${quoted}.`;
    // at the name of the field that holds the object, or at the first field of an item
    this.report(key, key ? undefined : map, "error", message);
  }

  /** Checks the fields of an object or a map against its type. */
  fields(key, map, type, path) {
    const isRoot = path.length === 0;
    const isMetadata = path.length === 1 && path[0] === "metadata";
    const ignored = (name) => (isRoot && name === "status") || (isMetadata && SET_BY_SERVER.has(name)) || name === "<<";
    for (const { name, key: own, value } of fields(map)) {
      if (ignored(name)) continue;
      const next = this.schema.step(type, name);
      if (next) this.value(name, own, value, next, [...path, name]);
      else if (!type.isOpen) this.unknown(name, own, map, type);
    }
    const missing = type.required.filter((name) => isUnset(map, name, this.tree));
    const names = missing.filter((name) => !ignored(name) && !(isRoot && ROOT_CHECKED.has(name)) && !(isMetadata && name === "name"));
    this.required(key, map, names);
  }

  unknown(name, key, map, type) {
    const present = new Set(fields(map).map((field) => field.name));
    const meant = closest(name, Object.keys(type.properties).filter((other) => !present.has(other)));
    this.report(key, undefined, "warning", `Unknown field "${name}".${meant ? ` Did you mean "${meant}"?` : ""}`);
  }

  value(name, key, node, type, path) {
    const problem = valueProblem(name, node, type, this.schema, this.tree);
    if (problem) this.report(key, node, problem.severity, problem.message);
    // what an alias names is checked where it is written: expanding aliases could take forever
    if (problem?.severity === "error" || isAlias(node)) return;
    if (isMap(node)) {
      this.fields(key, node, type, path);
    } else if (isSeq(node) && type.items) {
      const items = this.schema.type(type.items);
      node.items.forEach((item, index) => this.value(`${name}[${index}]`, undefined, item, items, [...path, index]));
      if (type.listKeys.length > 0) this.distinct(name, node, type.listKeys);
    }
  }

  /** Checks that no two items have the same key fields: the API server takes them for one. */
  distinct(name, { items }, listKeys) {
    const seen = new Set();
    for (const item of items) {
      const keys = listKeys.map((key) => field(item, key)?.value?.value);
      if (keys.every((key) => key === undefined)) continue;
      const id = JSON.stringify(keys);
      if (seen.has(id)) {
        const named = listKeys.filter((_, at) => keys[at] !== undefined).map((key) => `${key} "${field(item, key).value.value}"`);
        this.report(undefined, item, "error", `${name} already has an item with ${named.join(" and ")}.`);
      }
      seen.add(id);
    }
  }
}

function isUnset(map, name, tree) {
  const found = field(map, name);
  return !found || typeOf(found.value, tree) === "null";
}
