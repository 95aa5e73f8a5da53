// certbot, run as its users run it. Its hooks configure the responder that answers the challenges.
import { join } from "node:path"
import type { AcmeClient, OrderTitle } from "./acme-matrix.ts"
import { type AcmeFixture, type Binding, type Outcome, printed, readText, writeHook } from "./acme-fixture.ts"

interface CertbotAccount {
  readonly folder: string
  run(...words: readonly string[]): Promise<Outcome>
  succeeds(...words: readonly string[]): Promise<string>
  /** Returns further arguments of `certonly`. */
  readonly manually: (challenge: "http-01" | "dns-01") => readonly string[]
  bundleOf(name: string): Promise<string>
}

export interface Registration {
  readonly id: string
  readonly directory: string
  readonly binding?: Binding | undefined
}

/** Passes the key in one argument: a key may begin with a dash, which would make it an option. */
export const bindingWords = (binding: Binding | undefined): readonly string[] =>
  binding === undefined ? [] : ["--eab-kid", binding.id, `--eab-hmac-key=${binding.key}`]

export async function certbotAccount(
  program: string,
  fixture: AcmeFixture,
  { id, directory, binding }: Registration,
): Promise<CertbotAccount> {
  const hook = await writeHook(
    fixture,
    `certbot-${id}`,
    `if [ -n "\${CERTBOT_TOKEN:-}" ]; then
  tell add-http01 "{\\"token\\":\\"$CERTBOT_TOKEN\\",\\"content\\":\\"$CERTBOT_VALIDATION\\"}"
else
  tell set-txt "{\\"host\\":\\"_acme-challenge.$CERTBOT_DOMAIN.\\",\\"value\\":\\"$CERTBOT_VALIDATION\\"}"
fi`,
  )
  const folder = join(fixture.folder, id)
  const folders = ["config", "work", "logs"].flatMap((name) => [`--${name}-dir`, folder])
  const common = ["--server", directory, "--non-interactive", "--agree-tos", "--email", "ops@example.com"]
  const run = (...words: readonly string[]) =>
    fixture.run(program, [...words, ...folders, ...common], { environment: { REQUESTS_CA_BUNDLE: fixture.rootFile } })
  return {
    folder,
    run,
    succeeds: async (...words) => printed(await run(...words)),
    manually: (challenge) => [
      ...["certonly", "--manual", "--manual-auth-hook", hook],
      ...["--preferred-challenges", challenge.replace("-01", ""), ...bindingWords(binding)],
    ],
    bundleOf: (name) => readText(folder, "live", name, "fullchain.pem"),
  }
}

export interface CertbotRelease {
  readonly name: string
  readonly program: string
  /** Releases from 5.4 on order certificates for IP addresses. */
  readonly ordersAddresses: boolean
}

export const certbotClient = ({ name, program, ordersAddresses }: CertbotRelease): AcmeClient => ({
  name,
  answers: [],
  reason: "Superseded",
  cannot: {
    "several names over tls-alpn-01": knowsNoTls,
    "one name over tls-alpn-01, bound": knowsNoTls,
    ...(ordersAddresses ? {} : { ["a name and an address over http-01" satisfies OrderTitle]: ordersNoAddresses }),
  },
  async obtain(fixture, { names, addresses, challenge, ...registration }) {
    if (challenge === "tls-alpn-01") throw new Error(knowsNoTls)
    const { succeeds, manually, bundleOf } = await certbotAccount(program, fixture, registration)
    const wanted = [
      ...names.flatMap((each) => ["--domain", each]),
      ...addresses.flatMap((each) => ["--ip-address", each]),
    ]
    const certName = ["--cert-name", "held"]
    await succeeds(...manually(challenge), ...wanted, ...certName)
    return {
      bundle: () => bundleOf("held"),
      renew: async () => void (await succeeds("renew", "--force-renewal", "--no-random-sleep-on-renew")),
      revoke: async () =>
        void (await succeeds("revoke", "--reason", "superseded", "--no-delete-after-revoke", ...certName)),
    }
  },
})

const knowsNoTls = "It does not know tls-alpn-01."
const ordersNoAddresses = "It orders no addresses before release 5.4."
