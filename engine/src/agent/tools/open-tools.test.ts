import { chmod, mkdir, mkdtemp, readdir, readFile, rm, stat, utimes, writeFile } from "node:fs/promises"
import type { RequestListener } from "node:http"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { describe, expect, onTestFinished, test } from "vitest"
import { createOpenPgpSigner } from "../../../testing/openpgp-signer.ts"
import {
  addRelease,
  type MirrorFiles,
  openReleaseMirror,
  releaseFiles,
  type ReleaseOptions,
  versionScript,
} from "../../../testing/release-mirror.ts"
import { zipArchive } from "../../../testing/zip-archive.ts"
import { systemRuntime } from "../../core/runtime.ts"
import { dayMs } from "../../core/time.ts"
import { openTools, type ToolOptions } from "./open-tools.ts"
import { ToolError } from "./tool-error.ts"

const { clock } = systemRuntime()
const signer = createOpenPgpSigner()
const signal = new AbortController().signal
const platform = { os: "linux", arch: "amd64" }
const terraform = (version: string) => ({ kind: "terraform", version }) as const

async function temporaryFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "tools-"))
  onTestFinished(() => rm(folder, { recursive: true, force: true }))
  return folder
}

async function write(file: string, content: string | Uint8Array, mode = 0o644): Promise<string> {
  await mkdir(dirname(file), { recursive: true })
  await writeFile(file, content)
  await chmod(file, mode)
  return file
}

/** Opens tools that trust the key of the tests, with an empty cache and an empty PATH. */
async function open(options: Partial<ToolOptions> = {}) {
  const cache = options.cache ?? (await temporaryFolder())
  const keyFile = await write(join(await temporaryFolder(), "key.asc"), signer.armoredKey)
  const tools = await openTools({ cache, keyFile, platform, path: "", clock, ...options })
  onTestFinished(() => tools[Symbol.asyncDispose]())
  return { tools, cache }
}

async function serve(files: MirrorFiles, handler?: (...args: Parameters<RequestListener>) => boolean) {
  const mirror = await openReleaseMirror(files, handler)
  onTestFinished(() => mirror[Symbol.asyncDispose]())
  return mirror
}

function mirrorOf(...releases: readonly (Omit<ReleaseOptions, "signer"> & Partial<ReleaseOptions>)[]): MirrorFiles {
  const files: MirrorFiles = new Map()
  for (const release of releases) addRelease(files, { signer, ...release })
  const versions = releases.filter(({ kind }) => kind !== "opentofu").map(({ version }) => [version, {}])
  files.set("terraform/index.json", Buffer.from(JSON.stringify({ versions: Object.fromEntries(versions) })))
  const tofu = releases.filter(({ kind }) => kind === "opentofu").map(({ version }) => ({ id: version, files: [] }))
  files.set("tofu/api.json", Buffer.from(JSON.stringify({ versions: tofu })))
  return files
}

const installed = (cache: string, path: string): string => join(cache, "tools", path)
/** Returns the entries of the cache: nothing may be left of a failed installation. */
const contents = async (cache: string): Promise<readonly string[]> =>
  (await readdir(cache, { recursive: true })).toSorted()

