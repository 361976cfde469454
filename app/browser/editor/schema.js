// Schemas of kinds, as the API server publishes them in OpenAPI: which fields, types and values a
// place of an object may have.

// a chain of references that is longer is a circle
const MAX_REFERENCES = 16;

export class Schema {
  #root;
  #definitions;
  #types = new Map();

  constructor({ root, definitions }) {
    this.#root = root ?? {};
    this.#definitions = definitions ?? {};
  }

  get root() {
    return this.type(this.#root);
  }

  /** Returns the type at a path, or undefined if the schema does not describe it. */
  at(path) {
    return path.reduce((type, part) => type && this.step(type, part), this.root);
  }

  /** Returns the type of a field or an item. */
  step(type, part) {
    if (typeof part === "number") return type.items && this.type(type.items);
    const schema = Object.hasOwn(type.properties, part) ? type.properties[part] : type.additional;
    return schema && this.type(schema);
  }

  /** Returns the fields with names that the schema lists. */
  fields(type) {
    return Object.entries(type.properties).map(([name, schema]) => ({
      name,
      type: this.type(schema),
      required: type.required.includes(name),
    }));
  }

  /** Resolves references, and puts what the formats of OpenAPI write in different ways into one. */
  type(schema) {
    let type = this.#types.get(schema);
    if (!type) {
      type = describe(this.#merged(schema, MAX_REFERENCES));
      this.#types.set(schema, type);
    }
    return type;
  }

  #merged(schema, budget) {
    if (budget === 0) return {};
    const { $ref, allOf = [], ...own } = schema;
    const parts = allOf.map((part) => this.#merged(part, budget - 1));
    if ($ref) {
      const name = $ref.slice($ref.lastIndexOf("/") + 1);
      const target = Object.hasOwn(this.#definitions, name) ? this.#definitions[name] : {};
      parts.unshift({ name, ...this.#merged(target, budget - 1) });
    }
    return parts.length === 0 ? own : [...parts, own].reduce(merge);
  }
}

function merge(one, other) {
  const merged = { ...one, ...other };
  if (one.properties && other.properties) merged.properties = { ...one.properties, ...other.properties };
  if (one.required && other.required) merged.required = [...one.required, ...other.required];
  // the description of a field is more specific than that of its type
  merged.description = other.description || one.description;
  return merged;
}

function describe(schema) {
  const properties = schema.properties ?? {};
  const additional = schema.additionalProperties;
  const kind = kindOf(schema);
  const isMap = Boolean(additional) && typeof additional === "object";
  return {
    kind,
    format: schema.format,
    description: schema.description ?? "",
    values: schema.enum ?? (kind === "boolean" ? [true, false] : []),
    properties,
    additional: isMap ? additional : undefined,
    items: schema.items,
    required: schema.required ?? [],
    listKeys: schema["x-kubernetes-list-map-keys"] ?? [],
    /** Whether any field is allowed. */
    isOpen:
      kind === "any" ||
      schema["x-kubernetes-preserve-unknown-fields"] === true ||
      additional === true ||
      (kind === "object" && !isMap && Object.keys(properties).length === 0),
  };
}

function kindOf(schema) {
  if (schema["x-kubernetes-int-or-string"] || schema.format === "int-or-string") return "int-or-string";
  if (/(^|\.)IntOrString$/.test(schema.name ?? "")) return "int-or-string";
  if (/(^|\.)api\.resource\.Quantity$|^Quantity$/.test(schema.name ?? "")) return "quantity";
  const choices = (schema.oneOf ?? schema.anyOf ?? []).map(({ type }) => type).filter(Boolean);
  if (choices.includes("string") && choices.includes("integer")) return "int-or-string";
  if (choices.includes("string") && choices.includes("number")) return "quantity";
  if (typeof schema.type === "string") return schema.type;
  return schema.properties ? "object" : "any";
}

const NAMES = {
  "int-or-string": "integer or string",
  any: "any value",
  array: "list",
};

/** Returns the name of a type: "string", "list of objects", "map of strings". */
export function typeName(schema, type) {
  if (type.kind === "array" && type.items) return `list of ${plural(typeName(schema, schema.type(type.items)))}`;
  if (type.kind === "object" && type.additional) return `map of ${plural(typeName(schema, schema.type(type.additional)))}`;
  return NAMES[type.kind] ?? type.kind;
}

function plural(name) {
  if (name === "any value") return "any values";
  if (name === "quantity") return "quantities";
  if (name === "integer or string") return "integers or strings";
  return name.replace(/^\w+/, (word) => `${word}s`);
}

/** Returns the first sentence of a description. */
export function firstSentence(text) {
  const paragraph = text.split("\n\n", 1)[0].replace(/\s+/g, " ").trim();
  return /^.*?[^.](?<!\b(?:e\.g|i\.e|etc))\.(?= |$)/i.exec(paragraph)?.[0] ?? paragraph;
}
