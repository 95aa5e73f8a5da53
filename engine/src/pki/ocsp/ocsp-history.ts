// What a mount remembers to decide about serial numbers without a record (`unknown-serials.ts`).
export const unknownSerialsAnswers = ["good", "unknown"] as const
export type UnknownSerialsAnswer = (typeof unknownSerialsAnswers)[number]

export interface OcspHistory {
  /** `unrecorded`: of a mount that had keys before their origin was recorded. */
  readonly keyOrigin: "unrecorded" | "generated" | "imported"
  /** True once `ocspUnknownSerials` was set by a request; the server then no longer changes it. */
  readonly isUnknownSerialsSet: boolean
}

export const defaultOcspHistory: OcspHistory = { keyOrigin: "unrecorded", isUnknownSerialsSet: false }
