import { expect, test } from "vitest"
import { commandsWithStore } from "../../testing/test-command.ts"
import { openEmbedded } from "../embedded.ts"

async function chanceryWithStore() {
  const { chancery, data } = await commandsWithStore()
  const remoteOperations = async (name: string) => {
    await using engine = await openEmbedded(`sqlite:${data}/chancery.db`)
    return (await engine.organizations.get(name)).remoteOperations
  }
  return { chancery, remoteOperations }
}

test("[F-W1] organization set switches remote operations off and on, and rejects other values", async () => {
  const { chancery, remoteOperations } = await chanceryWithStore()
  await chancery("organization", "create", "acme", "--email", "a@example.com")
  expect(await remoteOperations("acme")).toBe("on")
  for (const value of ["off", "on", "off"]) {
    expect(await chancery("organization", "set", "acme", "--remote-operations", value)).toEqual({
      code: 0,
      out: `Remote operations of the organization acme are ${value}.\n`,
      stderr: "",
    })
    expect(await remoteOperations("acme")).toBe(value)
  }
  const rejected = await chancery("organization", "set", "acme", "--remote-operations", "true")
  expect(rejected).toMatchObject({ out: "", stderr: expect.stringContaining("Allowed choices are on, off") as string })
  expect(rejected.code).not.toBe(0)
  const missing = await chancery("organization", "set", "absent", "--remote-operations", "on")
  expect([missing.code, missing.out]).toEqual([1, ""])
  expect(await remoteOperations("acme")).toBe("off")
})
