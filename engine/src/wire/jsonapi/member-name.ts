// Dashes on the wire, camelCase inside; nothing else knows both.

/** `autoDestroyAt` → `auto-destroy-at`. */
export const dashed = (name: string): string => name.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)

/** `auto-destroy-at` → `autoDestroyAt`. */
export const camelCased = (name: string): string =>
  name.replaceAll(/-([a-z0-9])/g, (_match, letter: string) => letter.toUpperCase())
