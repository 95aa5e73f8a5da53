// Redacted plans: made from the tools' own output, and rendered by the tools from the server.
import { announceExecutor } from "../../../../engine/testing/announced-executor.ts"
import { writeFile } from "node:fs/promises"
import { join } from "node:path"
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { redactPlan } from "../../../../engine/src/agent/plans/redacted-plan.ts"
import {
  cloud,
  hostname,
  noTool,
  openProject,
  openTerraformFixture,
  organization,
  type TerraformFixture,
  tools,
} from "./fixture.ts"

let fixture: TerraformFixture
beforeAll(async () => {
  fixture = await openTerraformFixture()
})
afterAll(() => fixture[Symbol.asyncDispose]())

// The secrets are in `triggers_replace`: the provider copies `input` to `output`, which Terraform does not mark.
const configuration = `variable "password" {
  sensitive = true
}
variable "users" {
  type      = map(string)
  sensitive = true
}
variable "size" {
  default = 1
}
resource "terraform_data" "login" {
  input            = var.size
  triggers_replace = { user = "ada", password = var.password }
}
resource "terraform_data" "users" {
  triggers_replace = var.users
}
output "password" {
  value     = var.password
  sensitive = true
}
output "user" {
  value = "ada"
}
`
const valuesWith = (secret: string) => ({
  TF_VAR_password: `${secret}-password`,
  TF_VAR_users: JSON.stringify({ [`${secret}-name`]: `${secret}-value` }),
})

/** Plans a change from old secrets to new ones, and returns the redacted plan. */
async function redactedPlan(program: string, folder: string) {
  const project = await openProject(program, folder, configuration, { HOME: folder })
  const environment = { ...valuesWith("0ld-s3cret"), TF_VAR_size: "1" }
  await project.succeeds("init")
  await project.applies(undefined, { environment })
  const changed = { ...valuesWith("n3w-s3cret"), TF_VAR_size: "2" }
  await project.succeeds("plan -out=plan.bin", { environment: changed })
  const plan = JSON.parse(await project.succeeds("show -json plan.bin")) as object
  expect(JSON.stringify(plan)).toContain("n3w-s3cret")
  return redactPlan(plan, JSON.parse(await project.succeeds("providers schema -json")))
}

describe.skipIf(noTool).each(tools)("a redacted plan, by $kind $version", (tool) => {
  const { kind, program } = tool

  test("contains no secret and keeps the marks, and is rendered from the server", async () => {
    const document = await redactedPlan(program, join(fixture.folder, kind, "local"))
    const text = JSON.stringify(document)
    expect(text).not.toContain("s3cret")
    expect(document.resource_changes).toMatchObject([
      {
        address: "terraform_data.login",
        change: {
          before: { input: "1", triggers_replace: { user: "ada", password: "(sensitive value 1)" } },
          after: { input: "2", triggers_replace: { user: "ada", password: "(sensitive value 2)" } },
          before_sensitive: { triggers_replace: { password: true } },
          after_sensitive: { triggers_replace: { password: true } },
        },
      },
      {
        address: "terraform_data.users",
        change: { before_sensitive: { triggers_replace: true }, after_sensitive: { triggers_replace: true } },
      },
    ])
    expect(document.output_changes).toMatchObject({
      password: { before: "(sensitive value 1)", after: "(sensitive value 2)", after_sensitive: true },
      user: { before: "ada", after: "ada" },
    })
    expect(Object.keys(document.provider_schemas)).toEqual(["terraform.io/builtin/terraform"])

    const { workspaces, runs, runClaims } = fixture.engine
    const name = `${kind}-redacted`
    const { id } = await workspaces.create(organization, { name, executionMode: "remote" })
    const input = { message: null, isDestroy: false, autoApply: null, planOnly: true, refreshOnly: false }
    await announceExecutor(fixture.engine, { kind: "organization", name: organization })
    const run = await runs.create({ id }, { ...input, configurationVersionId: null })
    const claim = await runClaims.claim({ kind: "workspace", ref: { id } }, { name: "e2e", leaseMs: 60_000, waitMs: 0 })
    const claimId = claim?.id ?? ""
    await runClaims.report(claimId, { status: "planning", hasChanges: null })
    await runClaims.saveDocument(claimId, "json-output-redacted", Buffer.from(text))
    await runClaims.report(claimId, { status: "planned", hasChanges: true })

    const project = await fixture.project(tool, "redacted", cloud(`name = "${name}"`))
    await project.succeeds("init")
    const saved = { remote_plan_format: 1, run_id: run.id, hostname }
    await writeFile(join(project.folder, "saved.plan"), JSON.stringify(saved))
    const shown = await project.succeeds("show saved.plan")
    expect(shown).toMatch(/# terraform_data\.login must be replaced/)
    expect(shown).toMatch(/~ password\s+= \(sensitive value\)/)
    expect(shown).toMatch(/~ input\s+= "1" -> "2"/)
    expect(shown).toMatch(/# terraform_data\.users must be replaced/)
    expect(shown).toMatch(/~ triggers_replace\s+= \(sensitive value\) # forces replacement/)
    expect(shown).toMatch(/Changes to Outputs:\n\s+~ password = \(sensitive value\)/)
    expect(shown).not.toMatch(/sensitive value \d|s3cret/)
  })
})
