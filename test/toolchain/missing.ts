/** Reports a missing prerequisite of tests with a conspicuous warning; throws in CI. */
export function warnMissing(advice: string): undefined {
  if (process.env["CI"] === "true") throw new Error(advice)
  printNotice(advice)
  return undefined
}

export function printNotice(text: string): void {
  process.stderr.write(`\n${"!".repeat(80)}\n${text}\n${"!".repeat(80)}\n\n`)
}
