import { expect, test } from "vitest"
import { isEngineError } from "../../core/errors.ts"
import type { StateVersionId } from "../../core/ids.ts"
import { hmacSigner } from "../../storage/sealing/hmac-signer.ts"
import { grant, type Granted, grantMs, requireGrant, type StateTransfer } from "./state-grants.ts"

const signer = hmacSigner(Buffer.alloc(32, 7))
const id = "sv-1" as StateVersionId
const transfers: readonly StateTransfer[] = ["upload", "download"]

const cases: readonly (Partial<Granted> & { what: string; credential?: string; after?: number; good: boolean })[] = [
  { what: "its own document until it expires", after: -1, good: true },
  { what: "nothing after it expires", after: 0, good: false },
  { what: "no other document", document: "json-state", good: false },
  { what: "no other state version", id: "sv-2", good: false },
  { what: "nothing when its expiry was changed", credential: "moved", good: false },
  { what: "nothing when its expiry is not a number", credential: "1e99", good: false },
  { what: "nothing when it is truncated", credential: "cut", good: false },
  { what: "nothing when it is empty", credential: "", good: false },
  { what: "nothing with another signing key", credential: "another key", good: false },
]

test.each(transfers.flatMap((transfer) => cases.map((one) => ({ ...one, transfer }))))(
  "a credential for an $transfer opens $what",
  ({ transfer, id: target = id, document = "state", credential, after = -1_000, good }) => {
    const granted = grant(signer, { transfer, id, document: "state" }, 1_000)
    const ends = 1_000 + grantMs[transfer]
    const shown =
      {
        moved: granted.replace(/^\d+/, String(ends + 1)),
        "1e99": granted.replace(/^\d+/, "1e99"),
        cut: granted.slice(0, -1),
        "": "",
        "another key": grant(hmacSigner(Buffer.alloc(32, 8)), { transfer, id, document: "state" }, 1_000),
      }[credential ?? "own"] ?? granted
    expect(accepted({ transfer, id: target, document, credential: shown }, ends + after)).toBe(good)
  },
)

test("a credential for one direction does not open the other", () => {
  const [upload, download] = transfers.map((transfer) => grant(signer, { transfer, id, document: "state" }, 0)) as [
    string,
    string,
  ]
  expect(accepted({ transfer: "download", id, document: "state", credential: upload }, 1)).toBe(false)
  expect(accepted({ transfer: "upload", id, document: "state", credential: download }, 1)).toBe(false)
})

function accepted(shown: Granted & { readonly credential: string }, now: number): boolean {
  try {
    requireGrant(signer, shown, now)
    return true
  } catch (error) {
    if (isEngineError(error, "not-found")) return false
    throw error
  }
}
