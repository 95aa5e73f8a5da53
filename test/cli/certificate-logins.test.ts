// The commands for client certificates, run as written: curl logs in over TLS at the device listener.
import { copyFile, writeFile } from "node:fs/promises"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { expect, test } from "vitest"
import { authorityExtensions, testCertificate } from "../../engine/testing/client-certificates.ts"
import { openEngine } from "../../engine/src/index.ts"
import { typedPage } from "../documents/typed-page.ts"
import { freePort } from "../free-port.ts"
import { start, temporaryFolder } from "./chancery.ts"

const logins = typedPage(import.meta.url, "docs/logins.md")
const listener = typedPage(import.meta.url, "docs/client-certificates.md")
const fixture = (name: string) => fileURLToPath(new URL(`tls/${name}.pem`, import.meta.url))

test.each(["rsa", "ec", "ed25519"] as const)(
  "a device with a key of type %s logs in with the commands of the guide, typed as written",
  async (keyType) => {
    await using folder = await temporaryFolder()
    const { path } = folder
    let token: string
    {
      await using engine = await openEngine(`sqlite:${join(path, "chancery.db")}`)
      await engine.policies.put("printers", 'path "pki/sign/printers" { capabilities = ["update"] }')
      token = (await engine.serviceTokens.create({ policies: ["root"], ttlMs: 3_600_000 })).secret
    }
    const authority = testCertificate({ keyType, subject: "/CN=Devices", extensions: authorityExtensions })
    const printer = testCertificate({ keyType, subject: "/CN=printer-1", issuer: authority })
    await writeFile(join(path, "device-ca.pem"), authority.certificate)
    await writeFile(join(path, "printer.pem"), printer.certificate)
    await writeFile(join(path, "printer-key.pem"), printer.key)
    await copyFile(fixture("certificate"), join(path, "chain.pem"))
    await copyFile(fixture("certificate"), join(path, "server-ca.pem"))
    await copyFile(fixture("key"), join(path, "key.pem"))
    const ports = [await freePort(), await freePort()]
    const [, ...words] = listener.block("Device listener").words()
    const placed = words.map((word) =>
      word === "0.0.0.0:8443" ? `127.0.0.1:${ports[1]}` : word.endsWith(".pem") ? join(path, word) : word,
    )
    await using running = start([...placed, "--data", path, "--listen", `127.0.0.1:${ports[0]}`])
    await expect.poll(running.stderr).toContain(`"deviceUrl":"https://127.0.0.1:${ports[1]}"`)
    const { auth } = JSON.parse(
      await logins.block("Client certificates").type({
        folder: path,
        environment: {
          PATH: process.env["PATH"],
          CURL_CA_BUNDLE: join(path, "server-ca.pem"),
          VAULT_ADDR: `https://localhost:${ports[0]}`,
          DEVICE_ADDR: `https://localhost:${ports[1]}`,
          VAULT_TOKEN: token,
        },
      }),
    ) as { auth: object }
    expect(auth).toMatchObject({
      policies: ["default", "printers"],
      metadata: { cert_name: "printers", common_name: "printer-1" },
    })
    running.child.kill("SIGTERM")
    expect((await running.ended).code).toBe(0)
  },
)
