// A server is down while terraform applies: the tool stops after minutes, and its changes are not lost.
import { existsSync } from "node:fs"
import { readFile, writeFile } from "node:fs/promises"
import { join } from "node:path"
import { describe, expect, test } from "vitest"
import { cloud, noTool, openTerraformFixture, organization, tools } from "../e2e/clients/terraform/fixture.ts"

/** The tool retries each of its requests for minutes; it takes thirteen in all. */
const timeoutMs = 25 * 60_000
const isShort = process.env["CHANCERY_SHORT"] === "1"

const slow = `resource "terraform_data" "made" {
  provisioner "local-exec" {
    command = "touch waits; n=0; while [ ! -e go ] && [ $n -lt 600 ]; do sleep 0.1; n=$((n + 1)); done"
  }
}
`

describe.skipIf(noTool || isShort).each(tools.slice(0, 1))("a server outage, by $kind $version", (tool) => {
  test(
    "leaves the result in a file and the workspace locked; both are repaired once the server is back",
    { timeout: timeoutMs },
    async () => {
      await using fixture = await openTerraformFixture()
      const name = "away"
      const project = await fixture.project(tool, name, cloud(`name = "${name}"`) + slow)
      await project.succeeds("init")
      const apply = project.start("apply -auto-approve")
      await expect.poll(() => existsSync(join(project.folder, "waits")), { interval: 20, timeout: 60_000 }).toBe(true)
      await fixture.killServer()
      await writeFile(join(project.folder, "go"), "")
      const { code, text } = await apply.ended
      expect(code, `the apply: ${text}`).toBe(1)
      await fixture.restartServer()

      const errored = await readFile(join(project.folder, "errored.tfstate"), "utf8")
      expect((JSON.parse(errored) as { readonly resources: readonly unknown[] }).resources).toHaveLength(1)
      const workspace = () => fixture.engine.workspaces.get({ organization, name })
      expect(await workspace()).toMatchObject({ resourceCount: 0, lock: { held: true } })
      await project.succeeds(`force-unlock -force ${organization}/${name}`)
      await project.succeeds("state push errored.tfstate")
      expect(await workspace()).toMatchObject({ resourceCount: 1, lock: { held: false } })
      await project.isSettled()
    },
  )
})
