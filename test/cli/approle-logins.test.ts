// The AppRole examples of docs/logins.md, run as written.
import { readFile } from "node:fs/promises"
import { join } from "node:path"
import { expect, test } from "vitest"
import { openEngine } from "../../engine/src/index.ts"
import { typedPage } from "../documents/typed-page.ts"
import { serve, temporaryFolder } from "./chancery.ts"

const guide = typedPage(import.meta.url, "docs/logins.md")
const heading = "AppRole"

test("a program logs in with the commands of the guide, typed as written", async () => {
  await using folder = await temporaryFolder()
  const url = `sqlite:${join(folder.path, "chancery.db")}`
  const rule = 'path "pki/issue/web" { capabilities = ["update"] }'
  let token: string
  {
    await using engine = await openEngine(url)
    await engine.policies.put("web", rule)
    token = (await engine.serviceTokens.create({ policies: ["root"], ttlMs: 3_600_000 })).secret
  }
  await using served = await serve(["serve"], { folder: folder.path, environment: { CHANCERY_DATA: folder.path } })
  const type = (index: number) =>
    guide.block(heading, index).type({
      folder: folder.path,
      environment: { PATH: process.env["PATH"], VAULT_ADDR: served.url, VAULT_TOKEN: token },
    })
  await type(0)
  await type(1)
  const secretId = JSON.parse(await readFile(join(folder.path, "secret-id.json"), "utf8")) as { data: object }
  expect(secretId.data).toMatchObject({ secret_id_ttl: 86_400, secret_id_num_uses: 10 })
  const { auth } = JSON.parse(await type(2)) as { auth: { client_token: string } }
  expect(auth).toMatchObject({
    policies: ["default", "web"],
    metadata: { host: "web-1", role_name: "web" },
    lease_duration: 1_200,
  })
  const looked = await fetch(`${served.url}/v1/auth/token/lookup-self`, {
    headers: { "x-vault-token": auth.client_token },
  })
  expect(looked.status).toBe(200)
})
