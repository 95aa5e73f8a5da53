import { z } from "zod"
import type { Fault } from "../../core/errors.ts"

/** Text that a rule of the domain judges while the document is read, so that its faults come with those of wrong types. */
export const ruled = (rule: (text: string) => readonly Fault[]) => z.string().check(judging(rule))

/** The same for a number. */
export const ruledNumber = (rule: (number: number) => readonly Fault[]) => z.number().check(judging(rule))

function judging<T>(rule: (value: T) => readonly Fault[]): z.core.CheckFn<T> {
  return (context) => {
    for (const { detail } of rule(context.value))
      context.issues.push({ code: "custom", message: detail, input: context.value, params: wholeSentence })
  }
}

/** Marks a message that names its subject itself. */
export const wholeSentence = { wholeSentence: true }
