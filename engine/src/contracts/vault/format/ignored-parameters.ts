// Warnings about parameters of a request that no endpoint reads, in the words of Vault.
const namesMaximum = 20
const nameMaximum = 64

export const ignoredWarnings = (names: readonly string[]): readonly string[] =>
  names.length === 0 ? [] : [`Endpoint ignored these unrecognized parameters: ${boundedList(names)}`]

/** Joins names that clients chose: names of more than 64 characters are truncated, and at most 20 are listed. */
export function boundedList(names: readonly string[]): string {
  const shown = names
    .toSorted()
    .slice(0, namesMaximum)
    .map((name) => (name.length <= nameMaximum ? name : `${name.slice(0, nameMaximum).toWellFormed()}…`))
  return `[${[...shown, ...(names.length > namesMaximum ? ["…"] : [])].join(" ")}]`
}
