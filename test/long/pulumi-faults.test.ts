// Failures between Pulumi, the provider's process and a server, with the real Pulumi engine. After the next run, everything exists once and
// as declared, or nothing does.
import { appendFile, cp, mkdir, readdir, readFile, rm, symlink, writeFile } from "node:fs/promises"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { beforeAll, describe, expect, test } from "vitest"
import { declaredBy, everyName, everything, inventory, nothing, sshKeysFor } from "../e2e/pulumi/everything.ts"
import { dyingAt, untilDone } from "../e2e/pulumi/crashing-stack.ts"
import { openFaultInjectingProxy } from "../e2e/pulumi/fault-injecting-proxy.ts"
import { buildProvider, openStack } from "../e2e/pulumi/stack.ts"
import { pulumiProgram } from "../toolchain/pulumi.ts"
import { sampleOf } from "./sample.ts"

const pulumi = await pulumiProgram()
const isShort = process.env["CHANCERY_SHORT"] === "1"

beforeAll(buildProvider)

const allSame = Object.fromEntries(everyName.map((name) => [name, "same"]))

const kinds = isShort
  ? ["workspace", "tag"]
  : [
      "project",
      "pkiMount",
      "workspace",
      "pkiRole",
      "workspaceTags",
      "tagBindings",
      "tag",
      "remoteStateConsumers",
      "sshKeyAssignment",
      "workspaceLock",
      "dataRetentionPolicy",
      "variable",
    ]

describe.skipIf(pulumi === undefined)("the provider", () => {
  describe.each(sampleOf(["embedded", "remote"] as const, 8))("with the %s engine", (mode) => {
    test(
      "recovers from each kill -9 between the engine's commit and Pulumi's response",
      { timeout: 900_000 },
      async () => {
        await using stack = await openStack(pulumi ?? "", mode)
        const dying = dyingAt(stack)
        const [first, second] = everything(await sshKeysFor(stack.engine))
        await dying(
          kinds.map((kind) => `${kind} create`),
          () => stack.up(first),
        )
        expect(await inventory(stack.engine)).toEqual(declaredBy("first"))
        expect((await stack.up(first)).operations).toEqual(allSame)
        // A lock has no update: it is deleted and created again.
        const changes = kinds.map((kind) => (kind === "workspaceLock" ? `${kind} delete` : `${kind} update`))
        await dying(changes, () => stack.up(second))
        expect(await inventory(stack.engine)).toEqual(declaredBy("second"))
        expect((await stack.up(second)).operations).toEqual(allSame)
        await dying(
          kinds.map((kind) => `${kind} delete`),
          () => stack.destroy(),
        )
        expect(await inventory(stack.engine)).toEqual(nothing)
      },
    )
  })

  test("recovers from each lost response", { timeout: 900_000 }, async () => {
    await using stack = await openStack(pulumi ?? "", "remote")
    await using proxy = await openFaultInjectingProxy(stack.url)
    stack.setEnvironment({ CHANCERY_ENGINE_URL: proxy.url })
    const [first, second] = everything(await sshKeysFor(stack.engine))
    // Each change is executed, and its answer is lost the first time.
    proxy.always = firstTime("lost")
    await untilDone(() => stack.up(first))
    expect(await inventory(stack.engine)).toEqual(declaredBy("first"))
    await untilDone(() => stack.up(second))
    expect(await inventory(stack.engine)).toEqual(declaredBy("second"))
    await untilDone(() => stack.destroy())
    expect(await inventory(stack.engine)).toEqual(nothing)
  })

  test.each([
    { answer: { status: 503, headers: { "retry-after": "0" } }, why: "a busy server" },
    { answer: { status: 429, headers: { "retry-after": "0" } }, why: "a server that limits its rate" },
  ])("tolerates $why at every other request", { timeout: 900_000 }, async ({ answer }) => {
    await using stack = await openStack(pulumi ?? "", "remote")
    await using proxy = await openFaultInjectingProxy(stack.url)
    stack.setEnvironment({ CHANCERY_ENGINE_URL: proxy.url })
    const [first, second] = everything(await sshKeysFor(stack.engine))
    proxy.always = everyOther(answer)
    await stack.up(first)
    expect(await inventory(stack.engine)).toEqual(declaredBy("first"))
    await stack.up(second)
    expect(await inventory(stack.engine)).toEqual(declaredBy("second"))
    await stack.refresh()
    await stack.destroy()
    expect(await inventory(stack.engine)).toEqual(nothing)
  })

  test("finishes an operation that a server rejected as a conflict", { timeout: 900_000 }, async () => {
    await using stack = await openStack(pulumi ?? "", "remote")
    await using proxy = await openFaultInjectingProxy(stack.url)
    stack.setEnvironment({ CHANCERY_ENGINE_URL: proxy.url })
    const [first] = everything(await sshKeysFor(stack.engine))
    proxy.always = firstTime({ status: 409 })
    await untilDone(() => stack.up(first))
    expect(await inventory(stack.engine)).toEqual(declaredBy("first"))
    await untilDone(() => stack.destroy())
    expect(await inventory(stack.engine)).toEqual(nothing)
  })
})

test.skipIf(pulumi === undefined)(
  "the provider, upgraded between up and destroy, keeps and deletes the resources of the previous version",
  { timeout: 900_000 },
  async () => {
    await using stack = await openStack(pulumi ?? "", "embedded")
    const [first] = everything(await sshKeysFor(stack.engine))
    await stack.up(first)
    const ran = join(stack.folder, "upgraded-ran")
    const packages = join(stack.folder, "program/node_modules")
    await rm(packages)
    await installUpgraded(packages, ran)
    await stack.refresh()
    expect(await readFile(ran, "utf8")).toBe("9.9.9")
    expect((await stack.up(first)).operations).toEqual(allSame)
    await stack.destroy()
    expect(await inventory(stack.engine)).toEqual(nothing)
  },
)

const root = fileURLToPath(new URL("../..", import.meta.url))

/** Installs another version of the provider with different file paths, which writes a file when it is loaded. */
async function installUpgraded(packages: string, ran: string): Promise<void> {
  const upgraded = join(packages, "@chancery/pulumi")
  await mkdir(upgraded, { recursive: true })
  for (const name of await readdir(join(root, "node_modules")))
    if (name !== "@chancery") await symlink(join(root, "node_modules", name), join(packages, name))
  await symlink(join(root, "engine"), join(packages, "@chancery/engine"))
  await cp(join(root, "provider/dist"), join(upgraded, "lib"), { recursive: true })
  const exports = { ".": "./lib/index.js", "./provider": "./lib/v1.js" }
  const manifest = { name: "@chancery/pulumi", version: "9.9.9", type: "module", exports }
  await writeFile(join(upgraded, "package.json"), JSON.stringify(manifest))
  const saying = `import { writeFileSync } from "node:fs"\nwriteFileSync(${JSON.stringify(ran)}, "9.9.9")\n`
  await appendFile(join(upgraded, "lib/v1.js"), `\n${saying}`)
}

function everyOther<Answer>(answer: Answer): () => Answer | undefined {
  let count = 0
  return () => {
    count += 1
    return count % 2 === 1 ? answer : undefined
  }
}

/** Injects the answer once for each change of each object. */
function firstTime<Answer>(answer: Answer): (method: string, path: string) => Answer | undefined {
  const met = new Set<string>()
  return (method, path) => {
    const change = `${method} ${path}`
    const isNew = method !== "GET" && !met.has(change)
    met.add(change)
    return isNew ? answer : undefined
  }
}