describe("a mirror", () => {
  test.each([
    { request: { kind: "terraform", version: "1.11.3" }, path: "terraform/1.11.3/terraform" },
    { request: { kind: "terraform", version: "~> 1.11.0" }, path: "terraform/1.11.4/terraform" },
    { request: { kind: "terraform", version: "latest" }, path: "terraform/1.11.4/terraform" },
    { request: { kind: "terraform", version: "1.12.0-rc1" }, path: "terraform/1.12.0-rc1/terraform" },
    { request: { kind: "opentofu", version: ">= 1.9" }, path: "tofu/1.10.0/tofu" },
  ] as const)("provides $path when $request is requested", async ({ request, path }) => {
    const { url } = await serve(
      mirrorOf(
        { version: "1.11.3" },
        { version: "1.11.4" },
        { version: "1.12.0-rc1" },
        { kind: "opentofu", version: "1.10.0" },
      ),
    )
    const { tools, cache } = await open({ mirror: url })
    const { program, origin } = await tools.find(request, signal)
    expect({ program, origin }).toEqual({ program: installed(cache, path), origin: url })
    expect((await stat(program)).mode & 0o777).toBe(0o555)
    expect((await readdir(dirname(program))).toSorted()).toEqual(["installed.json", path.split("/").at(-1)])
  })

  test("is not contacted again for an exact version in the cache", async () => {
    const mirror = await serve(mirrorOf({ version: "1.11.4" }))
    const { tools, cache } = await open({ mirror: mirror.url })
    await tools.find(terraform("1.11.4"), signal)
    const count = mirror.requests.length
    const again = await open({ mirror: mirror.url, cache })
    const { program, origin } = await again.tools.find(terraform("1.11.4"), signal)
    expect([origin, mirror.requests.length]).toEqual([program, count])
  })

  test("replaces a cached program that changed", async () => {
    const { url } = await serve(mirrorOf({ version: "1.11.4" }))
    const { tools } = await open({ mirror: url })
    const { program } = await tools.find(terraform("1.11.4"), signal)
    await chmod(program, 0o755)
    await writeFile(program, versionScript("Terraform", "6.6.6"))
    await tools.find(terraform("1.11.4"), signal)
    expect(await readFile(program, "utf8")).toBe(versionScript("Terraform", "1.11.4"))
  })

  test("installs a cached version again when its key is no longer trusted", async () => {
    const { url } = await serve(mirrorOf({ version: "1.11.4" }))
    const { tools, cache } = await open({ mirror: url })
    await tools.find(terraform("1.11.4"), signal)
    const other = await write(join(await temporaryFolder(), "key.asc"), createOpenPgpSigner().armoredKey)
    const again = await open({ mirror: url, cache, keyFile: other })
    await expect(again.tools.find(terraform("1.11.4"), signal)).rejects.toThrow("which is not trusted")
  })

  test("is downloaded from once when several slots and agents request a version", async () => {
    const mirror = await serve(mirrorOf({ version: "1.11.4" }))
    const { tools, cache } = await open({ mirror: mirror.url })
    const other = await open({ mirror: mirror.url, cache })
    const slots = [tools, tools, tools, other.tools, other.tools]
    const found = await Promise.all(slots.map((slot) => slot.find(terraform("1.11.4"), signal)))
    expect(new Set(found.map(({ program }) => program))).toEqual(
      new Set([installed(cache, "terraform/1.11.4/terraform")]),
    )
    const downloads = mirror.requests.filter((path) => path.endsWith(".zip"))
    // Once by each agent at most: agents share only the folder.
    expect(downloads.length).toBeLessThanOrEqual(2)
    expect(await readdir(installed(cache, ""))).toEqual(["terraform"])
  })

  test("receives the credentials of its URL, which are in no message", async () => {
    let authorization: string | undefined
    const { url } = await serve(mirrorOf(), ({ headers }) => {
      ;({ authorization } = headers)
      return false
    })
    const { tools } = await open({ mirror: url.replace("//", "//user:p%40ss@") })
    const error = await tools.find(terraform("1.11.4"), signal).catch((caught: unknown) => caught)
    expect(authorization).toBe(`Basic ${Buffer.from("user:p@ss").toString("base64")}`)
    expect(`${String(error)} ${tools.describe().join(" ")}`).not.toMatch(/p@ss|p%40ss/)
  })

  test("names its newest versions when none matches", async () => {
    const { url } = await serve(mirrorOf(...["1.9.8", "1.11.4", "1.10.5"].map((version) => ({ version }))))
    const { tools, cache } = await open({ mirror: url })
    await expect(tools.find(terraform("1.8.0"), signal)).rejects.toThrow(
      `terraform-version "1.8.0" matches no Terraform of this agent: the mirror ${url} has 1.11.4, 1.10.5, 1.9.8; PATH has none.`,
    )
    expect(await contents(cache)).toEqual([])
  })

  const release = { version: "1.11.4" }
  const folder = "terraform/1.11.4/terraform_1.11.4"
  const archiveOf = (name: string, content = versionScript("Terraform", "1.11.4"), mode = 0o100_755) => ({
    ...release,
    archive: zipArchive([{ name, content, mode }]),
  })
  test.each<{ readonly name: string; readonly files: MirrorFiles; readonly problem: string | RegExp }>([
    {
      name: "the archive has another checksum",
      files: mirrorOf(release).set(`${folder}_linux_amd64.zip`, zipArchive([{ name: "terraform", content: "other" }])),
      problem:
        /^terraform_1\.11\.4_linux_amd64\.zip of the mirror \S+ has the SHA-256 [0-9a-f]{64}; its checksum file lists/,
    },
    {
      name: "the signature is of another file",
      files: mirrorOf(release).set(`${folder}_SHA256SUMS.sig`, signer.sign(Buffer.from("other"))),
      problem: "is not valid: it does not match the file",
    },
    {
      name: "the signature is of another key",
      files: mirrorOf({ ...release, signer: createOpenPgpSigner() }),
      problem: "which is not trusted",
    },
    {
      name: "the signature is a web page",
      files: mirrorOf(release).set(`${folder}_SHA256SUMS.sig`, Buffer.from("<html>")),
      problem: "terraform_1.11.4_SHA256SUMS.sig of the mirror",
    },
    {
      name: "the signature is missing",
      files: withoutFile(mirrorOf(release), `${folder}_SHA256SUMS.sig`),
      problem: "add it, or set --tools-signature off",
    },
    {
      name: "the checksums do not list the archive",
      files: signedSums(mirrorOf(release), `${"a".repeat(64)}  terraform_1.11.4_plan9_mips.zip\n`),
      problem: "does not list terraform_1.11.4_linux_amd64.zip",
    },
    {
      name: "the checksums are a web page",
      files: signedSums(mirrorOf(release), "<html>"),
      problem: "is malformed: line 1 is not a SHA-256 checksum",
    },
    {
      name: "the archive is missing",
      files: withoutFile(mirrorOf(release), `${folder}_linux_amd64.zip`),
      problem: "is missing, but terraform_1.11.4_SHA256SUMS lists it",
    },
    {
      name: "the archive is truncated",
      files: mirrorOf({ ...release, archive: zipArchive([{ name: "terraform", content: "x" }]).subarray(0, -30) }),
      problem: "is not a valid zip archive",
    },
    {
      name: "the archive is empty",
      files: mirrorOf({ ...release, archive: Buffer.alloc(0) }),
      problem: "not a valid zip",
    },
    { name: "the program is outside", files: mirrorOf(archiveOf("../terraform")), problem: "invalid relative path" },
    { name: "the program is absolute", files: mirrorOf(archiveOf("/terraform")), problem: "absolute path" },
    {
      name: "the program is in a folder",
      files: mirrorOf(archiveOf("bin/terraform")),
      problem: "contains no file terraform",
    },
    {
      name: "the program is a symbolic link",
      files: mirrorOf(archiveOf("terraform", "/bin/sh", 0o120_777)),
      problem: 'contains "terraform", which is not a regular file',
    },
    {
      name: "the program is there twice",
      files: mirrorOf({
        ...release,
        archive: zipArchive([
          { name: "terraform", content: "a" },
          { name: "terraform", content: "b" },
        ]),
      }),
      problem: "contains terraform more than once",
    },
    {
      name: "the program is a text",
      files: mirrorOf(archiveOf("terraform", "hello")),
      problem: /terraform version fails|is not Terraform/,
    },
    {
      name: "the program fails",
      files: mirrorOf(archiveOf("terraform", "#!/bin/sh\nexit 3\n")),
      problem: "terraform version fails (3)",
    },
    {
      name: "the program is OpenTofu",
      files: mirrorOf(archiveOf("terraform", versionScript("OpenTofu", "1.11.4"))),
      problem: "is not Terraform: `version` prints",
    },
    {
      name: "the program has another version",
      files: mirrorOf(archiveOf("terraform", versionScript("Terraform", "1.11.3"))),
      problem: "contains the version 1.11.3",
    },
  ])("installs nothing when $name", async ({ files, problem }) => {
    const { url } = await serve(files)
    const { tools, cache } = await open({ mirror: url })
    const error = await tools.find(terraform("1.11.4"), signal).catch((caught: unknown) => caught)
    expect(error).toBeInstanceOf(ToolError)
    expect((error as ToolError).message).toMatch(problem)
    expect((await contents(cache)).filter((name) => !["tools", "tools/terraform"].includes(name))).toEqual([])
  })

  test.each<{
    readonly name: string
    readonly answer: RequestListener
    readonly problem: string
    readonly fileTimeoutMs?: number
  }>([
    {
      name: "its index has 100 MB",
      answer(_request, response) {
        response.writeHead(200, { "content-length": 100 * 1024 * 1024 })
        response.write(Buffer.alloc(32 * 1024 * 1024, " "))
      },
      problem: "sent more than 16777216 bytes",
    },
    { name: "it never answers", answer: () => {}, problem: "stopped sending data" },
    {
      name: "it stops in the index",
      answer: (_request, response) => void response.writeHead(200, { "content-length": 9 }).write("{"),
      problem: "stopped sending data",
    },
    {
      name: "it closes the connection in the index",
      answer(_request, response) {
        response.writeHead(200, { "content-length": 9 })
        response.write("{", () => response.destroy())
      },
      problem: "sent no complete response",
    },
    {
      name: "it sends byte after byte",
      answer(_request, response) {
        response.writeHead(200)
        const timer = setInterval(() => response.write(" "), 50)
        response.on("close", () => clearInterval(timer))
      },
      problem: "did not send the file within 500 ms",
      fileTimeoutMs: 500,
    },
    { name: "it fails", answer: (_request, response) => void response.writeHead(503).end(), problem: "status 503" },
    {
      name: "it redirects in a circle",
      answer: (_request, response) => void response.writeHead(302, { location: "/again" }).end(),
      problem: "redirects more than 5 times",
    },
    {
      name: "it redirects to a file",
      answer: (_request, response) => void response.writeHead(302, { location: "file:///etc/passwd" }).end(),
      problem: "redirects to a URL that is not https",
    },
    {
      name: "its index is not JSON",
      answer: (_request, response) => void response.end("<html>"),
      problem: "terraform/index.json of the mirror",
    },
    {
      name: "its index is nested too deeply",
      answer: (_request, response) => void response.end(`${"[".repeat(50)}${"]".repeat(50)}`),
      problem: "is not valid JSON",
    },
    {
      name: "its index has no versions",
      answer: (_request, response) => void response.end('{"versions":[]}'),
      problem: "versions in terraform/index.json",
    },
  ])("fails with a clear error when $name", async ({ answer, problem, fileTimeoutMs = 60_000 }) => {
    const { url } = await serve(new Map(), (request, response) => {
      answer(request, response)
      return true
    })
    const { tools } = await open({ mirror: url, idleTimeoutMs: 1_000, fileTimeoutMs })
    const error = await tools.find(terraform("~> 1.11.0"), signal).catch((caught: unknown) => caught)
    expect(error).toBeInstanceOf(ToolError)
    expect((error as ToolError).message).toContain(problem)
  })

  test("is left when the run is cancelled", async () => {
    const { url } = await serve(new Map(), () => true)
    const { tools } = await open({ mirror: url })
    const reason = new Error("the run was cancelled")
    const controller = new AbortController()
    const found = tools.find(terraform("latest"), controller.signal)
    controller.abort(reason)
    await expect(found).rejects.toBe(reason)
  })
})

