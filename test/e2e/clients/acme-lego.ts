// lego, run as its users run it: it answers HTTP and TLS challenges itself.
import type { AcmeClient } from "./acme-matrix.ts"
import { type AcmeFixture, type Binding, type Outcome, printed, readText, writeHook } from "./acme-fixture.ts"

export interface LegoAccount {
  run(...words: readonly string[]): Promise<Outcome>
  succeeds(...words: readonly string[]): Promise<string>
  bundleOf(name: string): Promise<string>
}

export interface LegoRegistration {
  readonly id: string
  readonly directory: string
  readonly binding?: Binding | undefined
}

export async function legoAccount(
  program: string,
  fixture: AcmeFixture,
  { id, directory, binding }: LegoRegistration,
): Promise<LegoAccount> {
  const hook = await writeHook(
    fixture,
    `lego-${id}`,
    `case $1 in
present) tell set-txt "{\\"host\\":\\"$2\\",\\"value\\":\\"$3\\"}" ;;
cleanup) tell clear-txt "{\\"host\\":\\"$2\\"}" ;;
esac`,
  )
  const bound = binding === undefined ? [] : ["--eab", "--kid", binding.id, "--hmac", binding.key]
  const common = ["--path", `${fixture.folder}/${id}`, "--server", directory, "--accept-tos", ...bound]
  const run = (...words: readonly string[]) =>
    fixture.run(program, [...common, "--email", "ops@example.com", ...words], {
      environment: {
        LEGO_CA_CERTIFICATES: fixture.rootFile,
        EXEC_PATH: hook,
        EXEC_POLLING_INTERVAL: "1",
        EXEC_SEQUENCE_INTERVAL: "1",
      },
    })
  return {
    run,
    succeeds: async (...words) => printed(await run(...words)),
    bundleOf: (name) => readText(fixture.folder, id, "certificates", `${name}.crt`),
  }
}

/** Returns the options that make lego answer the challenge, from a loopback address. */
export function legoAnswers(
  { responder }: AcmeFixture,
  challenge: "http-01" | "dns-01" | "tls-alpn-01",
  host: string,
): readonly string[] {
  switch (challenge) {
    case "http-01":
      return ["--http", "--http.port", `${host}:${responder.httpPort}`]
    case "tls-alpn-01":
      return ["--tls", "--tls.port", `${host}:${responder.tlsPort}`]
    default:
      return ["--dns", "exec", "--dns.disable-cp", "--dns.resolvers", `127.0.0.1:${responder.dnsPort}`]
  }
}

export const legoRenewal = ["renew", "--days", "9999", "--no-random-sleep"] as const

export const legoClient = (program: string): AcmeClient => ({
  name: "lego",
  answers: ["http-01", "tls-alpn-01"],
  reason: "Superseded",
  cannot: { "a name and an address over http-01": "Debian's release, 4.9, orders no addresses." },
  async obtain(fixture, { names, challenge, host, ...registration }) {
    const { succeeds, bundleOf } = await legoAccount(program, fixture, registration)
    const wanted = [...legoAnswers(fixture, challenge, host), ...names.flatMap((name) => ["--domains", name])]
    const [name = ""] = names
    await succeeds(...wanted, "run")
    return {
      bundle: () => bundleOf(name),
      renew: async () => void (await succeeds(...wanted, ...legoRenewal)),
      revoke: async () => void (await succeeds("--domains", name, "revoke", "--reason", "4")),
    }
  },
})
