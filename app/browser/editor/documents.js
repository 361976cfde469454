// The documents of a text as trees with positions.
import { isAlias, isMap, isScalar, isSeq, parseAllDocuments } from "yaml";

// merge keys and anchors are looked at by hand: expanding them could make a short text huge
const OPTIONS = { prettyErrors: false, logLevel: "silent" };

/**
 * Parses a text. Documents without a value are left out, so that the index of a document is the one
 * that `kubectl` and the API see. Positions in a document's tree are relative to `base`, where its `text`
 * starts: what is in `cache` need not be parsed again when the text before it changes.
 */
export function parse(text, cache = new Map()) {
  const documents = [];
  let base = 0;
  for (const part of parts(text)) {
    const trees = cache.get(part) ?? parseAllDocuments(part, OPTIONS).filter(({ contents, errors }) => !isEmpty(contents) || errors.length > 0);
    cache.set(part, trees);
    for (const tree of trees) documents.push({ tree, root: tree.contents, text: part, base });
    base += part.length;
  }
  return { documents };
}

/** Splits a text before each "---" line. */
function parts(text) {
  const found = text.split(/^(?=---(?:\s|$))/m);
  // directives belong to the document that follows
  const directives = found.findIndex((part, at) => part.startsWith("%") && at + 1 < found.length);
  if (directives >= 0) found.splice(directives, 2, found[directives] + found[directives + 1]);
  return found;
}

function isEmpty(node) {
  return !node || (isScalar(node) && node.value === null && !node.source);
}

/** Returns the document at an offset of the whole text. */
export function documentAt({ documents }, offset) {
  return documents.find(({ tree, base }) => base + tree.range[0] <= offset && offset <= base + tree.range[2]);
}

/** Returns the fields of a map, without those whose name is not text. */
export function fields(map) {
  return map.items
    .filter(({ key }) => isScalar(key) && key.value !== null)
    .map(({ key, value }) => ({ name: String(key.value), key, value }));
}

export function field(map, name) {
  return isMap(map) ? fields(map).find((field) => field.name === name) : undefined;
}

/** Returns the text of a field, or undefined if it is not a text. */
export function textOf(map, name) {
  const value = field(map, name)?.value;
  return isScalar(value) && typeof value.value === "string" ? value.value : undefined;
}

/** Returns the API group, version and kind of an object, or undefined if it does not have them. */
export function identity(map) {
  const apiVersion = textOf(map, "apiVersion");
  const kind = textOf(map, "kind");
  if (!apiVersion || !kind) return undefined;
  const version = parseApiVersion(apiVersion);
  return version && { ...version, kind };
}

export function parseApiVersion(apiVersion) {
  const parts = apiVersion.split("/");
  if (parts.length > 2 || parts.some((part) => !/^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$/i.test(part))) return undefined;
  const [version, group = ""] = parts.reverse();
  return { group, version };
}

export function apiVersionOf({ group, version }) {
  return group ? `${group}/${version}` : version;
}

/** Returns the Kubernetes objects of a document: its root, and the items of a List. */
export function objects({ root }) {
  const found = [{ node: root, path: [] }];
  const items = field(root, "items")?.value;
  if (isList(identity(root)) && isSeq(items)) {
    items.items.forEach((node, index) => found.push({ node, path: ["items", index] }));
  }
  return found;
}

export function isList(identity) {
  return identity?.group === "" && identity.kind === "List";
}

/** Returns the type of a node in the words of JSON Schema. An alias has the type of what it names. */
export function typeOf(node, tree) {
  const target = isAlias(node) ? node.resolve(tree) : node;
  if (isMap(target)) return "object";
  if (isSeq(target)) return "array";
  const value = isScalar(target) ? target.value : null;
  if (value === null || value === undefined) return "null";
  if (typeof value !== "number") return typeof value;
  return Number.isInteger(value) && !/[.e]/i.test(target.source ?? "") ? "integer" : "number";
}

const parsedTexts = new WeakMap();
let lastParts = new Map();

/** Returns the parsed documents of a CodeMirror text; they are kept as long as it is. */
export function parsed(doc) {
  let found = parsedTexts.get(doc);
  if (!found) {
    const known = lastParts;
    found = parse(doc.toString(), known);
    // only what the newest text still has
    lastParts = new Map(found.documents.map(({ text }) => [text, known.get(text)]));
    parsedTexts.set(doc, found);
  }
  return found;
}
