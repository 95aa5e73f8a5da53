// The commands of docs/migrate-authority.md, run as written.
import { execFile } from "node:child_process"
import { chmod, mkdir, readFile, writeFile } from "node:fs/promises"
import { delimiter, join } from "node:path"
import { promisify } from "node:util"
import { expect, test } from "vitest"
import { certificateRequest } from "../../engine/testing/certificate-requests.ts"
import { foreignRoot, type ForeignRoot } from "../../engine/testing/issuing-mount.ts"
import { openTestEngine } from "../../engine/testing/test-engine.ts"
import { oids } from "../../engine/src/x509/asn1/oids.ts"
import { writePem } from "../../engine/src/x509/pem.ts"
import { typedPage } from "../documents/typed-page.ts"
import { printNotice } from "../toolchain/missing.ts"
import { main, serve, temporaryFolder } from "./chancery.ts"

const page = typedPage(import.meta.url, "docs/migrate-authority.md")

const hasTools = await promisify(execFile)("sh", ["-c", "command -v curl && command -v jq"]).then(
  () => true,
  () => false,
)
if (!hasTools) printNotice("There is no curl or no jq, so the page about moving an authority is not typed.")

/** Returns the CRL as PEM, from the server that previously had the CA. */
async function revocationListOf({ certificate, key }: ForeignRoot, revoked: string): Promise<string> {
  await using elsewhere = await openTestEngine()
  await elsewhere.engine.mounts.create({ path: "old" })
  const { issuers, revocations, crls } = elsewhere.engine.pki("old")
  await issuers.import(`${certificate}\n${key}`)
  await revocations.revoke({ certificate: revoked, reason: "superseded" })
  const list = await crls.get()
  return writePem("X509 CRL", list?.der ?? new Uint8Array())
}

test.skipIf(!hasTools)(
  "an authority moves with its certificates and its revocation list, typed as written",
  { timeout: 120_000 },
  async () => {
    await using folder = await temporaryFolder()
    const at = (...names: readonly string[]) => join(folder.path, ...names)
    const root = foreignRoot()
    const leaves = await Promise.all(
      ["revoked", "valid"].map(async (value) => {
        const { csr } = await certificateRequest({ subject: [[{ type: oids.commonName, value }]] })
        return root.sign(csr, "basicConstraints=CA:FALSE")
      }),
    )
    await mkdir(at("issued"))
    for (const [index, leaf] of leaves.entries()) await writeFile(at("issued", `${index}.pem`), leaf)
    await writeFile(at("authority.pem"), `${root.certificate}\n${root.key}`)
    await writeFile(at("old.crl"), await revocationListOf(root, leaves[0] ?? ""))
    await mkdir(at("bin"))
    await writeFile(at("bin", "chancery"), `#!/bin/sh\nexec "${process.execPath}" "${main}" "$@"\n`)
    await chmod(at("bin", "chancery"), 0o755)

    await using served = await serve(["dev"], { folder: folder.path })
    const token = (await readFile(at(".chancery", "root-token"), "utf8")).trim()
    await page.block("Move an authority to this server").type({
      folder: folder.path,
      environment: {
        PATH: [at("bin"), process.env["PATH"]].join(delimiter),
        CHANCERY_ENGINE_URL: served.url,
        CHANCERY_TOKEN: token,
        TOKEN: token,
        server: served.url,
      },
    })

    const answer = await fetch(`${served.url}/v1/legacy/certs/search?list=true`, {
      headers: { "x-service-token": token },
    })
    const { data } = (await answer.json()) as {
      data: { key_info: Record<string, { common_name: string; status: string }> }
    }
    const statuses = Object.values(data.key_info).map((entry) => [entry.common_name, entry.status])
    expect(Object.fromEntries(statuses)).toEqual({ Elsewhere: "valid", revoked: "revoked", valid: "valid" })
  },
)
