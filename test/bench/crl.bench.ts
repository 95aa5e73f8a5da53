// Revocation with a million revoked certificates: the cost of one more, and the cost of a complete CRL. The latter is relative to its
// minimum: reading the rows in order from bare SQLite, hashing, signing and writing.
import { createHash, randomBytes } from "node:crypto"
import { closeSync, fsyncSync, mkdtempSync, openSync, rmSync, writeSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { monitorEventLoopDelay } from "node:perf_hooks"
import { DatabaseSync } from "node:sqlite"
import { openEmbedded } from "../../engine/src/embedded.ts"
import { dayMs } from "../../engine/src/core/time.ts"
import type { SerialNumber } from "../../engine/src/x509/serial-number.ts"
import { encodeRevokedEntry } from "../../engine/src/x509/certificate-list.ts"
import { keyGenerator } from "../../engine/src/x509/key-generation.ts"
import { signingKey } from "../../engine/src/x509/signing-key.ts"
import { median, report, target } from "./figures.ts"

const few = 100
const many = 1_000_000
const sample = 200
const builds = 3

const folder = mkdtempSync(join(tmpdir(), "chancery-bench-crl-"))
const file = join(folder, "store.db")
const engine = await openEmbedded(`sqlite:${file}`, { jobs: false })
try {
  await engine.mounts.create({ path: "pki" })
  const { issuers, roles, certificates, revocations, crls } = engine.pki("pki")
  await issuers.generateRoot({ commonName: "Bench Root", keyType: "ec" })
  await roles.save("any", { allowAnyName: true, keyType: "ec", ttlMs: dayMs })
  await crls.configure({ maxCrlEntries: -1 })
  const issued: SerialNumber[] = []
  for (let count = 0; count < 2 * sample + few + 10; count += 1)
    issued.push((await certificates.issue("any", { commonName: "a.test" })).serialNumber)
  const next = () => {
    const serialNumber = issued.pop()
    if (serialNumber === undefined) throw new Error("there is no certificate left to revoke")
    return serialNumber
  }

  const revokeCost = async (): Promise<number> => {
    const times: number[] = []
    for (let count = 0; count < sample; count += 1) {
      const began = performance.now()
      await revocations.revoke({ serialNumber: next() })
      times.push(performance.now() - began)
    }
    return median(times)
  }

  for (let count = 0; count < few; count += 1) await revocations.revoke({ serialNumber: next() })
  const costOfFew = await revokeCost()
  seed(many)
  const costOfMany = await revokeCost()
  report(`one revocation with ${few} revoked`, costOfFew, "ms")
  report(`one revocation with ${many.toLocaleString("en")} revoked`, costOfMany, "ms")
  target("one revocation with a million revoked / with a hundred", costOfMany / costOfFew, { atMost: 1.5 })

  const raw = signingKey(
    await keyGenerator({ generate: () => Promise.reject(new Error("no RSA key is asked for")) }).generate({
      type: "ec",
      bits: 256,
    }),
  )
  const ratios: number[] = []
  const delay = monitorEventLoopDelay({ resolution: 1 })
  for (let build = 0; build < builds; build += 1) {
    forgetSegments()
    const bare = await leastCost()
    delay.enable()
    const began = performance.now()
    await crls.rotate()
    const whole = performance.now() - began
    delay.disable()
    report("a complete CRL from rows, and the minimal cost", whole, `and ${bare.toPrecision(4)} ms`)
    ratios.push(whole / bare)
  }
  report("a complete CRL with a million entries / the minimal cost", median(ratios), "")
  report("delay of this thread during it, p99", delay.percentile(99) / 1e6, "ms")

  const again: number[] = []
  for (let build = 0; build < builds; build += 1) {
    await revocations.revoke({ serialNumber: next() })
    const began = performance.now()
    const crl = await crls.get()
    again.push(performance.now() - began)
    if (build === 0) report("the CRL", (crl?.der.length ?? 0) / 1e6, "MB")
  }
  report("the same CRL with one more entry, requested at once", median(again), "ms")

  async function leastCost(): Promise<number> {
    using database = new DatabaseSync(file, { readOnly: true })
    const rows = database.prepare(
      "select serial_number, revoked_at, reason from revocations where mount_id = ? and list = ? order by number",
    )
    const { mount_id: mountId, list } = database
      .prepare("select mount_id, list from revocations limit 1")
      .get() as Record<string, string>
    const octets = Buffer.alloc(39 * many)
    const began = performance.now()
    let count = 0
    for (const _row of rows.iterate(mountId ?? "", list ?? "")) count += 1
    if (count < many) throw new Error("rows are missing")
    createHash("sha256").update(octets).digest()
    await raw.sign(octets, "ECDSAWithSHA256")
    const written = openSync(join(folder, "list.der"), "w")
    writeSync(written, octets)
    fsyncSync(written)
    closeSync(written)
    return performance.now() - began
  }
} finally {
  await engine[Symbol.asyncDispose]()
  rmSync(folder, { recursive: true })
}

/** Inserts rows as `SqlRevocationRepository` writes them, in one transaction. */
function seed(count: number): void {
  using database = new DatabaseSync(file, { timeout: 10_000 })
  const row = database.prepare("select mount_id, list, issuer_id, reason from revocations limit 1").get() as Record<
    string,
    string
  >
  const family = `revocations/${row["mount_id"]}`
  const { number } = database.prepare("select number from generations where family = ?").get(family) as {
    number: number
  }
  const insert = database.prepare("insert into revocations values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)")
  const revokedAt = Date.UTC(2026, 0, 1)
  database.exec("begin immediate")
  for (let index = 1; index <= count; index += 1) {
    const serialNumber = randomBytes(20)
    serialNumber[0] = 0x40 | ((serialNumber[0] ?? 0) & 0x3f)
    insert.run(
      ...[row["mount_id"] ?? "", row["list"] ?? "", number + index, serialNumber, serialNumber.readUInt16BE(18)],
      ...[row["issuer_id"] ?? null, revokedAt, "unspecified", revokedAt + 365 * dayMs],
      encodeRevokedEntry({ serialNumber, revokedAt, reason: "unspecified" }),
    )
  }
  database.prepare("update generations set number = ? where family = ?").run(number + count, family)
  database.exec("commit")
}

/** Pretends that an entry was removed, so that the whole CRL is rebuilt. */
function forgetSegments(): void {
  using database = new DatabaseSync(file, { timeout: 10_000 })
  database.exec("update crls set removals = removals + 1")
}
