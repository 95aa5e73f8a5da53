// Types of values, from the schemas that `terraform providers schema -json` prints
// (https://developer.hashicorp.com/terraform/cli/commands/providers/schema).
import { isObject, type Json, type JsonObject, type Shape } from "./sensitive-value.ts"

/** Returns the shape of a resource from its schema's block. */
export const shapeOfBlock = (block: Json | undefined): Shape => ({
  kind: "object",
  attributes: attributesOf(isObject(block) ? block["attributes"] : undefined),
  blocks: new Map(
    membersOf(isObject(block) ? block["block_types"] : undefined).map(
      ([name, { nesting_mode: mode, block: nested }]) => [
        name,
        { shape: nestedIn(mode, shapeOfBlock(nested)), isSensitive: false },
      ],
    ),
  ),
})

const attributesOf = (attributes: Json | undefined) =>
  new Map(
    membersOf(attributes).map(([name, attribute]) => [
      name,
      { shape: shapeOfAttribute(attribute), isSensitive: attribute["sensitive"] === true },
    ]),
  )

function shapeOfAttribute({ type, nested_type: nested }: JsonObject): Shape | null {
  if (!isObject(nested)) return shapeOfType(type)
  const object: Shape = { kind: "object", attributes: attributesOf(nested["attributes"]), blocks: new Map() }
  return nestedIn(nested["nesting_mode"], object)
}

function nestedIn(mode: Json | undefined, shape: Shape): Shape {
  if (mode === "list" || mode === "set") return { kind: "list", element: shape }
  return mode === "map" ? { kind: "map", element: shape } : shape
}

function shapeOfType(type: Json | undefined): Shape | null {
  if (typeof type === "string") return type === "dynamic" ? null : { kind: "primitive" }
  if (!Array.isArray(type)) return null
  const [kind, of] = type as readonly Json[]
  switch (kind) {
    case "list":
    case "set":
      return { kind: "list", element: shapeOfType(of) }
    case "map":
      return { kind: "map", element: shapeOfType(of) }
    case "object":
      return {
        kind: "object",
        attributes: new Map(
          Object.entries(isObject(of) ? of : {}).map(([name, member]) => [
            name,
            { shape: shapeOfType(member), isSensitive: false },
          ]),
        ),
        blocks: new Map(),
      }
    default:
      // The elements of a tuple have types of their own.
      return { kind: "list", element: null }
  }
}

const membersOf = (members: Json | undefined): [string, JsonObject][] =>
  Object.entries(isObject(members) ? members : {}).map(([name, member]) => [name, isObject(member) ? member : {}])