describe("a folder", () => {
  test("provides its unpacked programs, and is tried before the mirror", async () => {
    const mirror = await serve(mirrorOf({ version: "1.12.0" }))
    const folder = await temporaryFolder()
    const program = await write(join(folder, "terraform/1.11.4/terraform"), versionScript("Terraform", "1.11.4"), 0o755)
    await write(join(folder, "terraform/1.11.9/terraform"), "not executable")
    const { tools } = await open({ folder, mirror: mirror.url })
    expect(await tools.find(terraform("latest"), signal)).toEqual({
      kind: "terraform",
      version: "1.11.4",
      program,
      origin: program,
    })
    expect(mirror.requests).toEqual([])
    expect((await tools.find(terraform("~> 1.12"), signal)).origin).toBe(mirror.url)
  })

  test("provides its archives when their checksums and signature are next to them", async () => {
    const folder = await temporaryFolder()
    for (const [name, content] of releaseFiles({ kind: "opentofu", version: "1.10.0", signer }))
      await write(join(folder, name), content)
    const { tools, cache } = await open({ folder })
    const found = await tools.find({ kind: "opentofu", version: "~> 1.10.0" }, signal)
    expect(found).toMatchObject({ program: installed(cache, "tofu/1.10.0/tofu"), origin: folder })
  })

  test.each([
    { missing: "terraform_1.11.4_SHA256SUMS", problem: "has no terraform_1.11.4_SHA256SUMS next to it; add the file" },
    { missing: "terraform_1.11.4_SHA256SUMS.sig", problem: "set --tools-signature off" },
  ])("is rejected when $missing is missing", async ({ missing, problem }) => {
    const folder = await temporaryFolder()
    const files = withoutFile(releaseFiles({ version: "1.11.4", signer }), missing)
    for (const [name, content] of files) await write(join(folder, name), content)
    const { tools } = await open({ folder })
    await expect(tools.find(terraform("1.11.4"), signal)).rejects.toThrow(problem)
  })

  test("provides an archive without a signature only while signatures are off", async () => {
    const folder = await temporaryFolder()
    const files = withoutFile(releaseFiles({ version: "1.11.4", signer }), "terraform_1.11.4_SHA256SUMS.sig")
    for (const [name, content] of files) await write(join(folder, name), content)
    const { tools, cache } = await open({ folder, signature: "off" })
    await tools.find(terraform("1.11.4"), signal)
    expect(tools.describe()).toContain("signatures of releases: not required")
    const strict = await open({ folder, cache })
    await expect(strict.tools.find(terraform("1.11.4"), signal)).rejects.toThrow("set --tools-signature off")
  })

  test("is rejected when a signature is wrong, even if signatures are off", async () => {
    const folder = await temporaryFolder()
    const files = releaseFiles({ version: "1.11.4", signer }).set(
      "terraform_1.11.4_SHA256SUMS.sig",
      createOpenPgpSigner().sign(Buffer.from("other")),
    )
    for (const [name, content] of files) await write(join(folder, name), content)
    const { tools } = await open({ folder, signature: "off" })
    await expect(tools.find(terraform("1.11.4"), signal)).rejects.toThrow("which is not trusted")
  })

  test("is rejected when a program has another version than its folder", async () => {
    const folder = await temporaryFolder()
    await write(join(folder, "terraform/1.11.4/terraform"), versionScript("Terraform", "1.5.7"), 0o755)
    const { tools } = await open({ folder })
    await expect(tools.find(terraform("1.11.4"), signal)).rejects.toThrow("is version 1.5.7; its folder must have that")
  })
})

