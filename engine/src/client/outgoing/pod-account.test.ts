import { mkdtemp, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { expect, onTestFinished, test } from "vitest"
import { podAccount } from "./pod-account.ts"

test("a pod's account is read on each call, and is undefined outside a pod", async () => {
  const folder = await mkdtemp(join(tmpdir(), "chancery-pod-"))
  onTestFinished(() => rm(folder, { recursive: true }))
  const read = podAccount(folder)
  expect(await read()).toBeUndefined()
  await writeFile(join(folder, "ca.crt"), "authorities\n")
  expect(await read()).toBeUndefined()
  await writeFile(join(folder, "token"), "first\n")
  expect(await read()).toEqual({ certificates: "authorities\n", token: "first" })
  await writeFile(join(folder, "token"), "second")
  expect(await read()).toEqual({ certificates: "authorities\n", token: "second" })
})
