import { expect, test } from "vitest"
import { hmacSigner } from "../storage/sealing/hmac-signer.ts"
import { grantFor, isGranted } from "./grants.ts"

const signer = hmacSigner(Buffer.alloc(32, 7))
const ends = 5_000
const granted = grantFor(signer, "upload/cv-1", ends)

test.each<{ what: string; subject?: string; credential?: string; now?: number; good: boolean }>([
  { what: "its own subject until it expires", now: ends - 1, good: true },
  { what: "nothing after it has expired", now: ends, good: false },
  { what: "no other subject", subject: "upload/cv-2", good: false },
  { what: "no subject with the same prefix", subject: "upload/cv-1/5000", good: false },
  { what: "nothing when its expiry was changed", credential: granted.replace(/^\d+/, "5001"), good: false },
  { what: "nothing when its expiry is not a number", credential: granted.replace(/^\d+/, "1e99"), good: false },
  { what: "nothing when it is truncated", credential: granted.slice(0, -1), good: false },
  { what: "nothing when its signature is missing", credential: "5000", good: false },
  { what: "nothing when it is empty", credential: "", good: false },
  {
    what: "nothing with another key",
    credential: grantFor(hmacSigner(Buffer.alloc(32, 8)), "upload/cv-1", ends),
    good: false,
  },
])("a credential grants $what", ({ subject = "upload/cv-1", credential = granted, now = 1_000, good }) => {
  expect(isGranted(signer, subject, credential, now)).toBe(good)
})
