// The provider's process ends after a CA has signed and before Pulumi gets the result. After the next run there is one of each certificate,
// and no unknown certificate is valid.
import { PkiCertificate, PkiIssuer, PkiRevocation, PkiSignedCertificate } from "@chancery/pulumi"
import { beforeAll, describe, expect, test } from "vitest"
import type { Pki } from "../../engine/src/pki/mounts/pki.ts"
import { prepareAuthority } from "../e2e/pulumi/certificate-scenario.ts"
import { dyingAt } from "../e2e/pulumi/crashing-stack.ts"
import { buildProvider, openStack } from "../e2e/pulumi/stack.ts"
import { pulumiProgram } from "../toolchain/pulumi.ts"
import { sampleOf } from "./sample.ts"

const pulumi = await pulumiProgram()

beforeAll(buildProvider)

const declared = (word: string, dyingOperation: string) => async () => {
  const { csr } = new PkiIssuer("outside", { kind: "intermediate", commonName: "Outside", keyType: "ec" })
  new PkiIssuer("issuing", {
    kind: "intermediate",
    parentMount: "pki",
    parentIssuerRef: "root",
    commonName: "Issuing",
    keyType: "ec",
    ttl: "1000h",
  })
  const common = { role: "web", issuerRef: "root", onDestroy: "revoke" } as const
  new PkiCertificate("site", { ...common, commonName: `${word}.test` })
  // Its common name is that of the CSR.
  new PkiSignedCertificate("signed", {
    ...common,
    altNames: [`${word}.test`],
    commonName: "Outside",
    csr: csr.apply((known) => known ?? ""),
  })
  new PkiRevocation("doomed", { serialNumber: dyingOperation })
}

async function inventory({ certificates, issuers, keys }: Pki) {
  const { items } = await certificates.search({ role: "web" })
  const named = (status: string) => items.filter((one) => one.status === status).map(({ commonName }) => commonName)
  return {
    valid: named("valid").toSorted(),
    // The number of processes that ended with a key depends on the operations in flight, so duplicates are removed.
    revoked: [...new Set(named("revoked"))].toSorted(),
    issuers: (await issuers.list()).map(({ name }) => name ?? "nameless").toSorted(),
    keys: (await keys.list()).length,
  }
}

describe.skipIf(pulumi === undefined)("the provider", () => {
  test.each(sampleOf(["embedded", "remote"] as const, 9))(
    "with the %s engine recovers from each kill -9 between a signature and Pulumi's response",
    { timeout: 900_000 },
    async (mode) => {
      await using stack = await openStack(pulumi ?? "", mode)
      const pki = await prepareAuthority(stack)
      const { serialNumber } = await pki.certificates.issue("web", { commonName: "doomed.test" })
      const dying = dyingAt(stack)
      const [first, second] = [declared("first", serialNumber), declared("second", serialNumber)]
      const deeds = (kinds: readonly string[], methods: readonly string[]) =>
        kinds.flatMap((kind) => methods.map((method) => `${kind} ${method}`))

      await dying(deeds(["pkiIssuer", "pkiCertificate", "pkiSignedCertificate", "pkiRevocation"], ["create"]), () =>
        stack.up(first),
      )
      const authorities = { issuers: ["issuing", "root"], keys: 3 }
      expect(await inventory(pki)).toEqual({
        valid: ["Outside", "first.test"],
        revoked: ["doomed.test", "first.test"],
        ...authorities,
      })
      const names = ["outside", "issuing", "site", "signed", "doomed"]
      expect((await stack.up(first)).operations).toEqual(Object.fromEntries(names.map((name) => [name, "same"])))

      await dying(deeds(["pkiCertificate", "pkiSignedCertificate"], ["create", "delete"]), () => stack.up(second))
      expect(await inventory(pki)).toEqual({
        valid: ["Outside", "second.test"],
        revoked: ["Outside", "doomed.test", "first.test", "second.test"],
        ...authorities,
      })

      await dying(deeds(["pkiIssuer", "pkiCertificate", "pkiSignedCertificate"], ["delete"]), () => stack.destroy())
      expect(await inventory(pki)).toMatchObject({ valid: [], issuers: ["root"], keys: 1 })
    },
  )
})
