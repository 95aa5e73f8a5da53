import { mkdir, mkdtemp, readFile, rename, rm, symlink, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { afterEach, beforeEach, expect, test } from "vitest"
import { type Log, silentLog } from "../core/runtime.ts"
import type { TlsIdentity } from "../server/server.ts"
import { CommandError, exitCodes } from "./exit-code.ts"
import { followTlsFiles } from "./tls-files.ts"

const fixture = (name: string) =>
  readFile(fileURLToPath(new URL(`../../../test/cli/tls/${name}.pem`, import.meta.url)), "utf8")
const old: TlsIdentity = { certificate: await fixture("certificate"), privateKey: await fixture("key") }
const renewed: TlsIdentity = {
  certificate: await fixture("renewed-certificate"),
  privateKey: await fixture("renewed-key"),
}

let folder: string
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "chancery-"))
})
afterEach(() => rm(folder, { recursive: true }))

async function put(identity: TlsIdentity, into = folder): Promise<void> {
  await mkdir(into, { recursive: true })
  await writeFile(join(into, "tls.crt"), identity.certificate)
  await writeFile(join(into, "tls.key"), identity.privateKey)
}

function following(log: Partial<Log> = {}) {
  const files = { certificate: join(folder, "tls.crt"), privateKey: join(folder, "tls.key") }
  const followed = followTlsFiles(files, { ...silentLog, ...log }, 10)
  const shown: TlsIdentity[] = []
  followed.source.onChange((identity) => void shown.push(identity))
  return { ...followed, shown, [Symbol.dispose]: followed[Symbol.dispose] }
}

test.each([
  { way: "written over", replace: () => put(renewed) },
  {
    way: "put in place by renaming",
    async replace() {
      await put(renewed, join(folder, "new"))
      for (const name of ["tls.crt", "tls.key"]) await rename(join(folder, "new", name), join(folder, name))
    },
  },
])("TLS files that are $way are reloaded", async ({ replace }) => {
  await put(old)
  using followed = following()
  expect(followed.source.current()).toEqual(old)
  await replace()
  await expect.poll(followed.source.current).toEqual(renewed)
  expect(followed.shown.at(-1)).toEqual(renewed)
})

test("TLS files are reloaded when a symbolic link above them is switched, as Kubernetes does with secrets", async () => {
  await put(old, join(folder, "..2026_01_01"))
  await symlink("..2026_01_01", join(folder, "..data"))
  for (const name of ["tls.crt", "tls.key"]) await symlink(join("..data", name), join(folder, name))
  using followed = following()
  await put(renewed, join(folder, "..2026_02_02"))
  await symlink("..2026_02_02", join(folder, "..data_tmp"))
  await rename(join(folder, "..data_tmp"), join(folder, "..data"))
  await rm(join(folder, "..2026_01_01"), { recursive: true })
  await expect.poll(followed.source.current).toEqual(renewed)
  expect(followed.shown).toEqual([renewed])
})

test.each([
  {
    what: "a key of another certificate",
    spoil: () => writeFile(join(folder, "tls.key"), renewed.privateKey),
    reason: "key values mismatch",
  },
  {
    what: "half a certificate",
    spoil: () => writeFile(join(folder, "tls.crt"), old.certificate.slice(0, 200)),
    reason: "bad end line",
  },
  {
    what: "an empty key",
    spoil: () => writeFile(join(folder, "tls.key"), ""),
    reason: "the private key is not valid PEM",
  },
  { what: "a missing file", spoil: () => rm(join(folder, "tls.crt")), reason: "ENOENT" },
])("$what is logged once, the old TLS pair stays, and the next valid pair is loaded", async ({ spoil, reason }) => {
  await put(old)
  const warnings: unknown[][] = []
  const events: string[] = []
  using followed = following({
    warn: (...entry) => void warnings.push(entry),
    info: (event) => void events.push(event),
  })
  // Waits for the first check, which finds the files unchanged.
  await new Promise((resolve) => setTimeout(resolve, 50))
  await spoil()
  await expect.poll(() => warnings.length).toBe(1)
  expect(warnings).toEqual([
    [
      "tls certificate not replaced",
      { file: join(folder, "tls.crt"), reason: expect.stringContaining(reason) as string },
    ],
  ])
  expect(JSON.stringify(warnings)).not.toContain("PRIVATE KEY")
  await new Promise((resolve) => setTimeout(resolve, 50))
  expect(warnings).toHaveLength(1)
  expect(followed.source.current()).toEqual(old)
  await put(renewed)
  await expect.poll(followed.source.current).toEqual(renewed)
  expect(events).toEqual(["tls certificate replaced"])
})

test("TLS files with a new time and the same content are not reloaded", async () => {
  await put(old)
  const events: string[] = []
  using followed = following({ info: (event) => void events.push(event) })
  await put(old)
  await new Promise((resolve) => setTimeout(resolve, 60))
  expect([events, followed.shown]).toEqual([[], []])
})

test("TLS files are not reloaded after disposal", async () => {
  await put(old)
  const followed = following()
  followed[Symbol.dispose]()
  await put(renewed)
  await new Promise((resolve) => setTimeout(resolve, 60))
  expect(followed.source.current()).toEqual(old)
})

test.each([
  {
    why: "a missing certificate",
    identity: undefined,
    sentence: /^The TLS certificate .*tls.crt cannot be read; check /,
  },
  {
    why: "an invalid certificate",
    identity: { ...old, certificate: "hello" },
    sentence: /^The TLS certificate .*tls.crt does not contain PEM; check /,
  },
  {
    why: "a key that does not belong to the certificate",
    identity: { ...old, privateKey: renewed.privateKey },
    sentence:
      /^The TLS certificate and key cannot be used \(.*mismatch\); check that they are complete and belong together.$/,
  },
])("server start fails with one sentence and exit code 78 when it has $why", async ({ identity, sentence }) => {
  if (identity !== undefined) await put(identity)
  let thrown: unknown
  try {
    following()[Symbol.dispose]()
  } catch (error) {
    thrown = error
  }
  expect(thrown).toBeInstanceOf(CommandError)
  expect(thrown).toMatchObject({
    exitCode: exitCodes.configuration,
    message: expect.stringMatching(sentence) as string,
  })
})
