// What may be written at a place: fields, values, kinds.
import { apiVersionOf, parseApiVersion } from "./documents.js";
import { Schema, firstSentence, typeName } from "./schema.js";

// what is offered for any object until its kind is known
const ANY_OBJECT = new Schema({
  root: {
    type: "object",
    required: ["apiVersion", "kind", "metadata"],
    properties: {
      apiVersion: { type: "string", description: "Version of the schema, such as apps/v1." },
      kind: { type: "string", description: "Kind of the object, such as Deployment." },
      metadata: {
        type: "object",
        required: ["name"],
        properties: {
          name: { type: "string" },
          generateName: { type: "string" },
          namespace: { type: "string" },
          labels: { type: "object", additionalProperties: { type: "string" } },
          annotations: { type: "object", additionalProperties: { type: "string" } },
        },
      },
    },
  },
});

/** Returns the identity of the object at a place, or undefined if it is not complete. */
export function identityAt({ apiVersion, kind }) {
  const version = apiVersion && parseApiVersion(apiVersion);
  return version && kind ? { ...version, kind } : undefined;
}

/**
 * Returns the candidates at a place, as `{ label, detail, info, required, value, type }`:
 * `value` is the value of a value, `type` the type of a field; `apiVersion` of a kind is the one to be written
 * with it. `schema` is undefined until it is known.
 */
export function candidates(place, schema = ANY_OBJECT, kinds = []) {
  const { position, path } = place;
  if (position === "value" && path.length === 1 && path[0] === "kind") return kindCandidates(place, kinds);
  if (position === "value" && path.length === 1 && path[0] === "apiVersion") return versionCandidates(place, kinds);
  const type = schema.at(path);
  if (!type) return [];
  if (position === "value" || !(type.kind === "object" || type.kind === "array" || type.isOpen)) {
    return valueCandidates(type);
  }
  if (type.kind === "array") return itemCandidate(schema, type);
  return fieldCandidates(schema, type, place);
}

function fieldCandidates(schema, type, { path, siblings }) {
  const present = new Set(siblings);
  return schema
    .fields(type)
    .filter(({ name }) => !present.has(name) && !(path.length === 0 && name === "status"))
    .map(({ name, type: own, required }) => ({
      label: name,
      detail: `${typeName(schema, own)}${required ? ", required" : ""}`,
      info: firstSentence(own.description),
      required: required || (path.length === 0 && ["apiVersion", "kind", "metadata"].includes(name)),
      type: own,
    }));
}

// between a field and its first item
function itemCandidate(schema, type) {
  const detail = type.items ? typeName(schema, schema.type(type.items)) : "item";
  return [{ label: "- ", detail, info: "Adds an item to the list.", value: "- " }];
}

function valueCandidates(type) {
  return type.values.map((value) => ({
    label: String(value),
    detail: "",
    info: "",
    value: type.kind === "string" && readsAsOther(value) ? JSON.stringify(value) : String(value),
    isText: type.kind === "string",
  }));
}

function readsAsOther(text) {
  return text === "" || /^(true|false|null|~|yes|no|on|off|y|n|[-+.]?\d.*)$/i.test(text) || /^[\s&*!|>'"%@`#{}[\],?:-]|: | #|\s$/.test(text);
}

function kindCandidates({ apiVersion, hasApiVersion }, kinds) {
  const inVersion = apiVersion ? kinds.filter((kind) => apiVersionOf(kind) === apiVersion) : [];
  return (inVersion.length > 0 ? inVersion : kinds).map((found) => ({
    label: found.kind,
    detail: apiVersionOf(found),
    info: "",
    value: found.kind,
    isText: true,
    apiVersion: hasApiVersion ? undefined : apiVersionOf(found),
  }));
}

function versionCandidates({ kind }, kinds) {
  const ofKind = kind ? kinds.filter((found) => found.kind === kind) : [];
  const versions = new Set((ofKind.length > 0 ? ofKind : kinds).map(apiVersionOf));
  return [...versions].map((version) => ({ label: version, detail: "", info: "", value: version, isText: true }));
}

/**
 * Returns what a field's name is completed to, and where the cursor is then:
 * an object gets an indented line, a list its first item.
 */
export function fieldText({ label, type }, { quote, column, hasColon, isLineEnd, isFlow, isJson }) {
  const mark = quote || (isJson ? '"' : "");
  const name = mark + label + mark;
  if (hasColon) return { insert: name, cursor: name.length, isOpen: false };
  const bracketed = { object: "{}", array: "[]" }[type.kind];
  if (isFlow) {
    const insert = `${name}: ${bracketed ?? ""}`;
    return { insert, cursor: insert.length - (bracketed ? 1 : 0), isOpen: true };
  }
  let insert = `${name}: `;
  // the rest of the line becomes the value
  if (isLineEnd && type.kind === "object") insert = `${name}:\n${" ".repeat(column + 2)}`;
  // items at the column of their field, as the API server writes them
  if (isLineEnd && type.kind === "array") insert = `${name}:\n${" ".repeat(column)}- `;
  return { insert, cursor: insert.length, isOpen: true };
}

/** Returns what a value is completed to. Text in JSON and text that was begun with a quote keeps its quotes. */
export function valueText({ label, value, isText }, { quote, isJson }) {
  if (!isText) return value;
  if (quote === "'") return `'${label.replace(/'/g, "''")}'`;
  return quote || isJson ? JSON.stringify(label) : value;
}
