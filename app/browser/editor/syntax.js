// Errors of YAML's syntax in plain sentences.
import { firstLine } from "./paths.js";

// the parser reports a repeated field by its first character
const KEY = /^("[^"]*"|'[^']*'|[^:\s]*)/;

/** Returns the syntax errors of a document, at most one a line. */
export function syntaxErrors({ tree, text }) {
  const lines = new Set();
  const found = [];
  let unexpected = false;
  for (const error of tree.errors) {
    // one wrong indentation makes each token after it unexpected
    if (error.code === "UNEXPECTED_TOKEN" && unexpected) continue;
    unexpected ||= error.code === "UNEXPECTED_TOKEN";
    const [from, to] = error.pos;
    const start = Math.min(from, text.length);
    const line = text.lastIndexOf("\n", start - 1);
    if (lines.has(line)) continue;
    lines.add(line);
    const end = error.code === "DUPLICATE_KEY" ? start + KEY.exec(text.slice(start))[0].length : Math.max(to, start);
    const range = firstLine([start, Math.min(end, text.length)], text);
    found.push({ ...range, severity: "error", message: sentence(error, text.slice(range.from, range.to)) });
  }
  return found;
}

/** Whether the structure of a document can be relied on: a repeated field does not change it. */
export function isWellFormed({ tree }) {
  return tree.errors.every(({ code }) => code === "DUPLICATE_KEY");
}

function sentence({ code, message }, source) {
  switch (code) {
    case "TAB_AS_INDENT":
      return "YAML does not allow tabs as indentation. Use spaces.";
    case "DUPLICATE_KEY":
      return `The field "${unquoted(source)}" is set twice.`;
    case "MULTILINE_IMPLICIT_KEY":
      return source.includes(":")
        ? "A space is missing after the colon."
        : "A colon is missing after the field name, or this line is not indented correctly.";
    case "BLOCK_AS_IMPLICIT_KEY":
      return 'A field cannot start here. Start a new line, or put text that contains ": " in quotes.';
    case "BLOCK_IN_FLOW":
      return "Between { } and [ ] fields and items are separated by commas, not by lines.";
    case "BAD_SCALAR_START":
      return `Text that starts with ${message.at(-1)} must be in quotes.`;
    case "BAD_DQ_ESCAPE":
      return `${source.startsWith("\\") ? source : "This"} is not an escape sequence. Write \\\\ for a backslash, or use single quotes.`;
    case "UNEXPECTED_TOKEN":
      return "This is not valid YAML at this place. Check the indentation of this line and of the lines above.";
    case "RESOURCE_EXHAUSTION":
      return "The text is nested too deeply.";
    case "BAD_INDENT":
      return indentation(message);
    case "MISSING_CHAR":
      return missing(message);
    default:
      return `${message.replace(/\.$/, "")}.`;
  }
}

function indentation(message) {
  const bracket = /end with a ([}\]])/.exec(message);
  if (bracket) return `A closing ${bracket[1]} is missing, or it is not indented far enough.`;
  if (message.startsWith("Block scalar")) return "The lines of this text must be indented farther than its field.";
  return "Fields of one object and items of one list must start at the same column.";
}

function missing(message) {
  const quote = /closing (['"])/.exec(message);
  if (quote) return `A closing quote (${quote[1]}) is missing.`;
  if (message.includes("- indicator")) return 'An item of a list must start with "- ".';
  if (message.includes("followed by map values")) return "A colon is missing after the field name.";
  const bracket = /end with a? ?([}\]])/.exec(message);
  if (bracket) return `A closing ${bracket[1]} is missing.`;
  if (message.includes(",")) return "A comma is missing between two fields or items.";
  return `${message.replace(/\.$/, "")}.`;
}

function unquoted(source) {
  return source.replace(/^(["'])(.*)\1$/, "$2");
}
