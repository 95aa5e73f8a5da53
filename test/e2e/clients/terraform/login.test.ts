// Logging in as the tools do it, over HTTPS: they discover the services and store a token that the user pastes. The certificate is trusted
// as the output of `chancery dev` describes.
import { existsSync } from "node:fs"
import { mkdir, readFile } from "node:fs/promises"
import { dirname, join } from "node:path"
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { openRemote } from "../../../../engine/src/client/remote.ts"
import { systemRuntime } from "../../../../engine/src/core/runtime.ts"
import { freePort } from "../../../free-port.ts"
import { type Folder, type Served, serve, temporaryFolder } from "../../../cli/chancery.ts"
import { greeting, noTool, openProject, organization, tools } from "./fixture.ts"

let folder: Folder
let served: Served
let hostname: string
let rootToken: string
beforeAll(async () => {
  folder = await temporaryFolder()
  const port = await freePort()
  const environment = { CHANCERY_TLS_LISTEN: `127.0.0.1:${port}` }
  served = await serve(["dev"], { folder: folder.path, environment })
  hostname = `localhost:${port}`
  rootToken = (await readFile(join(folder.path, ".chancery/root-token"), "utf8")).trim()
  await using engine = openRemote(served.url, { token: rootToken, random: systemRuntime().random })
  await engine.organizations.update(organization, { defaultExecutionMode: "local" })
})
afterAll(async () => {
  await served[Symbol.asyncDispose]()
  await folder[Symbol.asyncDispose]()
})

const cloud = (name: string): string => `terraform {
  cloud {
    hostname     = "${hostname}"
    organization = "${organization}"
    workspaces {
      name = "${name}"
    }
  }
}
`

describe.skipIf(noTool).each(tools)("signing in, by $kind $version", ({ program, kind }) => {
  async function withOwnHome(name: string) {
    const home = join(folder.path, `${kind}-${name}`)
    const environment = { HOME: home, SSL_CERT_FILE: join(folder.path, ".chancery/ca.pem") }
    const project = await openProject(
      program,
      join(home, "configuration"),
      cloud(`${kind}-${name}`) + greeting,
      environment,
    )
    const credentials = join(home, ".terraform.d/credentials.tfrc.json")
    // terraform creates this folder when it checks for newer releases, which is disabled here.
    await mkdir(dirname(credentials))
    const pasting = (token: string) => ({
      answers: [
        { to: "Do you want to proceed", say: "yes" },
        { to: "Token for", say: token },
      ],
    })
    return { ...project, credentials, pasting }
  }

  test("a pasted token is stored, works, and is removed by logout", async () => {
    const { fails, succeeds, applies, credentials, pasting } = await withOwnHome("pasted")
    expect(await fails("init")).toContain(`login ${hostname}`)
    const output = await succeeds(`login ${hostname}`, pasting(rootToken))
    expect(output).toContain("/app/settings/tokens?source=terraform-login")
    expect(output).toContain("root")
    expect(JSON.parse(await readFile(credentials, "utf8"))).toEqual({
      credentials: { [hostname]: { token: rootToken } },
    })
    await succeeds("init")
    await applies()
    expect(await succeeds("output -raw greeting")).toBe("hello")
    await succeeds(`logout ${hostname}`)
    expect(await readFile(credentials, "utf8")).not.toContain(rootToken)
    await fails("plan")
  })

  test("a token that the server does not know is rejected and not stored", async () => {
    const { fails, credentials, pasting } = await withOwnHome("refused")
    expect(await fails(`login ${hostname}`, pasting("guessed"))).toContain("Token is invalid")
    expect(existsSync(credentials)).toBe(false)
  })

  test("sends no request when the user declines", async () => {
    const { fails, credentials } = await withOwnHome("unwilling")
    const no = { answers: [{ to: "Do you want to proceed", say: "no" }] }
    expect(await fails(`login ${hostname}`, no)).toContain("cancelled")
    expect(existsSync(credentials)).toBe(false)
  })

  test("rejects a server whose certificate leads to no trusted authority", async () => {
    const { fails } = await withOwnHome("distrustful")
    const environment = { SSL_CERT_FILE: "/dev/null" }
    expect(await fails("init", { environment })).toMatch(/certificate|x509/)
  })
})
