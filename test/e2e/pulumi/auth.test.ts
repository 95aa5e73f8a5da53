// Auth methods, their users and certificate roles, with the real Pulumi engine, and the examples of the guides.
import { writeFile } from "node:fs/promises"
import { join } from "node:path"
import { beforeAll, describe, expect, test } from "vitest"
import { foreignRoot } from "../../../engine/testing/issuing-mount.ts"
import { typedPage } from "../../documents/typed-page.ts"
import { pulumiProgram } from "../../toolchain/pulumi.ts"
import { authImportScenario, authScenario, declaredPassword, stateWithPasswords } from "./auth-scenario.ts"
import { openProject } from "./project.ts"
import { buildProvider, openStack } from "./stack.ts"

const pulumi = await pulumiProgram()
const logins = typedPage(import.meta.url, "docs/logins.md")
const certificates = typedPage(import.meta.url, "docs/client-certificates.md")

beforeAll(buildProvider)

// every-member.test.ts compares the two engines, so each scenario runs with one.
describe.skipIf(pulumi === undefined)("the real Pulumi engine", () => {
  test("auth methods, users and roles are created, changed, mended, replaced and deleted", async () => {
    await using stack = await openStack(pulumi ?? "", "remote")
    await expect(authScenario(stack)).resolves.toBeUndefined()
  })

  test("the state has a declared password only encrypted", async () => {
    await using stack = await openStack(pulumi ?? "", "embedded")
    const state = await stateWithPasswords(stack)
    expect(state).not.toContain(declaredPassword)
    // Pulumi's marker for encrypted values, in inputs and outputs.
    expect(state.match(/"password": ?\{\s*"4dabf18193072939515e22adb298388d"/g)).toHaveLength(2)
  })

  test("existing auth methods are imported unchanged", async () => {
    await using stack = await openStack(pulumi ?? "", "embedded")
    await expect(authImportScenario(stack)).resolves.toBeUndefined()
  })
})

describe.skipIf(pulumi === undefined)("a token with the policy of the guide", () => {
  test("declares a method and a user, which logs in", async () => {
    await using stack = await openStack(pulumi ?? "", "remote")
    const { engine } = stack
    const heading = "Declare methods with Pulumi"
    const policy = logins.block(heading)
    await policy.write(join(stack.folder, "policy.hcl"))
    await engine.policies.put("declare-devices", policy.commands.join("\n"))
    const { secret } = await engine.serviceTokens.create({ policies: ["declare-devices"] })
    stack.setEnvironment({ CHANCERY_TOKEN: secret })
    const project = await openProject(stack, "team-workspaces")
    await logins.block(heading, 1).write(join(stack.folder, "team-workspaces/index.ts"))
    const password = "a long password of one printer"
    await project.pulumi("config", "set", "--secret", "printerPassword", password)
    expect(await project.up()).toContain("auth_userpass_")
    await project.expectNoChanges()
    await engine.userpass("devices").logins.logIn({ name: "printer-1", password })
    await project.pulumi("config", "set", "--secret", "printerPassword", `${password} again`)
    expect(await project.up()).not.toContain(password)
    await engine.userpass("devices").logins.logIn({ name: "printer-1", password: `${password} again` })
    await project.destroy()
    expect((await engine.authMethods.list()).map(({ path }) => path)).toEqual(["token"])
  })
})

test.skipIf(pulumi === undefined)("the program of the guide to client certificates declares a role", async () => {
  await using stack = await openStack(pulumi ?? "", "embedded")
  const { certificate } = foreignRoot()
  const project = await openProject(stack, "team-workspaces")
  const folder = join(stack.folder, "team-workspaces")
  await writeFile(join(folder, "device-ca.pem"), certificate)
  await certificates.block("Declare roles with Pulumi").write(join(folder, "index.ts"))
  await project.up()
  await project.expectNoChanges()
  expect(await stack.engine.certificateLogins("certificates").getRole("printers")).toMatchObject({
    allowedCommonNames: ["printer-*"],
    policies: ["printers"],
  })
})
