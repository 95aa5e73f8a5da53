import type { WrittenBatch } from "./batch.ts"
import { type Explanation, isExplanation } from "./explanations.ts"

export interface Finding {
  readonly validator: string
  /** Name of the validated item. */
  readonly subject: string
  /** Kind of fault, in the validator's own terms. */
  readonly code: string
  readonly detail: string
}

export interface Validator {
  readonly name: string
  /** Returns all faults that the validator finds in the items of the batch, and each status that differs from the expected one. */
  validate(batch: WrittenBatch): Promise<readonly Finding[]>
}

export interface Verdict {
  /** Findings without an explanation, each as a sentence. */
  readonly faults: readonly string[]
  readonly used: ReadonlySet<Explanation>
}

/** Separates the findings that the items explain from the others. */
export function verdict(
  findings: readonly Finding[],
  { certificates, crls, answers, requests }: WrittenBatch,
): Verdict {
  const explained = new Map(
    [...certificates, ...crls, ...answers, ...requests].map((each) => [each.name, each.explained ?? []]),
  )
  const faults: string[] = []
  const used = new Set<Explanation>()
  for (const { validator, subject, code, detail } of findings) {
    const explanation = `${validator}: ${code}`
    if (isExplanation(explanation) && explained.get(subject)?.includes(explanation)) used.add(explanation)
    else faults.push(`${subject}: ${explanation}${detail === "" ? "" : ` (${detail})`}`)
  }
  return { faults, used }
}
