import { expect, test } from "vitest"
import { encodeCsrAttributes } from "./csr-attributes.ts"

test.each([
  {
    key: { type: "ec", bits: 384 } as const,
    hex: "301e301206072a8648ce3d0201310706052b8104002206082a8648ce3d040303",
  },
  {
    key: { type: "rsa", bits: 4096 } as const,
    hex: "301e301106092a864886f70d01010131040202100006092a864886f70d01010b",
  },
  { key: { type: "ed25519" } as const, hex: "300506032b6570" },
])("encodeCsrAttributes returns $hex for $key", ({ key, hex }) => {
  expect(Buffer.from(encodeCsrAttributes(key)).toString("hex")).toBe(hex)
})
