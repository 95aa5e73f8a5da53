import { type Arbitrary, assert, constant, oneof, property, record, string } from "fast-check"
import { expect, test } from "vitest"
import { type Directory, directoryAt, directoryPath } from "./directory.ts"

const name = string({ minLength: 1, maxLength: 12, unit: "binary" }).filter((text) => text.isWellFormed())
const directory: Arbitrary<Directory> = oneof(
  record({ issuerRef: name, role: name }, { requiredKeys: [] }),
  record({ issuerRef: name, externalPolicy: oneof(name, constant("")) }, { requiredKeys: ["externalPolicy"] }),
)

test("directoryAt parses the path of a directory with any names", () => {
  assert(
    property(oneof(directory, constant({ issuerRef: "roles", role: "external-policy" })), (one) => {
      expect(directoryAt(directoryPath(one))).toEqual(one)
    }),
  )
})
