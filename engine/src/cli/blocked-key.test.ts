import { mkdtemp, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { expect, onTestFinished, test } from "vitest"
import { certificateRequest } from "../../testing/certificate-requests.ts"
import { sha256 } from "../x509/digest.ts"
import { run } from "./program.ts"
import type { Terminal } from "./terminal.ts"

test("[F-A7] a key is blocked by its file or its digest, listed, shown and unblocked", async () => {
  const data = await mkdtemp(join(tmpdir(), "chancery-"))
  onTestFinished(() => rm(data, { recursive: true, force: true }))
  const { csr, privateKey } = await certificateRequest()
  const digest = sha256(privateKey.publicKey.spki)
  const file = join(data, "request.pem")
  await writeFile(file, csr)
  const chancery = async (...words: readonly string[]) => {
    let out = ""
    let stderr = ""
    const terminal: Terminal = {
      out: (text) => void (out += `${text}\n`),
      say: (text) => void (stderr += `${text}\n`),
      input: async () => csr,
      environment: { CHANCERY_DATA: data, CHANCERY_LOG_LEVEL: "silent" },
    }
    const code = await run(["blocked-key", ...words], terminal)
    return { code, out, stderr }
  }
  expect(await chancery("add", file, "--comment", "leaked")).toEqual({
    code: 0,
    out: "",
    stderr: `Blocked the key ${digest}.\n`,
  })
  expect((await chancery("list")).out).toBe(`${digest}\n`)
  expect(JSON.parse((await chancery("list", "--json")).out)).toEqual([digest])
  expect(JSON.parse((await chancery("show", digest)).out)).toMatchObject({
    spki_sha256: digest,
    source: "entry",
    comment: "leaked",
  })
  expect(await chancery("delete", digest)).toMatchObject({ code: 0 })
  expect((await chancery("list")).out).toBe("")
  expect((await chancery("add", "-")).code).toBe(0)
  expect((await chancery("add", "--digest", "a".repeat(64))).code).toBe(0)
  expect((await chancery("list")).out).toBe(`${[digest, "a".repeat(64)].toSorted().join("\n")}\n`)
  expect((await chancery("add")).code).toBe(64)
  expect((await chancery("show", "b".repeat(64))).code).toBe(1)
})
