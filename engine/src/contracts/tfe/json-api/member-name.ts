// Names are dashed on the wire and camelCase in the domain; only this file converts them.

/** Converts `autoDestroyAt` to `auto-destroy-at`. */
export const dashed = (name: string): string => name.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)

/** Converts `auto-destroy-at` to `autoDestroyAt`. */
export const camelCased = (name: string): string =>
  name.replaceAll(/-([a-z0-9])/g, (_match, letter: string) => letter.toUpperCase())

/** Returns members under their wire names, without those that are undefined. */
export const dashedMembers = (members: object): Record<string, unknown> =>
  Object.fromEntries(
    Object.entries(members).flatMap(([name, value]) => (value === undefined ? [] : [[dashed(name), value]])),
  )
