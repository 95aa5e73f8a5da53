// The characters of a PrintableString (X.680, clause 41.4).

const printable = new Uint8Array(0x80)
for (const character of "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789 '()+,-./:=?")
  printable[character.charCodeAt(0)] = 1

/** Accepts an octet or a UTF-16 code unit. */
export const isPrintable = (unit: number): boolean => unit < 0x80 && printable[unit] === 1

export function isPrintableText(text: string): boolean {
  for (let at = 0; at < text.length; at += 1) if (!isPrintable(text.charCodeAt(at))) return false
  return true
}
