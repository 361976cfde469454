// What is known about the field at a place of the text.
import { isMap } from "yaml";
import { documentAt, identity, objects } from "./documents.js";
import { formatPath, pathAt } from "./paths.js";
import { typeName } from "./schema.js";

/** Returns the identity of the Kubernetes object at an offset. */
export function identityAround(parsed, offset) {
  return objectAround(parsed, offset)?.identity;
}

/**
 * Returns `{ from, to, path, type, required, values, description }` of the field at an offset, or
 * undefined. `schemaOf` as in validation.
 */
export function helpAt(parsed, offset, schemaOf) {
  const object = objectAround(parsed, offset);
  const known = object?.identity && schemaOf(object.identity);
  if (known?.state !== "ready") return undefined;
  const { schema } = known;
  const path = object.place.path.slice(object.path.length);
  const type = schema.at(path);
  if (!type || path.length === 0) return undefined;
  const parent = schema.at(path.slice(0, -1));
  return {
    from: object.place.from,
    to: object.place.to,
    path: formatPath(path),
    type: typeName(schema, type),
    required: parent.required.includes(path.at(-1)),
    values: type.kind === "boolean" ? [] : type.values.map(String),
    description: type.description,
  };
}

function objectAround(parsed, offset) {
  const document = documentAt(parsed, offset);
  const place = document && pathAt(document, offset);
  if (!place) return undefined;
  const { node, path } = objects(document)
    .filter(({ path }) => path.every((part, at) => place.path[at] === part))
    .at(-1);
  return isMap(node) ? { identity: identity(node), path, place } : undefined;
}
