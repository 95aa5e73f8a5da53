import { badRequest } from "./errors.ts"

/** Splits at commas, trims and drops empty parts: `a, b` → `["a", "b"]`. */
export const commaSeparated = (text: string): string[] =>
  text
    .split(",")
    .map((part) => part.trim())
    .filter((part) => part !== "")

/** Returns the reason why the database cannot store a text. PostgreSQL rejects U+0000, and half of a surrogate pair has no UTF-8. */
export function textProblem(text: string): string | undefined {
  if (text.includes("\0")) return "must not contain the character U+0000"
  return text.isWellFormed() ? undefined : "must not contain an unpaired surrogate"
}

/** Throws `bad-request` for text that the database can neither store nor search for. */
export function rejectUnstorableText(text: string): void {
  const problem = textProblem(text)
  if (problem !== undefined) throw badRequest(`Text ${problem}.`)
}

/** Returns a number with its noun, such as `1 key` or `2 keys`. */
export const counted = (count: number, noun: string): string => `${count} ${noun}${count === 1 ? "" : "s"}`
