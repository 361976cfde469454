// The place of the cursor: which field, value or item can be written there. The text is parsed with a
// placeholder at the cursor, because an unfinished line is rarely valid YAML.
import { isMap, isScalar, isSeq } from "yaml";
import { field, fields, objects, parse, textOf } from "./documents.js";

const PLACEHOLDER = "portico__placeholder";
const WORD = /[\w./$-]*$/;
const BOUNDARY = /^(?:---|\.\.\.)(?=\s|$)/;
const BOUNDARIES = new RegExp(BOUNDARY, "gm");

/**
 * Returns the place of an offset, or undefined in comments and in the middle of text:
 * - `position`: "key" or "value"; an item of a list that may become an object is a "key" as well
 * - `path`: of the object that gets the field, or of the value; from the root of the Kubernetes object
 * - `siblings`: the names of the object's other fields
 * - `apiVersion`, `kind`: of the Kubernetes object, as far as they are written;
 *   `hasApiVersion`: whether its field exists
 * - `from`, `to`: the range of the word at the cursor, without quotes; `quote`: its opening quote, and
 *   `isClosed` whether the closing one follows; `column`: where the word or its quote starts
 * - `keyFrom`: where the name of a value's field starts
 * - `hasColon`: whether a colon follows; `isLineEnd`: whether nothing follows in the line
 * - `isFlow`: whether the place is between { } or [ ]; `isJson`: whether the whole document is
 */
export function placeAt(text, offset) {
  const line = lineAt(text, offset);
  const word = wordAt(line, offset);
  const document = word && documentAround(text, line);
  if (!document) return undefined;
  const head = text.slice(document.from, word.from) + PLACEHOLDER + (word.isClosed ? "" : word.quote);
  const tail = text.slice(word.to, document.to);
  // between brackets and after "name: " the bare word is valid; at the start of a line it needs a colon
  const closing = word.isClosed ? word.quote : "";
  let found = find(head + tail);
  if (!found?.isFlow && word.startsLine && !word.hasColon) found = find(`${head}${closing}:${tail.slice(closing.length)}`);
  return found && { ...word, ...found, keyFrom: document.from + found.keyFrom };
}

function lineAt(text, offset) {
  const from = offset === 0 ? 0 : text.lastIndexOf("\n", offset - 1) + 1;
  const end = text.indexOf("\n", offset);
  const to = end < 0 ? text.length : end;
  return { from, to, before: text.slice(from, offset), after: text.slice(offset, to) };
}

function wordAt({ from: lineFrom, before, after }, offset) {
  if (/(^|\s)#/.test(before.replace(/"[^"]*"|'[^']*'/g, ""))) return undefined;
  // "- " starts an item; a lone dash may become one
  if (/^\s*(?:-\s+)*-$/.test(before)) return undefined;
  const start = before.length - WORD.exec(before)[0].length;
  const quote = /["']$/.exec(before.slice(0, start))?.[0] ?? "";
  const column = start - quote.length;
  const end = /^[\w./$-]*/.exec(after)[0].length;
  const isClosed = quote !== "" && after[end] === quote;
  const rest = after.slice(end + (isClosed ? 1 : 0));
  return {
    from: lineFrom + start,
    to: offset + end,
    quote,
    isClosed,
    column,
    startsLine: /^\s*(?:-\s+)*$/.test(before.slice(0, column)),
    hasColon: /^\s*:(\s|$)/.test(rest),
    isLineEnd: rest.trim() === "",
  };
}

/** Returns the range of the document that holds a line; the others need not be parsed again. */
function documentAround(text, line) {
  if (BOUNDARY.test(text.slice(line.from, line.to))) return undefined;
  const before = [...text.slice(0, line.from).matchAll(BOUNDARIES)].at(-1);
  const end = text.slice(line.to).search(BOUNDARIES);
  return {
    from: before ? text.indexOf("\n", before.index) + 1 : 0,
    to: end < 0 ? text.length : line.to + end,
  };
}

/** Finds the placeholder in a document. */
function find(text) {
  const [document] = parse(text).documents;
  const found = document && search(document.root, [], false);
  if (!found) return undefined;
  // the innermost object: an item of a List is one of its own
  const { node, path } = objects(document)
    .filter(({ path }) => path.every((part, at) => found.path[at] === part))
    .at(-1);
  const [apiVersion, kind] = ["apiVersion", "kind"].map((name) => {
    const value = textOf(node, name);
    return value === PLACEHOLDER ? undefined : value;
  });
  return {
    ...found,
    path: found.path.slice(path.length),
    apiVersion,
    kind,
    hasApiVersion: Boolean(field(node, "apiVersion")),
    isJson: Boolean(document.root.flow),
  };
}

function search(node, path, isFlow, keyFrom = 0) {
  if (isPlaceholder(node)) return { position: path.length > 0 ? "value" : "key", path, siblings: [], isFlow, keyFrom };
  const inFlow = isFlow || Boolean(node?.flow);
  if (isMap(node)) {
    for (const { key, value } of node.items) {
      if (isPlaceholder(key)) {
        const siblings = fields(node).map(({ name }) => name);
        return { position: "key", path, siblings: siblings.filter((name) => name !== PLACEHOLDER), isFlow: inFlow, keyFrom };
      }
      const name = isScalar(key) ? String(key.value) : "";
      const found = search(value, [...path, name], inFlow, key?.range?.[0]);
      if (found) return found;
    }
  } else if (isSeq(node)) {
    for (const [index, item] of node.items.entries()) {
      const found = search(item, [...path, index], inFlow, keyFrom);
      if (found) return found;
    }
  }
  return undefined;
}

function isPlaceholder(node) {
  return isScalar(node) && node.value === PLACEHOLDER;
}
