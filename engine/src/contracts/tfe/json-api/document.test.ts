import { expect, test } from "vitest"
import { z } from "zod"
import { EngineError } from "../../../core/errors.ts"
import { decodeDocument } from "./document.ts"

const schema = z.object({
  attributes: z.object({
    serial: z.int().nonnegative().max(9).optional(),
    names: z.array(z.string().max(3)).max(2).optional(),
    word: z.string().min(2).optional(),
  }),
})

test.each([
  { attributes: { serial: -1 }, pointer: "serial", detail: "serial is too small (minimum is 0)" },
  { attributes: { serial: 10 }, pointer: "serial", detail: "serial is too large (maximum is 9)" },
  { attributes: { serial: 1.5 }, pointer: "serial", detail: "serial must be an integer" },
  { attributes: { word: "a" }, pointer: "word", detail: "word is too short (minimum is 2)" },
  { attributes: { names: ["a", "b", "c"] }, pointer: "names", detail: "names is too long (maximum is 2)" },
  { attributes: { names: ["a", 1] }, pointer: "names/1", detail: "item 1 of names must be a string" },
  { attributes: { names: ["long"] }, pointer: "names/0", detail: "item 0 of names is too long (maximum is 3)" },
])("$attributes is rejected: $detail", ({ attributes, pointer, detail }) => {
  const decode = () => decodeDocument({ data: { type: "things", attributes } }, schema, { types: ["things"] })
  expect(decode).toThrow(EngineError)
  expect(decode).toThrow(
    expect.objectContaining({ code: "invalid", faults: [{ detail, pointer: `/data/attributes/${pointer}` }] }),
  )
})
