// Auth methods with a user and a certificate role from creation to destruction, with the real Pulumi engine.
import { join } from "node:path"
import {
  AuthMethod,
  type AuthMethodArgs,
  CertificateAuthRole,
  type CertificateAuthRoleArgs,
  UserpassUser,
  type UserpassUserArgs,
} from "@chancery/pulumi"
import { expect } from "vitest"
import { foreignRoot } from "../../../engine/testing/issuing-mount.ts"
import { run } from "../../../provider/src/cli/index.ts"
import type { TestStack } from "./stack.ts"

const { certificate } = foreignRoot()

interface DeclaredAuth {
  readonly method?: Partial<AuthMethodArgs>
  readonly user?: Partial<UserpassUserArgs>
  readonly role?: Partial<CertificateAuthRoleArgs>
}

const declareAuth =
  ({ method = {}, user = {}, role = {} }: DeclaredAuth) =>
  async () => {
    const people = new AuthMethod("people", { type: "userpass", ...method })
    const devices = new AuthMethod("devices", { type: "cert" })
    new UserpassUser("printer", { authMethod: people.path, ...user })
    new CertificateAuthRole("printers", { authMethod: devices.path, certificate, ...role })
  }

const created = { people: "create", devices: "create", printer: "create", printers: "create" }
const same = { people: "same", devices: "same", printer: "same", printers: "same" }
const passwords = ["correct horse battery", "staple staple staple", "secret of the program"] as const

export async function authScenario(stack: TestStack): Promise<void> {
  const { engine } = stack
  const { users, logins } = engine.userpass("people")
  const printed: string[] = []
  const up = async (declared: DeclaredAuth) => {
    const { operations, output } = await stack.up(declareAuth(declared))
    printed.push(output)
    return operations
  }
  const preview = async (declared: DeclaredAuth) => {
    const { operations, output } = await stack.preview(declareAuth(declared))
    printed.push(output)
    return operations
  }
  const failure = async (declared: DeclaredAuth): Promise<string> => {
    const error: unknown = await stack.up(declareAuth(declared)).catch((reason: unknown) => reason)
    printed.push(String(error))
    return String(error)
  }

  const first: DeclaredAuth = {
    method: { description: "Printers", lockoutThreshold: 10 },
    user: { password: passwords[0], tokenPolicies: ["Printers"], tokenTtl: "10m" },
    role: { allowedCommonNames: ["printer-*"], tokenPolicies: ["printers"] },
  }
  expect(await preview(first)).toEqual(created)
  expect((await engine.authMethods.list()).map(({ path }) => path)).toEqual(["token"])
  expect(await up(first)).toEqual(created)
  expect(await engine.authMethods.get("people")).toMatchObject({ config: { userLockout: { threshold: 10 } } })
  await logins.logIn({ name: "printer", password: passwords[0] })
  const reworded = { ...first, user: { ...first.user, tokenPolicies: ["printers"], tokenTtl: "600s" } }
  expect(await preview(reworded)).toEqual(same)

  // A changed password is written, and so are terms.
  const second: DeclaredAuth = {
    method: { description: "Printers", lockoutThreshold: 20, maxLeaseTtl: "24h" },
    user: { password: passwords[1], tokenPolicies: ["printers"] },
    role: { allowedCommonNames: ["printer-*", "scanner-*"], displayName: "office" },
  }
  const updated = { ...same, people: "update", printer: "update", printers: "update" }
  expect(await preview(second)).toEqual(updated)
  expect(await up(second)).toEqual(updated)
  await logins.logIn({ name: "printer", password: passwords[1] })
  expect(await users.get("printer")).toMatchObject({ ttlMs: null, policies: ["printers"] })
  expect(await engine.certificateLogins("devices").getRole("printers")).toMatchObject({ policies: [] })
  expect(await up(second)).toEqual(same)

  // Changes by others to declared members are mended, and changes to other members are kept.
  await users.save("printer", { policies: ["others"], numUses: 3 })
  await engine.authMethods.tune("people", { config: { userLockout: { threshold: 2, disabled: true } } })
  await engine.certificateLogins("devices").saveRole("printers", { allowedCommonNames: [], ocspFailOpen: true })
  await stack.refresh()
  expect(await up(second)).toEqual(updated)
  expect(await users.get("printer")).toMatchObject({ policies: ["printers"], numUses: 3 })
  expect(await engine.authMethods.get("people")).toMatchObject({
    config: { userLockout: { threshold: 20, disabled: true } },
  })
  expect(await engine.certificateLogins("devices").getRole("printers")).toMatchObject({
    allowedCommonNames: ["printer-*", "scanner-*"],
    ocspFailOpen: true,
  })
  await users.delete("printer")
  await stack.refresh()
  expect(await up(second)).toEqual({ ...same, printer: "create" })

  // Wrong input names the member, and changes nothing.
  expect(await failure({ ...second, user: { password: passwords[2], tokenTtl: "soon" } })).toContain(
    "tokenTtl must be a duration",
  )
  expect(await failure({ ...second, role: { requiredExtensions: ["x"] } })).toContain("requiredExtensions must contain")
  expect(await failure({ ...second, user: { password: passwords[2], passwordHash: passwords[2] } })).toContain(
    "passwordHash and password are mutually exclusive",
  )
  await users.save("taken", { password: passwords[0] })
  const taken = { ...second, user: { ...second.user, name: "taken" } }
  expect(await failure(taken)).toContain('user "taken" of people already exists')
  await logins.logIn({ name: "taken", password: passwords[0] })
  await users.delete("taken")

  const renamed = { ...second, user: { ...second.user, name: "scanner" }, role: { ...second.role, name: "scanners" } }
  expect(await up(renamed)).toEqual({ ...same, printer: "replace", printers: "replace" })
  expect([await users.list(), await engine.certificateLogins("devices").listRoles()]).toEqual([
    ["scanner"],
    ["scanners"],
  ])

  // Safe deletion keeps a method with users of others.
  await users.save("other", { password: passwords[0] })
  await expect(stack.destroy()).rejects.toThrow("auth method people has users")
  await users.delete("other")
  await stack.destroy()
  expect((await engine.authMethods.list()).map(({ path }) => path)).toEqual(["token"])
  for (const password of passwords) expect(printed.join("\n")).not.toContain(password)
}

