// Text that databases cannot store: PostgreSQL rejects U+0000, and a lone surrogate has no UTF-8. JSON can contain both. They are rejected
// before any rule, so that all databases behave alike.
import { badRequest, type Fault } from "../../../core/errors.ts"
import { textProblem } from "../../../core/text.ts"

const maxFaults = 100

/** Returns faults of all strings in the value at the pointer `base`. Iterative, because a document may be nested deeper than the stack. */
export function unstorableFaults(value: unknown, base: string, maxValues = Number.POSITIVE_INFINITY): Fault[] {
  const faults: Fault[] = []
  const pending: { readonly value: unknown; readonly pointer: string }[] = [{ value, pointer: base }]
  let seen = 0
  for (let next = pending.pop(); next !== undefined && faults.length < maxFaults; next = pending.pop()) {
    const { value, pointer } = next
    seen += 1
    if (seen > maxValues) break
    if (typeof value === "string") {
      const problem = textProblem(value)
      if (problem !== undefined) faults.push({ detail: `${nameOf(pointer)} ${problem}`, pointer })
    } else if (typeof value === "object" && value !== null && !ArrayBuffer.isView(value))
      for (const [name, member] of Object.entries(value).toReversed())
        pending.push({ value: member, pointer: `${pointer}/${escaped(name)}` })
  }
  return faults
}

export function rejectUnstorableQuery(query: URLSearchParams): void {
  const faults = [...query].flatMap(([name, value]): Fault[] => {
    const problem = textProblem(name) ?? textProblem(value)
    const parameter = name.replaceAll("\0", "")
    return problem === undefined ? [] : [{ detail: `${parameter} ${problem}`, parameter }]
  })
  if (faults.length > 0) throw badRequest("The query is not valid.", faults)
}

const nameOf = (pointer: string): string => pointer.split("/").at(-1) || "data"
/** RFC 6901 section 3. */
const escaped = (name: string): string => name.replaceAll("~", "~0").replaceAll("/", "~1").toWellFormed()
