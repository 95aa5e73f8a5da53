import type { Fault } from "../core/errors.ts"

const emailMaximum = 254

/** Only what no address lacks; whether it works, a letter would have to show. */
export function emailFaults(email: string): Fault[] {
  const field = ["email"]
  if (email === "") return [{ field, detail: "Email can't be blank" }]
  if (email.length > emailMaximum || !/^[^\s@]+@[^\s@]+$/.test(email)) return [{ field, detail: "Email is invalid" }]
  return []
}
