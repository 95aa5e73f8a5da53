import { describe, expect, test } from "vitest"
import { conflict, EngineError, type EngineErrorCode, type FieldPath, invalid, notFound } from "../../core/errors.ts"
import { attributePointers, decodeError, encodeError, listPointers, statusOf } from "./errors.ts"

describe("an error document", () => {
  test("carries a string status, a title and a detail", () => {
    expect(encodeError(notFound())).toEqual({
      errors: [
        {
          status: "404",
          title: "not found",
          detail: "The resource does not exist, or you are not authorized to perform this action.",
        },
      ],
    })
  })

  test("has one object per fault, each with its source", () => {
    const error = invalid([
      { field: ["name"], detail: "Name can't be blank" },
      { parameter: "page[size]", detail: "page[size] must be a positive integer" },
      { pointer: "/data/type", detail: 'type must be "workspaces"' },
    ])
    expect(encodeError(error).errors.map((object) => object.source)).toEqual([
      { pointer: "/data/attributes/name" },
      { parameter: "page[size]" },
      { pointer: "/data/type" },
    ])
  })

  test.each<{ field: FieldPath; pointer: string }>([
    { field: ["name"], pointer: "/data/attributes/name" },
    { field: ["autoDestroyAt"], pointer: "/data/attributes/auto-destroy-at" },
    { field: ["vcsRepo", "oauthTokenId"], pointer: "/data/attributes/vcs-repo/oauth-token-id" },
    { field: ["triggerPatterns", 2], pointer: "/data/attributes/trigger-patterns/2" },
    { field: ["project", "id"], pointer: "/data/relationships/project/data/id" },
    { field: ["tagBindings"], pointer: "/data/relationships/tag-bindings/data" },
    { field: ["tagBindings", 3], pointer: "/data/relationships/tag-bindings/data/3" },
    { field: ["tagBindings", 0, "key"], pointer: "/data/relationships/tag-bindings/data/0/attributes/key" },
  ])("points to $pointer", ({ field, pointer }) => {
    expect(attributePointers(["project", "tagBindings"])(field)).toBe(pointer)
  })

  test.each<{ field: FieldPath; pointer: string }>([
    { field: ["data"], pointer: "/data" },
    { field: ["data", 1], pointer: "/data/1" },
    { field: ["data", 1, "id"], pointer: "/data/1/id" },
    { field: ["data", 1, "key"], pointer: "/data/1/attributes/key" },
  ])("points into a list to $pointer", ({ field, pointer }) => {
    expect(listPointers(field)).toBe(pointer)
  })
})

describe("an error over the wire", () => {
  test.each<EngineErrorCode>([
    "bad-request",
    "unauthenticated",
    "forbidden",
    "not-found",
    "conflict",
    "precondition-failed",
    "too-large",
    "unsupported-media-type",
    "unprocessable",
    "rate-limited",
  ])("keeps its code %s", (code) => {
    expect(decodeError(statusOf(code), encodeError(new EngineError(code, "why"))).code).toBe(code)
  })

  test("keeps its text and faults", () => {
    const decoded = decodeError(422, encodeError(invalid([{ field: ["name"], detail: "Name has already been taken" }])))
    expect(decoded).toMatchObject({
      code: "invalid",
      message: "Name has already been taken",
      faults: [{ detail: "Name has already been taken", pointer: "/data/attributes/name" }],
    })
    expect(decodeError(409, encodeError(conflict("workspace already locked"))).message).toBe("workspace already locked")
  })

  test("tells a pending unlock from a busy store", () => {
    const error = new EngineError("pending", "The latest state version is still pending")
    expect(decodeError(503, encodeError(error)).code).toBe("pending")
    expect(decodeError(503, encodeError(new EngineError("busy", "busy"))).code).toBe("busy")
  })

  test("survives a body that is no error document", () => {
    expect(decodeError(502, "<html>").code).toBe("internal")
  })
})
