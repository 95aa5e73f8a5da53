import { expect, test } from "vitest"
import { isEngineError } from "../core/errors.ts"
import type { StateVersionId } from "../core/ids.ts"
import { hmacSigner } from "../storage/hmac-signer.ts"
import type { StateDocument } from "./state-version.ts"
import { grantUpload, requireUploadGrant, uploadGrantMs } from "./upload-grants.ts"

const signer = hmacSigner(Buffer.alloc(32, 7))
const id = "sv-1" as StateVersionId
const granted = grantUpload(signer, id, "state", 1_000)
const ends = 1_000 + uploadGrantMs

test.each<{ what: string; id?: string; document?: StateDocument; credential?: string; now?: number; good: boolean }>([
  { what: "its own document until it ends", now: ends - 1, good: true },
  { what: "nothing once it has ended", now: ends, good: false },
  { what: "no other document", document: "json-state", good: false },
  { what: "no other state version", id: "sv-2", good: false },
  { what: "nothing when its end was moved", credential: granted.replace(/^\d+/, String(ends + 1)), good: false },
  { what: "nothing when its end is no number", credential: granted.replace(/^\d+/, "1e99"), good: false },
  { what: "nothing when it is cut", credential: granted.slice(0, -1), good: false },
  { what: "nothing when it is empty", credential: "", good: false },
  {
    what: "nothing under another key",
    credential: grantUpload(hmacSigner(Buffer.alloc(32, 8)), id, "state", 1_000),
    good: false,
  },
])(
  "an upload address is good for $what",
  ({ id: target = id, document = "state", credential = granted, now = 2_000, good }) => {
    const accepted = () => {
      try {
        requireUploadGrant(signer, { id: target, document, credential }, now)
        return true
      } catch (error) {
        return !isEngineError(error, "not-found")
      }
    }
    expect(accepted()).toBe(good)
  },
)
