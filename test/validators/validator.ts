import type { WrittenBatch } from "./batch.ts"
import { type Explanation, isExplanation } from "./explained.ts"

export interface Finding {
  readonly judge: string
  /** The name of what was judged. */
  readonly subject: string
  /** What kind of fault, in the judge's own terms. */
  readonly code: string
  readonly detail: string
}

export interface Validator {
  readonly name: string
  /** Everything it holds against the pieces of the batch, and every status that it sees differently. */
  judge(batch: WrittenBatch): Promise<readonly Finding[]>
}

export interface Verdict {
  /** Findings that nobody explained, each as a sentence. */
  readonly faults: readonly string[]
  readonly used: ReadonlySet<Explanation>
}

/** Sets the findings apart that the judged pieces explain. */
export function verdict(
  findings: readonly Finding[],
  { certificates, crls, answers, requests }: WrittenBatch,
): Verdict {
  const explained = new Map(
    [...certificates, ...crls, ...answers, ...requests].map((each) => [each.name, each.explained ?? []]),
  )
  const faults: string[] = []
  const used = new Set<Explanation>()
  for (const { judge, subject, code, detail } of findings) {
    const explanation = `${judge}: ${code}`
    if (isExplanation(explanation) && explained.get(subject)?.includes(explanation)) used.add(explanation)
    else faults.push(`${subject}: ${explanation}${detail === "" ? "" : ` (${detail})`}`)
  }
  return { faults, used }
}