/** Runs a program with secrets, and returns the stored state with them declared. */
export async function stateWithPasswords(stack: TestStack): Promise<string> {
  await stack.up(declareAuth({ user: { password: passwords[0] } }))
  await stack.refresh()
  return stack.state()
}

export const declaredPassword = passwords[0]

export async function authImportScenario(stack: TestStack): Promise<void> {
  const { engine } = stack
  await engine.authMethods.enable({ path: "people", type: "userpass", config: { userLockout: { threshold: 7 } } })
  await engine.userpass("people").users.save("printer", { password: passwords[0], ttlMs: 600_000 })
  await engine.authMethods.enable({ path: "devices", type: "cert", description: "Devices" })
  await engine.certificateLogins("devices").saveRole("printers", { certificate, policies: ["printers"] })
  const [file, program] = [join(stack.folder, "import.json"), join(stack.folder, "program/imported.ts")]
  const messages: string[] = []
  const say = (text: string) => void messages.push(text)
  const terminal = { environment: { ...stack.environment, CHANCERY_ORGANIZATION: "" }, say, complain: say }
  const methods = ["--auth-method", "people", "--auth-method", "devices"]
  const args = ["import", ...methods, "--file", file, "--program", program]
  expect([await run(args, terminal), messages.join("")]).toEqual([0, expect.stringContaining("4 resources are in")])
  await stack.command(["import", "--file", file, "--generate-code=false", "--protect=false", "--yes"])
  const declared = async () => void (await import(program))
  expect((await stack.preview(declared)).operations).toEqual(same)
  // Imported resources are retained.
  await stack.destroy()
  expect(await engine.userpass("people").users.list()).toEqual(["printer"])
}
