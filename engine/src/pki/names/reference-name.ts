/** Instead of which `default` names whatever the mount is configured to use. */
export const defaultReference = "default"

const nameMaximum = 255

/** What is wrong with a name by which an issuer or a key is to be referred to (pki-facts 2.1), as the sentence about it goes on. */
export function referenceNameProblem(name: string): string | undefined {
  if (name === defaultReference) return "must not be the reserved word default"
  if (name.length > nameMaximum) return `must not be longer than ${nameMaximum} characters`
  return /^\w([\w.-]*\w)?$/.test(name)
    ? undefined
    : 'may hold letters, digits, "_", "-" and ".", and must begin and end with a letter, digit or "_"'
}
