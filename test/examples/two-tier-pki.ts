// The complete example, with the real Pulumi engine.
import { createPrivateKey, X509Certificate } from "node:crypto"
import { expect, vi } from "vitest"
import type { TestStack } from "../e2e/pulumi/stack.ts"

/** Evaluates the module anew each time, as Pulumi does. */
const program = async (): Promise<Record<string, unknown>> => {
  vi.resetModules()
  return { ...(await import("../../examples/two-tier-pki/index.ts")) }
}

const declared = ["example-roots", "root", "example-pki", "issuing", "servers", "clients", "site"]
const all = (operation: string) => Object.fromEntries(declared.map((name) => [name, operation]))

/** Checks that the CAs are created, kept and deleted, and that no state contains their keys. */
export async function twoTierPki(stack: TestStack): Promise<void> {
  const { engine } = stack
  expect((await stack.up(program)).operations).toEqual(all("create"))

  const outputs = await stack.outputs()
  const [site, issuing] = String(outputs["chain"])
    .split(/(?<=-----END CERTIFICATE-----)\n/)
    .map((pem) => new X509Certificate(pem))
  const root = new X509Certificate(String(outputs["rootCertificate"]))
  expect(root.subject).toBe("O=Example\nCN=Example Root")
  expect([issuing?.verify(root.publicKey), issuing && site?.verify(issuing.publicKey)]).toEqual([true, true])
  expect(site?.checkHost("shop.example.com")).toBe("shop.example.com")
  expect(site?.checkPrivateKey(createPrivateKey(String(outputs["privateKey"])))).toBe(true)

  const state = await stack.state()
  expect(state).not.toContain("PRIVATE KEY")
  expect(state).not.toContain(stack.token)
  expect((await stack.up(program)).operations).toEqual(all("same"))

  // A CA is not deleted while a certificate that others requested from it is valid.
  const { serialNumber } = await engine.pki("example-pki").certificates.issue("clients", {
    commonName: "somebody",
    // The name is no host of example.com, to which the CA is constrained.
    excludeCnFromSans: true,
    keyType: "ec",
  })
  await expect(stack.destroy()).rejects.toThrow(/issued certificates that are still valid/)
  await engine.pki("example-pki").revocations.revoke({ serialNumber })
  await stack.destroy()
  expect(await engine.mounts.list()).toEqual([])
}
