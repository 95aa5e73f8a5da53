// Decisions of an external policy service: certificate contents by other software, which the engine signs unchanged or not at all.
import { dayMs, hourMs } from "../../engine/src/core/time.ts"
import { systemRuntime } from "../../engine/src/core/runtime.ts"
import type { IssuedCertificate } from "../../engine/src/pki/issuance/certificate-api.ts"
import type { IssuanceMode } from "../../engine/src/pki/external-policy/external-policy.ts"
import { lastInstant } from "../../engine/src/pki/issuance/validity.ts"
import type { ServedPki } from "../../engine/src/pki/mounts/pki.ts"
import { type PolicyServer, templateFor, testTlsPem } from "../../engine/testing/policy-server.ts"
import { basicConstraints, keyUsage } from "../../engine/src/x509/extensions.ts"
import type { Extension } from "../../engine/src/x509/extension.ts"
import type { KeyAlgorithm } from "../../engine/src/x509/key-algorithm.ts"
import { nameConstraints } from "../../engine/src/x509/name-constraints.ts"
import type { DistinguishedName } from "../../engine/src/x509/name.ts"
import type { Chance } from "../fuzz/chance.ts"
import { common, csrFor } from "./csr.ts"
import type { Explanation } from "./explanations.ts"
import { verbatimExpectation } from "./expectations.ts"

export async function trustPolicyServer(pki: ServedPki, { url }: PolicyServer): Promise<void> {
  await pki.externalPolicy.configure({
    enabled: true,
    externalServiceUrl: url,
    trustedCa: testTlsPem("authority"),
  })
}

export interface Decision {
  readonly mode: IssuanceMode
  readonly subject: DistinguishedName
  readonly explained: readonly Explanation[]
  ask(pki: ServedPki, server: PolicyServer, key: KeyAlgorithm): Promise<IssuedCertificate>
}

interface Terms {
  readonly mode: IssuanceMode
  readonly number: number
  readonly isEndless: boolean
}

/** Returns the decision about one question. */
export function decide(chance: Chance, { mode, number, isEndless }: Terms): Decision {
  const { subject, extensions, explained } =
    mode === "ica" ? authority(chance, number) : leaf(chance, number, isEndless)
  const now = systemRuntime().clock.now()
  const notBefore = now - chance.of([0, hourMs, 30 * dayMs])
  const notAfter = isEndless && chance.oneIn(4) ? lastInstant : now + chance.of([hourMs, 90 * dayMs, 1_000 * dayMs])
  const algorithm = chance.of(["ECDSAWithSHA256", "SHA384WithRSA", "SHA512WithRSAPSS"] as const)
  return {
    mode,
    subject,
    explained,
    async ask(pki, server, key) {
      server.answerWith((question) => ({
        certificate: templateFor(question, { subject, extensions, notBefore, notAfter, algorithm }),
        store_certificate: true,
      }))
      if (mode === "issue") {
        const size = "bits" in key ? key.bits : 0
        return pki.externalPolicy.issue({ keyType: key.type, keyBits: size, parameters })
      }
      const csr = await csrFor(key, { subject: common("ignored.example.com"), extensions: [] })
      return mode === "sign"
        ? pki.externalPolicy.sign({ csr, parameters })
        : pki.externalPolicy.signIntermediate({ csr, parameters })
    },
  }
}

const parameters = new Map([["common_name", '"asked.example.com"']])

function leaf(chance: Chance, number: number, isEndless: boolean) {
  const { content, explained } = verbatimExpectation(chance, number, { isEndless })
  return { ...content, explained }
}

function authority(chance: Chance, number: number) {
  const maxPathLength = chance.of([undefined, 0, 3])
  const extensions: Extension[] = [
    basicConstraints({ isCa: true, ...(maxPathLength === undefined ? {} : { maxPathLength }) }),
    keyUsage(["keyCertSign", "cRLSign", ...(chance.oneIn(2) ? (["digitalSignature"] as const) : [])]),
  ]
  if (chance.oneIn(2))
    extensions.push(nameConstraints({ permitted: [{ kind: "dns", value: "example.com" }], excluded: [] }))
  return { subject: common(`Decided ${number}`), extensions, explained: [] }
}
