// Names in a role that are filled in with who asks: `{{identity.entity.name}}.example.com`.

/** Who asks, as templates know it. */
export interface Identity {
  readonly entity: {
    readonly id: string
    readonly name: string
    readonly metadata: Readonly<Record<string, string>>
    /** By the accessor of what the entity logged in with. */
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
 * Undefined where the identity has no such value or the template is none. A value that holds a `*` fills nothing in
 * unless the role says that it may: whoever can edit an identity could otherwise widen the role.
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
