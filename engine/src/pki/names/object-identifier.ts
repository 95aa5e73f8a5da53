const lengthMaximum = 256

/** Dotted decimal as X.660 has it: two arcs or more, the first at most 2, the second below 40 under the first two, no leading zeros. */
export function isObjectIdentifier(text: string): boolean {
  if (text.length > lengthMaximum || !/^[0-2](\.(0|[1-9]\d*))+$/.test(text)) return false
  const [first, second] = text.split(".")
  return first === "2" || Number(second) < 40
}
