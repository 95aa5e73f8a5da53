// Facts that a mount stores to decide about serial numbers without a record (`unknown-serials.ts`).
export const unknownSerialsAnswers = ["good", "unknown"] as const
export type UnknownSerialsAnswer = (typeof unknownSerialsAnswers)[number]

export interface OcspHistory {
  /** `unrecorded`: the mount had keys before their origin was recorded. */
  readonly keyOrigin: "unrecorded" | "generated" | "imported"
  /** True if a request has set `ocspUnknownSerials`. The server then no longer changes it. */
  readonly isUnknownSerialsSet: boolean
}

export const defaultOcspHistory: OcspHistory = { keyOrigin: "unrecorded", isUnknownSerialsSet: false }
