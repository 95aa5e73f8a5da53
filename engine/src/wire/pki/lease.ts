// Leases, as in Vault. They are never renewed.
import type { LeaseView } from "../../pki/leases/leases.ts"
import {
  decodeAnswer,
  type Document,
  durationSeconds,
  encodeMembers,
  exactInstant,
  flag,
  parameters,
  text,
} from "./parameters.ts"

export const leaseParameters = parameters({ leaseId: text, sync: flag, incrementMs: durationSeconds, prefix: text })

const viewParameters = parameters(
  { id: text, issuedAt: exactInstant, expiresAt: exactInstant, remainingMs: durationSeconds },
  { issuedAt: "issue_time", expiresAt: "expire_time", remainingMs: "ttl" },
)

export const encodeLease = (lease: LeaseView): Document => ({
  ...encodeMembers(viewParameters, lease, "native"),
  last_renewal: null,
  renewable: false,
})

export const decodeLease = (data: unknown): LeaseView => decodeAnswer(viewParameters, data)
