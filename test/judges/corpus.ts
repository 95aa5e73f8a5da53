// Certificates, CRLs and OCSP answers as the engine makes them, over all kinds of keys, roles and requests.
import { dayMs } from "../../engine/src/core/time.ts"
import type { ServedEngine } from "../../engine/src/engine.ts"
import { lastInstant } from "../../engine/src/pki/issue/validity.ts"
import type { ServedPki } from "../../engine/src/pki/pki.ts"
import { allKeyAlgorithms } from "../../engine/src/testing/test-keys.ts"
import { describeKeyAlgorithm, type KeyAlgorithm } from "../../engine/src/x509/key-algorithm.ts"
import { chance, type Chance } from "../fuzz/chance.ts"
import type { Batch, JudgedCertificate } from "./batch.ts"
import type { Explanation } from "./explained.ts"
import { requestWish, roleWish } from "./wishes.ts"

/** Certificates of one role. */
const requestsPerRole = 10

/** What an authority's keys cost decides how often they are used: one signature of 8192 bits takes 50 ms. */
const rolesOf = (key: KeyAlgorithm): number => ("bits" in key && key.bits === 8192 ? 3 : 26)

export async function makeCorpus(engine: ServedEngine, seed: number): Promise<Batch> {
  const batch: { [Piece in keyof Batch]: Batch[Piece][number][] } = { certificates: [], crls: [], answers: [] }
  for (const [index, key] of allKeyAlgorithms.entries()) {
    const made = await authority(engine, key, chance(seed, index))
    batch.certificates.push(...made)
  }
  return batch
}

async function authority(engine: ServedEngine, key: KeyAlgorithm, choice: Chance): Promise<JudgedCertificate[]> {
  const name = describeKeyAlgorithm(key)
  const path = `judged-${name.toLowerCase().replaceAll(/\W+/g, "-")}`
  await engine.mounts.create({ path, config: { maxLeaseTtlMs: 20_000 * dayMs } })
  const pki = engine.pki(path)
  const root = await pki.issuers.generateRoot({
    commonName: `Root with ${name}`,
    keyType: key.type,
    keyBits: "bits" in key ? key.bits : 0,
    // Half of them end after 2050, which is written in another form, and half never.
    ...(isEndless(key) ? { notAfter: lastInstant } : { ttlMs: 10_000 * dayMs }),
  })
  const explained = explanationsOf([key])
  const judged: JudgedCertificate[] = [
    { name: `root with ${name}`, der: root.certificate, issuers: [], purpose: "any", explained },
  ]
  for (let index = 0; index < rolesOf(key); index += 1) judged.push(...(await underRole(pki, key, index, choice)))
  return judged
}

/** Of an issuer without an end, so may be what it issues. */
const isEndless = (key: KeyAlgorithm): boolean => allKeyAlgorithms.indexOf(key) % 2 === 0

async function underRole(
  pki: ServedPki,
  issuerKey: KeyAlgorithm,
  index: number,
  choice: Chance,
): Promise<JudgedCertificate[]> {
  const key = choice.of(allKeyAlgorithms)
  const { role, purpose, explained } = roleWish(choice, key)
  await pki.roles.save(`role-${index}`, role)
  const judged: JudgedCertificate[] = []
  for (let number = 0; number < requestsPerRole; number += 1) {
    const request = requestWish(choice, number, { isEndless: isEndless(issuerKey) })
    const { certificate, caChain } = await pki.certificates.issue(`role-${index}`, request)
    judged.push({
      name: `issued under ${describeKeyAlgorithm(issuerKey)}, role ${index}, ${number}: ${describeKeyAlgorithm(key)}`,
      der: certificate,
      issuers: caChain,
      purpose,
      explained: [...explained, ...explanationsOf([key])],
    })
  }
  return judged
}

function explanationsOf(keys: readonly KeyAlgorithm[]): readonly Explanation[] {
  return keys.some((key) => "bits" in key && key.bits === 224) ? ["zlint: e_mp_ecdsa_pub_key_encoding_correct"] : []
}
