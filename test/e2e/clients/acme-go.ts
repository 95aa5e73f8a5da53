// Runs the ACME code of Caddy and of cert-manager, both Go libraries, through a small program of this repository.
import { join } from "node:path"
import type { AcmeClient, OrderTitle, Wanted } from "./acme-matrix.ts"
import { type AcmeFixture, type Outcome, printed, readText } from "./acme-fixture.ts"

export type GoLibrary = "caddy" | "cert-manager"

export interface GoAccount {
  run(...words: readonly string[]): Promise<Outcome>
  succeeds(...words: readonly string[]): Promise<string>
  /** Returns the bundle of the certificate obtained last. */
  bundle(): Promise<string>
}

export function goAccount(
  { program, library }: { readonly program: string; readonly library: GoLibrary },
  { folder, responder, rootFile, run }: AcmeFixture,
  { id, challenge, directory, binding }: Pick<Wanted, "id" | "challenge" | "directory" | "binding">,
): GoAccount {
  const own = join(folder, `${library}-${id}`)
  const bound = binding === undefined ? [] : ["-eab-kid", binding.id, "-eab-key", binding.key]
  const common = [
    ...["-library", library, "-directory", directory, "-root", rootFile, "-folder", own],
    ...["-responder", responder.management, "-challenge", challenge, ...bound],
  ]
  const started = (...words: readonly string[]) => run(program, [...common, ...words])
  return {
    run: started,
    succeeds: async (...words) => printed(await started(...words)),
    bundle: () => readText(own, "held.pem"),
  }
}

const solvesNoTls = "It solves no tls-alpn-01."

export const goClient = (program: string, library: GoLibrary): AcmeClient => ({
  name: library,
  answers: [],
  reason: "Superseded",
  cannot:
    library === "caddy"
      ? {}
      : ({
          "several names over tls-alpn-01": solvesNoTls,
          "one name over tls-alpn-01, bound": solvesNoTls,
        } satisfies Partial<Record<OrderTitle, string>>),
  async obtain(fixture, { names, addresses, ...wanted }) {
    const { succeeds, bundle } = goAccount({ program, library }, fixture, wanted)
    await succeeds("obtain", ...names, ...addresses)
    return {
      bundle,
      renew: async () => void (await succeeds("renew", ...names, ...addresses)),
      revoke: async () => void (await succeeds("revoke")),
    }
  },
})
