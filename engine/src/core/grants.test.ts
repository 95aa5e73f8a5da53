import { expect, test } from "vitest"
import { hmacSigner } from "../storage/sealing/hmac-signer.ts"
import { grantFor, isGranted } from "./grants.ts"

const signer = hmacSigner(Buffer.alloc(32, 7))
const ends = 5_000
const granted = grantFor(signer, "upload/cv-1", ends)

test.each<{ what: string; subject?: string; credential?: string; now?: number; good: boolean }>([
  { what: "its own subject until it ends", now: ends - 1, good: true },
  { what: "nothing once it has ended", now: ends, good: false },
  { what: "no other subject", subject: "upload/cv-2", good: false },
  { what: "no subject that begins the same", subject: "upload/cv-1/5000", good: false },
  { what: "nothing when its end was moved", credential: granted.replace(/^\d+/, "5001"), good: false },
  { what: "nothing when its end is no number", credential: granted.replace(/^\d+/, "1e99"), good: false },
  { what: "nothing when it is cut", credential: granted.slice(0, -1), good: false },
  { what: "nothing when it has no signature", credential: "5000", good: false },
  { what: "nothing when it is empty", credential: "", good: false },
  {
    what: "nothing under another key",
    credential: grantFor(hmacSigner(Buffer.alloc(32, 8)), "upload/cv-1", ends),
    good: false,
  },
])("a credential is good for $what", ({ subject = "upload/cv-1", credential = granted, now = 1_000, good }) => {
  expect(isGranted(signer, subject, credential, now)).toBe(good)
})
