/** Reserved reference to the default that the mount is configured to use. */
export const defaultReference = "default"

const maxName = 255

/** Returns the problem of a name for an issuer or a key, as the end of a sentence about it. */
export function referenceNameProblem(name: string): string | undefined {
  if (name === defaultReference) return "must not be the reserved word default"
  if (name.length > maxName) return `must not be longer than ${maxName} characters`
  return /^\w([\w.-]*\w)?$/.test(name)
    ? undefined
    : 'may contain letters, digits, "_", "-" and ".", and must begin and end with a letter, digit or "_"'
}
