// What a mount remembers to decide about serial numbers without a record (`unknown-serials.ts`).
export const unknownSerialsAnswers = ["good", "unknown"] as const
export type UnknownSerialsAnswer = (typeof unknownSerialsAnswers)[number]

export interface OcspHistory {
  /** `unrecorded`: of a mount that had keys before their origin was recorded. */
  readonly keyOrigin: "unrecorded" | "generated" | "imported"
  /** Whether somebody has set `ocspUnknownSerials`; the server does not change it any more. */
  readonly isUnknownSerialsSet: boolean
}

export const defaultOcspHistory: OcspHistory = { keyOrigin: "unrecorded", isUnknownSerialsSet: false }
