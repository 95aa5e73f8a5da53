// Dashes on the wire, camelCase inside; nothing else knows both.

/** `autoDestroyAt` → `auto-destroy-at`. */
export const dashed = (name: string): string => name.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)

/** `auto-destroy-at` → `autoDestroyAt`. */
export const camelCased = (name: string): string =>
  name.replaceAll(/-([a-z0-9])/g, (_match, letter: string) => letter.toUpperCase())

/** Every member under its wire name; those that are undefined are left out. */
export const dashedMembers = (members: object): Record<string, unknown> =>
  Object.fromEntries(
    Object.entries(members).flatMap(([name, value]) => (value === undefined ? [] : [[dashed(name), value]])),
  )
