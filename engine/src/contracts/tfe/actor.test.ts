import { expect, test } from "vitest"
import type { Actor } from "../../workspaces/workspace/workspace.ts"
import { author } from "./actor.ts"

test.each<{ by: Actor; type: string }>([
  { by: { kind: "users", id: "user-6yEmxNAhaoQLH1Da" }, type: "users" },
  { by: { kind: "teams", id: "team-6yEmxNAhaoQLH1Da" }, type: "users" },
  { by: { kind: "organizations", id: "org-6yEmxNAhaoQLH1Da" }, type: "users" },
  { by: { kind: "runs", id: "run-6yEmxNAhaoQLH1Da" }, type: "runs" },
])("an author of the kind $by.kind has the type $type, and is decoded with its kind", ({ by, type }) => {
  const encoded = author.encode(by)
  expect(encoded).toEqual({ data: { type, id: by.id } })
  expect(author.decode(encoded)).toEqual(by)
})

test("an absent author is null", () => {
  expect(author.encode(null)).toEqual({ data: null })
  expect(author.decode({ data: null })).toBeNull()
})
