// Finds Secrets in a text: their values must not be stored in the browser.
import { isSeq } from "yaml";
import { field, identity, isList, objects, parse, textOf } from "./documents.js";

// a document without one of these is not a Secret, so that most texts need not be parsed; the last
// one escapes a letter, or continues a string in quotes on the next line
const SIGNS = /Secret|stringData|\\[xuU\r\n]/;

// a kind that is being written, and may become that of a Secret; ConfigMaps have the field as well
const HALF_WRITTEN = /^\s*["']?kind["']?\s*:\s*["']?S(e(c(re?)?)?)?["']?\s*,?\s*$/m;
const VALUES = /\bdata\b/;

/**
 * Returns whether a document of a text is a Secret or may be one: a text that is being written is often
 * not valid, and an alias or a merge key can name the kind as well.
 */
export function mayHoldSecret(text) {
  if (!SIGNS.test(text) && !HALF_WRITTEN.test(text)) return false;
  try {
    return parse(text).documents.some(mayBeSecret);
  } catch {
    // nesting has exhausted the parser
    return true;
  }
}

function mayBeSecret(document) {
  if (HALF_WRITTEN.test(document.text) && VALUES.test(document.text)) return true;
  if (!SIGNS.test(document.text)) return false;
  if (document.tree.errors.length > 0) return true;
  const [, ...items] = objects(document);
  const { root } = document;
  const found = isList(identity(root)) && isSeq(field(root, "items")?.value) ? items.map(({ node }) => node) : [root];
  return found.some((node) => {
    const kind = textOf(node, "kind");
    // lists of one kind, and lists in lists, are not looked into
    return kind === undefined || kind === "Secret" || kind.endsWith("List") || field(node, "stringData") !== undefined;
  });
}
