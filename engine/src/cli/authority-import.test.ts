import { mkdtemp, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { expect, onTestFinished, test } from "vitest"
import { openEmbedded } from "../embedded.ts"
import { foreignRoot } from "../../testing/issuing-mount.ts"
import { certificateRequest } from "../../testing/certificate-requests.ts"
import { openTestEngine } from "../../testing/test-engine.ts"
import { oids } from "../x509/asn1/oids.ts"
import { writePem } from "../x509/pem.ts"
import { run } from "./program.ts"
import type { Terminal } from "./terminal.ts"

test("[F-P16] certificates and a revocation list are imported from files", async () => {
  const data = await mkdtemp(join(tmpdir(), "chancery-"))
  onTestFinished(() => rm(data, { recursive: true, force: true }))
  const root = foreignRoot()
  const leaves = await Promise.all(
    ["a", "b"].map(async (value) => {
      const { csr } = await certificateRequest({ subject: [[{ type: oids.commonName, value }]] })
      return root.sign(csr, "basicConstraints=CA:FALSE")
    }),
  )
  await writeFile(join(data, "leaves.pem"), leaves.join("\n"))
  {
    // The same authority on another server.
    await using elsewhere = await openTestEngine()
    await elsewhere.engine.mounts.create({ path: "old" })
    const pki = elsewhere.engine.pki("old")
    await pki.issuers.import(`${root.certificate}\n${root.key}`)
    await pki.revocations.revoke({ certificate: leaves[0] ?? "", reason: "superseded" })
    const crl = await pki.crls.get()
    await writeFile(join(data, "old.crl"), writePem("X509 CRL", crl?.der ?? new Uint8Array()))
    await writeFile(join(data, "old.der"), crl?.der ?? "")
  }
  const chancery = async (...words: readonly string[]) => {
    let stderr = ""
    const terminal: Terminal = {
      out: (text) => void (stderr += `${text}\n`),
      say: (text) => void (stderr += `${text}\n`),
      input: async () => "",
      environment: { CHANCERY_DATA: data, CHANCERY_LOG_LEVEL: "silent" },
    }
    return { code: await run(words, terminal), stderr }
  }
  expect((await chancery("mount", "create", "pki")).code).toBe(0)
  {
    await using engine = await openEmbedded(`sqlite://${join(data, "chancery.db")}`)
    await engine.pki("pki").issuers.import(`${root.certificate}\n${root.key}`)
  }
  const file = join(data, "leaves.pem")
  expect((await chancery("certificate", "import", "pki", file)).stderr).toBe(
    "Imported 2 certificates; 0 were already recorded.\n",
  )
  expect((await chancery("certificate", "import", "pki", file)).stderr).toBe(
    "Imported 0 certificates; 2 were already recorded.\n",
  )
  for (const [name, counts] of [
    ["old.crl", "Imported 1 revocations; 0 were already recorded."],
    ["old.der", "Imported 0 revocations; 1 were already recorded."],
  ] as const)
    expect((await chancery("crl", "import", "pki", "default", join(data, name))).stderr).toBe(`${counts}\n`)
  expect((await chancery("crl", "import", "pki", "default", file)).code).toBe(1)
  expect((await chancery("certificate", "import", "pki", join(data, "missing"))).code).toBe(1)
})
