import { randomBytes } from "node:crypto"
import { gzipSync } from "node:zlib"
import { assert, asyncProperty, uint8Array } from "fast-check"
import { describe, expect, test } from "vitest"
import { isEngineError } from "../../../core/errors.ts"
import type { ConfigurationVersionId } from "../../../core/ids.ts"
import { systemRuntime } from "../../../core/runtime.ts"
import { tar, tarball, type TarFiles } from "../../../../testing/tar-archive.ts"
import { sealedConfigurationArchive } from "./configuration-archive.ts"
import { keySealer, newKeyText, parseKeyRing } from "../../sealing/key-sealing.ts"

const { random } = systemRuntime()
const archive = sealedConfigurationArchive(keySealer(parseKeyRing(newKeyText(random)), random))
const id = "cv-1" as ConfigurationVersionId

async function refusalOf(bytes: Uint8Array): Promise<string | undefined> {
  try {
    await archive.inspect(bytes, null)
    return undefined
  } catch (error) {
    if (isEngineError(error, "unprocessable") || isEngineError(error, "too-large")) return error.message
    throw error
  }
}

const notAnArchive = "The configuration is not a tar archive compressed with gzip"

describe("the readme of a configuration", () => {
  test.each<{ what: string; files: TarFiles; folder?: string; readme: string | null }>([
    { what: "is README.md at the root", files: { "main.tf": "", "README.md": "# A" }, readme: "# A" },
    { what: "may begin with ./, as tar writes it", files: { "./README.md": "# A" }, readme: "# A" },
    { what: "may be spelt in any case", files: { "readme.MD": "# A" }, readme: "# A" },
    { what: "is not one of another folder", files: { "modules/README.md": "# A" }, readme: null },
    { what: "is absent when there is none", files: { "main.tf": "" }, readme: null },
    {
      what: "is the file of the working directory first",
      files: { "README.md": "# A", "envs/prod/README.md": "# B" },
      folder: "./envs/prod/",
      readme: "# B",
    },
    { what: "is the file of the root otherwise", files: { "README.md": "# A" }, folder: "envs/prod", readme: "# A" },
    {
      what: "does not leave the archive",
      files: { "README.md": "# A", "../README.md": "# B" },
      folder: "..",
      readme: "# B",
    },
    { what: "is omitted when it is too long", files: { "README.md": "x".repeat(1024 * 1024 + 1) }, readme: null },
    { what: "is omitted when it is not text", files: { "README.md": Buffer.of(0xff, 0xfe) }, readme: null },
    {
      what: "is omitted when it contains characters that cannot be stored",
      files: { "README.md": "a\0b" },
      readme: null,
    },
    {
      what: "is stored whole up to its limit",
      files: { "README.md": "ü".repeat(512 * 1024) },
      readme: "ü".repeat(512 * 1024),
    },
  ])("$what", async ({ files, folder = null, readme }) => {
    expect((await archive.inspect(tarball(files), folder)).readme).toBe(readme)
  })
})

describe("an uploaded configuration", () => {
  const whole = tar({ "main.tf": "x".repeat(10_000), "b.tf": "y" })

  test.each<{ what: string; bytes: Uint8Array; refusal: string | undefined }>([
    { what: "an archive", bytes: gzipSync(whole), refusal: undefined },
    { what: "an archive without entries", bytes: tarball({}), refusal: notAnArchive },
    { what: "nothing", bytes: new Uint8Array(), refusal: notAnArchive },
    { what: "empty, compressed", bytes: gzipSync(""), refusal: notAnArchive },
    { what: "an uncompressed tar", bytes: whole, refusal: notAnArchive },
    { what: "text", bytes: Buffer.from("resource {}"), refusal: notAnArchive },
    { what: "text, compressed", bytes: gzipSync("resource {}".repeat(1_000)), refusal: notAnArchive },
    { what: "an archive compressed twice", bytes: gzipSync(gzipSync(whole)), refusal: notAnArchive },
    { what: "a truncated archive", bytes: gzipSync(whole).subarray(0, -20), refusal: notAnArchive },
    {
      what: "an archive truncated before it was compressed",
      bytes: gzipSync(whole.subarray(0, 5_000)),
      refusal: notAnArchive,
    },
    {
      what: "an archive that unpacks beyond its limit",
      bytes: gzipSync(tar({ zeros: Buffer.alloc(513 * 1024 * 1024) }), { level: 1 }),
      refusal: "The configuration contains more than 100000 entries or 536870912 bytes.",
    },
    {
      what: "an archive of too many entries",
      bytes: gzipSync(Buffer.concat(Array.from({ length: 100_001 }, () => tar({ a: "" }).subarray(0, 512)))),
      refusal: "The configuration contains more than 100000 entries or 536870912 bytes.",
    },
  ])("that is $what has the refusal $refusal", async ({ bytes, refusal }) => {
    expect(await refusalOf(bytes)).toBe(refusal)
  })

  test("with random bytes is read or rejected", async () => {
    const tampered = asyncProperty(uint8Array({ minLength: 1, maxLength: 64 }), async (noise) => {
      const bytes = Buffer.from(whole)
      for (const [index, byte] of noise.entries()) bytes[(byte * 37 + index * 101) % bytes.length] = byte
      expect([undefined, notAnArchive]).toContain(await refusalOf(gzipSync(bytes)))
      expect([undefined, notAnArchive]).toContain(await refusalOf(noise))
    })
    await assert(tampered, { numRuns: 100 })
  })

  test("is read as written from several chunks", async () => {
    const bytes = tarball({ "random.bin": randomBytes(3 * 1024 * 1024) })
    const chunks = await archive.pack(id, bytes)
    expect(chunks.length).toBeGreaterThan(2)
    expect(Buffer.compare(await archive.unpack(id, chunks), bytes)).toBe(0)
    await expect(archive.unpack(id, chunks.slice(1))).rejects.toThrow(/does not open/)
    await expect(archive.unpack("cv-2" as ConfigurationVersionId, chunks)).rejects.toThrow(/does not open/)
  })
})
