// Paths of fields, such as spec.containers[0].image, and their places in a document. In code a path
// is a list of field names and indexes.
import { isMap, isScalar, isSeq } from "yaml";
import { field, fields } from "./documents.js";

/** Writes a path as the API server does. */
export function formatPath(path) {
  return path.reduce((text, part) => {
    if (typeof part === "number") return `${text}[${part}]`;
    if (!/^[\w$-]+$/.test(part)) return `${text}[${part}]`;
    return text ? `${text}.${part}` : part;
  }, "");
}

/** Splits a path into names and indexes. A name in brackets may hold dots. */
export function parsePath(text) {
  const parts = [];
  for (const [, bracketed, name] of text.matchAll(/\[([^\]]*)\]|([^.[\]]+)/g)) {
    if (bracketed === undefined) parts.push(name);
    else if (/^\d+$/.test(bracketed)) parts.push(Number(bracketed));
    else parts.push(bracketed.replace(/^(["'])(.*)\1$/, "$2"));
  }
  return parts;
}

// `metadata.annotations.example.org/name` has a name with dots
function longestField(map, path, at) {
  for (let end = path.length; end > at; end--) {
    const found = field(map, path.slice(at, end).join("."));
    if (found) return { found, end };
  }
  return undefined;
}

/**
 * Returns the range of the whole text in which a problem at a path is shown: the value if it is a
 * scalar, otherwise the name of the field. If the path does not exist, the deepest part of it that does.
 */
export function locate({ root, text, base }, path) {
  let node = root;
  let range = rangeOf(undefined, root, text);
  for (let at = 0; at < path.length; ) {
    if (isMap(node)) {
      const step = longestField(node, path, at);
      if (!step) break;
      range = rangeOf(step.found.key, step.found.value, text);
      node = step.found.value;
      at = step.end;
    } else if (isSeq(node) && node.items[path[at]]) {
      node = node.items[path[at]];
      range = rangeOf(undefined, node, text);
      at += 1;
    } else {
      break;
    }
  }
  return { from: range.from + base, to: range.to + base };
}

/** Returns the range of a field or an item that stands for it as a whole. */
export function rangeOf(key, value, text) {
  const hasText = isScalar(value) && value.range[1] > value.range[0];
  const node = hasText || !key ? value : key;
  // the name of its first field marks a map
  if (isMap(node) && !node.flow && node.items.length > 0) return rangeOf(node.items[0].key, undefined, text);
  return firstLine(node?.range ?? [0, 0], text);
}

/** Cuts a range at the end of its first line. */
export function firstLine([from, to], text) {
  const end = text.indexOf("\n", from);
  return { from, to: end >= from && end < to ? end : to };
}

/**
 * Returns the field or item at an offset of the whole text: its path, and the range of what is under the offset (the
 * field's name or a scalar value). Undefined between fields.
 */
export function pathAt({ root, base }, wholeOffset) {
  const offset = wholeOffset - base;
  const found = (path, [from, to]) => ({ path, from: from + base, to: to + base });
  let node = root;
  const path = [];
  for (;;) {
    if (isMap(node)) {
      const step = fields(node).find(({ key, value }) => holds(key, offset) || holds(value, offset));
      if (!step) return undefined;
      path.push(step.name);
      if (holds(step.key, offset)) return found(path, step.key.range);
      node = step.value;
    } else if (isSeq(node)) {
      const index = node.items.findIndex((item) => holds(item, offset));
      if (index < 0) return undefined;
      path.push(index);
      node = node.items[index];
    } else {
      return node?.range ? found(path, node.range) : undefined;
    }
  }
}

function holds(node, offset) {
  return Boolean(node?.range) && node.range[0] <= offset && offset <= node.range[1];
}
