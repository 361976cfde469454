// Whether a value has the type that its schema asks for.
import { isAlias, isScalar } from "yaml";
import { typeOf } from "./documents.js";
import { typeName } from "./schema.js";

const ACCEPTED = {
  "int-or-string": ["integer", "string"],
  quantity: ["integer", "number", "string"],
  number: ["integer", "number"],
};

// YAML 1.1 reads them as booleans, YAML 1.2 as text; the API server reads YAML 1.1
const OLD_BOOLEANS = /^(y|yes|on|n|no|off)$/i;
const BASE64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/;

/** Returns the problem of a value itself, without those of its fields and items, or undefined. */
export function valueProblem(name, node, type, schema, tree) {
  const actual = typeOf(node, tree);
  // the API server treats null like a missing field
  if (actual === "null" || type.kind === "any") return undefined;
  if (!(ACCEPTED[type.kind] ?? [type.kind]).includes(actual)) return wrongType(name, node, actual, type, schema);
  const scalar = isAlias(node) ? node.resolve(tree) : node;
  if (!isScalar(scalar)) return undefined;
  return wrongValue(name, scalar, type) ?? ambiguous(scalar, type);
}

function wrongType(name, node, actual, type, schema) {
  const wanted = typeName(schema, type);
  const isOldBoolean = type.kind === "boolean" && isScalar(node) && OLD_BOOLEANS.test(node.source ?? "");
  let remedy = "";
  if (type.kind === "string" && isScalar(node)) remedy = ` Put it in quotes: "${node.source}".`;
  else if (type.kind === "boolean") remedy = isOldBoolean ? " Write true or false." : "";
  else if (type.kind === "array") remedy = ' Start each item with "- ".';
  else if (type.kind === "integer" && actual === "string" && /^-?\d+$/.test(node.value ?? "")) remedy = " Remove the quotes.";
  return error(`${name} must be ${withArticle(wanted)}, not ${withArticle(ACTUAL[actual])}.${remedy}`);
}

const ACTUAL = {
  array: "list",
  boolean: "boolean",
  integer: "integer",
  number: "number with a fraction",
  object: "object",
  string: "string",
};

function withArticle(name) {
  return `${/^[aeio]/.test(name) ? "an" : "a"} ${name}`;
}

function wrongValue(name, { value }, type) {
  if (type.kind !== "boolean" && type.values.length > 0 && !type.values.includes(value)) {
    return error(`${name} cannot be "${value}". Allowed: ${list(type.values.map(String))}.`);
  }
  if (type.format === "byte" && typeof value === "string" && !BASE64.test(value.replace(/\s/g, ""))) {
    return error(`${name} must be encoded with Base64.`);
  }
  return undefined;
}

function ambiguous({ source, type: style, value }, type) {
  if (style !== "PLAIN") return undefined;
  if (typeof value === "string" && OLD_BOOLEANS.test(source)) {
    return warning(`Kubernetes reads ${source} without quotes as a boolean. Put it in quotes: "${source}".`);
  }
  if (type.kind === "integer" && /^0[0-7]+$/.test(source)) {
    return warning(`${source} is octal in YAML 1.1 and decimal in YAML 1.2. Write ${parseInt(source, 8)} or ${value}.`);
  }
  return undefined;
}

function list(names) {
  return names.length > 1 ? `${names.slice(0, -1).join(", ")} or ${names.at(-1)}` : names.join("");
}

function error(message) {
  return { severity: "error", message };
}

function warning(message) {
  return { severity: "warning", message };
}
