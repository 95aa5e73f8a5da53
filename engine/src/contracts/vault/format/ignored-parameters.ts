// Warnings about parameters of a request that no endpoint reads, in the words of Vault.
const maxNames = 20
const maxName = 64

export const ignoredWarnings = (names: readonly string[]): readonly string[] =>
  names.length === 0 ? [] : [`Endpoint ignored these unrecognized parameters: ${boundedList(names)}`]

/** Joins names that clients chose: names of more than 64 characters are truncated, and at most 20 are listed. */
export function boundedList(names: readonly string[]): string {
  const shown = names
    .toSorted()
    .slice(0, maxNames)
    .map((name) => (name.length <= maxName ? name : `${name.slice(0, maxName).toWellFormed()}…`))
  return `[${[...shown, ...(names.length > maxNames ? ["…"] : [])].join(" ")}]`
}