describe("the PATH", () => {
  async function pathWith(version: string) {
    const folder = await temporaryFolder()
    const program = await write(join(folder, "terraform"), versionScript("Terraform", version), 0o755)
    return { program, path: `relative:${join(folder, "missing")}:${folder}` }
  }

  test.each(["1.11.4", "~> 1.11", "latest"])("provides its program when %j is requested", async (version) => {
    const { program, path } = await pathWith("1.11.4")
    const { tools } = await open({ path })
    const found = await tools.find(terraform(version), signal)
    expect(found).toEqual({ kind: "terraform", version: "1.11.4", program, origin: `PATH (${program})` })
  })

  test("provides a pre-release when latest is requested and there is nothing else", async () => {
    const { path } = await pathWith("1.12.0-dev")
    const { tools } = await open({ path })
    expect((await tools.find(terraform("latest"), signal)).version).toBe("1.12.0-dev")
  })

  test.each(["1.11.3", "~> 1.10.0", ">= 2"])("provides nothing when %j is requested", async (version) => {
    const { path } = await pathWith("1.11.4")
    const { tools } = await open({ path })
    await expect(tools.find(terraform(version), signal)).rejects.toThrow(
      `terraform-version ${JSON.stringify(version)} matches no Terraform of this agent: PATH has 1.11.4. Change terraform-version, or`,
    )
  })

  test("does not pass variables of the agent to the program", async () => {
    const folder = await temporaryFolder()
    await write(join(folder, "terraform"), `#!/bin/sh\necho "Terraform v1.0.$(env | grep -c TOOLS_TEST)"\n`, 0o755)
    process.env["TOOLS_TEST_SECRET"] = "secret"
    onTestFinished(() => void delete process.env["TOOLS_TEST_SECRET"])
    const { tools } = await open({ path: folder })
    expect((await tools.find(terraform("latest"), signal)).version).toBe("1.0.0")
  })
})

