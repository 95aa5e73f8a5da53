// Templates in the names of a role, filled in with the caller's identity: `{{identity.entity.name}}.example.com`.

/** Identity of a caller, with the members that templates can use. */
export interface Identity {
  readonly entity: {
    readonly id: string
    readonly name: string
    readonly metadata: Readonly<Record<string, string>>
    /** Aliases by the accessor of the auth method that the entity logged in with. */
    readonly aliases: Readonly<Record<string, IdentityAlias>>
  }
  readonly groups: readonly { readonly id: string; readonly name: string }[]
}

export interface IdentityAlias {
  readonly id: string
  readonly name: string
  readonly metadata: Readonly<Record<string, string>>
}

export const isTemplate = (text: string): boolean => text.includes("{{") || text.includes("}}")

/**
 * Fills in a template. Returns undefined if the identity has no such value, or if the template is malformed. A value with a `*` is
 * rejected unless the role allows it: users who can edit an identity could otherwise widen the role.
 */
export function fillTemplate(
  template: string,
  identity: Identity,
  rules: { readonly globsAllowed: boolean },
): string | undefined {
  let isFilled = !isTemplate(template.replaceAll(placeholder, ""))
  const text = template.replaceAll(placeholder, (_, path: string) => {
    const value = valueAt(identity, path.trim()) ?? ""
    if (value === "" || (value.includes("*") && !rules.globsAllowed)) isFilled = false
    return value
  })
  return isFilled ? text : undefined
}

const placeholder = /\{\{([^{}]*)\}\}/g

function valueAt({ entity, groups }: Identity, path: string): string | undefined {
  const [, kind, rest = ""] = /^identity\.(entity|groups\.ids|groups\.names)\.(.+)$/su.exec(path) ?? []
  if (kind === "groups.ids") return groups.find(({ id }) => `${id}.name` === rest)?.name
  if (kind === "groups.names") return groups.find(({ name }) => `${name}.id` === rest)?.id
  const [, accessor = "", field = ""] = /^aliases\.([^.]+)\.(.+)$/su.exec(rest) ?? []
  if (accessor === "") return fieldOf(entity, rest)
  const alias = Object.hasOwn(entity.aliases, accessor) ? entity.aliases[accessor] : undefined
  return alias && fieldOf(alias, field)
}

function fieldOf({ id, name, metadata }: IdentityAlias, field: string): string | undefined {
  if (field === "id") return id
  if (field === "name") return name
  const key = field.startsWith("metadata.") ? field.slice("metadata.".length) : ""
  return Object.hasOwn(metadata, key) ? metadata[key] : undefined
}
