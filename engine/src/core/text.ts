import { badRequest } from "./errors.ts"

/** `a, b` → `["a", "b"]`, blanks dropped. */
export const commaSeparated = (text: string): string[] =>
  text
    .split(",")
    .map((part) => part.trim())
    .filter((part) => part !== "")

/** Why no store can keep this text as it is: PostgreSQL refuses U+0000, and half of a surrogate pair has no UTF-8. */
export function textProblem(text: string): string | undefined {
  if (text.includes("\0")) return "must not contain the character U+0000"
  return text.isWellFormed() ? undefined : "must not contain half of a surrogate pair"
}

/** For text of which nothing is known but that it is to be kept or looked for. */
export function rejectUnstorableText(text: string): void {
  const problem = textProblem(text)
  if (problem !== undefined) throw badRequest(`Text ${problem}.`)
}