describe("tools", () => {
  test("describe their origins in the order in which they are tried", async () => {
    const folder = await temporaryFolder()
    const { tools } = await open({ folder, mirror: "https://mirror.example.com/releases/" })
    expect(tools.describe()).toEqual([
      `terraform and tofu, 1 of 3: the folder ${folder}`,
      "terraform and tofu, 2 of 3: the mirror https://mirror.example.com/releases",
      "terraform and tofu, 3 of 3: PATH",
      `additional signing keys: ${signer.fingerprint}`,
    ])
  })

  test.each<{ readonly options: Partial<ToolOptions>; readonly problem: string }>([
    { options: { folder: "/nonexistent" }, problem: "--tools /nonexistent is not a folder" },
    { options: { mirror: "mirror.example.com" }, problem: "--tools-mirror must be an http or https URL" },
    { options: { mirror: "ftp://mirror.example.com" }, problem: "--tools-mirror must be an http or https URL" },
    { options: { mirror: "https://mirror.example.com/?a=b" }, problem: "without a query" },
    { options: { mirror: "http://mirror.example.com", signature: "off" }, problem: "requires an https URL" },
    { options: { keyFile: "/nonexistent" }, problem: "--tools-key /nonexistent is not a file" },
    { options: { keyFile: import.meta.filename }, problem: "is not usable" },
  ])("are not opened with $options", async ({ options, problem }) => {
    await expect(open(options)).rejects.toThrow(problem)
  })

  test("reject a version that is none", async () => {
    const { tools } = await open()
    await expect(tools.find(terraform("../1.0.0"), signal)).rejects.toThrow('terraform-version "../1.0.0" is invalid')
  })

  test("remove what an interrupted installation left a day ago", async () => {
    const cache = await temporaryFolder()
    const [old, recent] = ["temporary-old", "temporary-new"].map((name) => installed(cache, name))
    for (const folder of [old, recent]) await write(join(folder ?? "", "archive.zip"), "half")
    const time = new Date(clock.now() - 2 * dayMs)
    await utimes(old ?? "", time, time)
    await open({ cache })
    expect(await readdir(installed(cache, ""))).toEqual(["temporary-new"])
  })
})

function withoutFile(files: MirrorFiles, path: string): MirrorFiles {
  files.delete(path)
  return files
}

function signedSums(files: MirrorFiles, text: string): MirrorFiles {
  const sums = Buffer.from(text)
  const path = "terraform/1.11.4/terraform_1.11.4_SHA256SUMS"
  return files.set(path, sums).set(`${path}.sig`, signer.sign(sums))
}
