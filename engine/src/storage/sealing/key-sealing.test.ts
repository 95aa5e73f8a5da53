import { describe, expect, test } from "vitest"
import {
  BrokenSeal,
  keySealer,
  newKeyText,
  openDocument,
  parseKeyRing,
  sealDocument,
  UnknownSealKey,
} from "./key-sealing.ts"

const random = { bytes: (count: number) => globalThis.crypto.getRandomValues(new Uint8Array(count)) }
const [oldKey, newKey] = [newKeyText(random), newKeyText(random)]
const sealer = keySealer(parseKeyRing(oldKey), random)
const path = "ssh-keys/sshkey-1"
const plain = new TextEncoder().encode("-----BEGIN OPENSSH PRIVATE KEY-----")

describe("a sealed value", () => {
  test.each([0, 1, 16, 70_000])("of %i bytes opens to the original", (length) => {
    const value = new Uint8Array(length).fill(7)
    expect(new Uint8Array(sealer.open(path, sealer.seal(path, value)))).toEqual(value)
  })

  test("does not contain the plain text, and differs each time", () => {
    const [first, second] = [Buffer.from(sealer.seal(path, plain)), Buffer.from(sealer.seal(path, plain))]
    expect(first.includes("OPENSSH")).toBe(false)
    expect(first.equals(second)).toBe(false)
  })

  test("changed in any one byte does not open", () => {
    const sealed = sealer.seal(path, plain)
    for (let index = 0; index < sealed.length; index += 1) {
      const changed = Uint8Array.from(sealed, (byte, at) => (at === index ? byte ^ 1 : byte))
      expect(() => sealer.open(path, changed), `byte ${index}`).toThrow(/does not open|not among the known seal keys/)
    }
  })

  test.each([
    { name: "truncated", sealed: sealer.seal(path, plain).subarray(0, -1), at: path },
    { name: "shorter than its header", sealed: new Uint8Array(20), at: path },
    { name: "empty", sealed: new Uint8Array(), at: path },
    { name: "moved to another record", sealed: sealer.seal(path, plain), at: "ssh-keys/sshkey-2" },
  ])("$name does not open", ({ sealed, at }) => {
    expect(() => sealer.open(at, sealed)).toThrow(BrokenSeal)
  })
})

describe("a ring of keys", () => {
  test("opens what any of its keys sealed, and seals under the first", () => {
    const rotated = keySealer(parseKeyRing(`${newKey}\n# before 2027\n${oldKey}\n`), random)
    expect(Buffer.from(rotated.open(path, sealer.seal(path, plain)))).toEqual(Buffer.from(plain))
    const onlyNew = keySealer(parseKeyRing(newKey), random)
    expect(Buffer.from(onlyNew.open(path, rotated.seal(path, plain)))).toEqual(Buffer.from(plain))
  })

  test("names a missing key", () => {
    const { current } = parseKeyRing(oldKey)
    const onlyNew = keySealer(parseKeyRing(newKey), random)
    expect(() => onlyNew.open(path, sealer.seal(path, plain))).toThrow(UnknownSealKey)
    expect(() => onlyNew.open(path, sealer.seal(path, plain))).toThrow(current.id)
  })

  test("can be separated by commas", () => {
    expect(parseKeyRing(`${newKey},${oldKey}`).keys.size).toBe(2)
  })

  test.each([
    { text: "", why: "No seal key was given" },
    { text: "# nothing but a comment\n", why: "No seal key was given" },
    { text: "c2hvcnQ=", why: "Seal key 1 is not the base64 of 32 bytes" },
    { text: `${oldKey}\n${newKey.slice(0, 20)}*${newKey.slice(21)}`, why: "Seal key 2 is not the base64 of 32 bytes" },
  ])("rejects an invalid key without repeating it: $why", ({ text, why }) => {
    expect(() => parseKeyRing(text)).toThrow(why)
    expect(() => parseKeyRing(text)).not.toThrow("c2hvcnQ")
  })
})

describe("a document", () => {
  const document = "state-versions/sv-1/state"
  const noise = new Uint8Array(Buffer.concat(Array.from({ length: 50 }, () => random.bytes(65_536))))

  test.each([
    { name: "empty", bytes: new Uint8Array(), chunks: 1 },
    { name: "small", bytes: plain, chunks: 1 },
    { name: "long and compressible", bytes: new Uint8Array(5_000_000).fill(32), chunks: 1 },
    { name: "long and random", bytes: noise, chunks: 4 },
  ])("that is $name opens to the original, in $chunks chunks of at most 1 MiB", ({ bytes, chunks }) => {
    const sealed = sealDocument(sealer, document, bytes)
    expect(sealed).toHaveLength(chunks)
    for (const chunk of sealed) expect(chunk.length).toBeLessThanOrEqual(1024 * 1024)
    expect(Buffer.from(openDocument(sealer, document, sealed)).equals(Buffer.from(bytes))).toBe(true)
  })

  test("with a chunk missing, repeated or out of place does not open", () => {
    const [first, second, third, fourth] = sealDocument(sealer, document, noise)
    if (first === undefined || second === undefined || third === undefined || fourth === undefined) throw new Error("4")
    for (const chunks of [
      [],
      [first],
      [first, second, third],
      [second, first, third, fourth],
      [first, first, third, fourth],
    ]) {
      expect(() => openDocument(sealer, document, chunks)).toThrow(BrokenSeal)
    }
    expect(() => openDocument(sealer, "state-versions/sv-2/state", [first, second, third, fourth])).toThrow(BrokenSeal)
  })
})
