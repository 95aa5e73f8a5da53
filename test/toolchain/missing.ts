/** What tests need and did not find: said so that nobody overlooks it, and in CI an error. */
export function sayMissing(advice: string): undefined {
  if (process.env["CI"] === "true") throw new Error(advice)
  sayLoudly(advice)
  return undefined
}

export function sayLoudly(text: string): void {
  process.stderr.write(`\n${"!".repeat(80)}\n${text}\n${"!".repeat(80)}\n\n`)
}
