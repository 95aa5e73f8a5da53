// Certificate authorities from creation to destruction, with the real Pulumi engine.
import { X509Certificate } from "node:crypto"
import { PkiIssuer, type PkiIssuerArgs } from "@chancery/pulumi"
import { expect } from "vitest"
import { hourMs } from "../../../engine/src/core/time.ts"
import { foreignRoot } from "../../../engine/testing/issuing-mount.ts"
import type { TestStack } from "./stack.ts"

/** Outputs of a program that the test reads. */
interface Seen {
  csr?: string | null
}

const declare =
  (issuers: Readonly<Record<string, PkiIssuerArgs>>, seen: Seen = {}) =>
  async () => {
    for (const [name, args] of Object.entries(issuers)) {
      const { csr } = new PkiIssuer(name, args)
      csr.apply((known) => {
        if (name === "outside") seen.csr = known
      })
    }
  }

export async function issuerScenario(stack: TestStack): Promise<void> {
  const { engine } = stack
  await engine.mounts.create({ path: "pki", config: { maxLeaseTtlMs: 87_600 * hourMs } })
  const { issuers, keys, settings } = engine.pki("pki")
  const names = async () => (await issuers.list()).flatMap(({ name }) => name ?? []).toSorted()
  const [elsewhere, brought] = [foreignRoot(), foreignRoot("/CN=Brought along")]
  const seen: Seen = {}
  const first = {
    root: { kind: "root", commonName: "Root", keyType: "ec", ttl: "1000h" },
    outside: { kind: "intermediate", commonName: "Outside", keyType: "ec" },
    theirs: { kind: "imported", bundle: [brought.certificate, brought.key].join("\n") },
  } satisfies Record<string, PkiIssuerArgs>
  const all = (operation: string) => ({ root: operation, outside: operation, theirs: operation })

  expect((await stack.preview(declare(first))).operations).toEqual(all("create"))
  expect(await names()).toEqual([])
  expect((await stack.up(declare(first, seen))).operations).toEqual(all("create"))
  expect(await names()).toEqual(["root", "theirs"])
  expect((await stack.up(declare(first))).operations).toEqual(all("same"))
  await stack.refresh()
  expect((await stack.preview(declare(first))).operations).toEqual(all("same"))

  // The outside CA has signed the intermediate; the other issuers are renamed and reconfigured.
  const second = {
    root: { ...first.root, name: "root-2026", leafNotAfterBehavior: "truncate", isDefault: true },
    outside: {
      ...first.outside,
      signedCertificate: [elsewhere.sign(seen.csr ?? ""), elsewhere.certificate].join("\n"),
      ocspServers: ["http://ocsp.test/"],
    },
    theirs: { ...first.theirs, usage: ["crl-signing"] },
  } satisfies Record<string, PkiIssuerArgs>
  expect((await stack.preview(declare(second))).operations).toEqual(all("update"))
  expect((await stack.up(declare(second))).operations).toEqual(all("update"))
  expect(await names()).toEqual(["outside", "root-2026", "theirs"])
  const { certificate, settings: set } = await issuers.get("outside")
  expect(new X509Certificate(certificate).issuer).toBe("CN=Elsewhere")
  expect(set.urls.ocspServers).toEqual(["http://ocsp.test/"])
  expect((await stack.up(declare(second))).operations).toEqual(all("same"))

  // Changes by others, of declared and of undeclared settings.
  await issuers.update("root-2026", { issuerName: "stolen", crlDistributionPoints: ["http://theirs.test/"] })
  await settings.changeIssuers({ default: "theirs" })
  await stack.refresh()
  const onlyRoot = (operation: string) => ({ ...all("same"), root: operation })
  expect((await stack.up(declare(second))).operations).toEqual(onlyRoot("update"))
  const root = await issuers.get("root-2026")
  expect(root.settings.urls.crlDistributionPoints).toEqual(["http://theirs.test/"])
  expect((await settings.issuers()).default).toBe(root.id)

  // Another subject means another CA. It replaces the old one and takes over its name; with another name, both exist for a while.
  const third = { ...second, root: { ...second.root, commonName: "Root 2" } } satisfies Record<string, PkiIssuerArgs>
  expect((await stack.up(declare(third))).operations).toEqual(onlyRoot("replace"))
  expect((await issuers.get("root-2026")).id).not.toBe(root.id)
  await expect(stack.up(declare({ ...third, root: { ...third.root, countries: ["Germany"] } }))).rejects.toThrow(
    /countries.*two letters/s,
  )

  const state = await stack.state()
  expect(state).toContain("v1.pkiIssuer;")
  expect(state).not.toContain("PRIVATE KEY")
  expect(state).not.toContain(brought.key.split("\n")[1])
  expect(state).not.toContain(stack.token)
  await stack.destroy()
  expect([await issuers.list(), await keys.list()]).toEqual([[], []])
}
