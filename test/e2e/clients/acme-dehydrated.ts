// dehydrated, run as its users run it: a shell script that parses documents and headers with sed, and is strict about both.
import { mkdir, writeFile } from "node:fs/promises"
import { join } from "node:path"
import type { AcmeClient, Wanted } from "./acme-matrix.ts"
import { type AcmeFixture, type Outcome, printed, readText, writeHook } from "./acme-fixture.ts"

export interface DehydratedAccount {
  run(...words: readonly string[]): Promise<Outcome>
  succeeds(...words: readonly string[]): Promise<string>
  /** Returns the path of the certificate without its chain. */
  readonly fileOf: (alias: string) => string
  bundleOf(alias: string): Promise<string>
}

/** Creates one account, with its own folder. */
export async function dehydratedAccount(
  program: string,
  fixture: AcmeFixture,
  { id, challenge, directory, binding, host }: Pick<Wanted, "id" | "challenge" | "directory" | "binding" | "host">,
): Promise<DehydratedAccount> {
  const folder = join(fixture.folder, id)
  await mkdir(join(folder, "alpn-certs"), { recursive: true })
  // dehydrated makes the certificates for tls-alpn-01 itself, all of them before the first validation; `openssl s_server` serves each.
  const shown = `-cert "${folder}/alpn-certs/$2.crt.pem" -key "${folder}/alpn-certs/$2.key.pem"`
  const secondHost = host.replace(".0.0.", ".0.1.")
  const hook = await writeHook(
    fixture,
    `dehydrated-${id}`,
    `case $1.${challenge} in
deploy_challenge.http-01) tell add-http01 "{\\"token\\":\\"$3\\",\\"content\\":\\"$4\\"}" ;;
deploy_challenge.dns-01) tell set-txt "{\\"host\\":\\"_acme-challenge.$2.\\",\\"value\\":\\"$4\\"}" ;;
deploy_challenge.tls-alpn-01)
  case $2 in b.*) host=${secondHost} ;; *) host=${host} ;; esac
  tell clear-a "{\\"host\\":\\"$2\\"}"
  tell add-a "{\\"host\\":\\"$2\\",\\"addresses\\":[\\"$host\\"]}"
  openssl s_server -quiet -accept "$host:${fixture.responder.tlsPort}" ${shown} -alpn acme-tls/1 \\
    </dev/null >/dev/null 2>&1 &
  echo $! >"${folder}/$2.pid"
  sleep 0.3 ;;
clean_challenge.tls-alpn-01) kill "$(cat "${folder}/$2.pid")" ;;
esac`,
  )
  const file = join(folder, "config")
  const bound = binding === undefined ? "" : `EAB_KID="${binding.id}"\nEAB_HMAC_KEY="${binding.key}"\n`
  await writeFile(
    file,
    `CA="${directory}"
BASEDIR="${folder}"
WELLKNOWN="${folder}"
ALPNCERTDIR="${folder}/alpn-certs"
CURL_OPTS="--cacert ${fixture.rootFile}"
CHALLENGETYPE="${challenge}"
HOOK="${hook}"
CONTACT_EMAIL="ops@example.com"
KEY_ALGO=prime256v1
KEYSIZE=2048
${bound}`,
  )
  const run = (...words: readonly string[]) => fixture.run(program, [...words, "--config", file])
  const certificates = (alias: string) => join(folder, "certs", alias)
  return {
    run,
    succeeds: async (...words) => printed(await run(...words)),
    fileOf: (alias) => join(certificates(alias), "cert.pem"),
    bundleOf: (alias) => readText(certificates(alias), "fullchain.pem"),
  }
}

export const dehydratedClient = (program: string): AcmeClient => ({
  name: "dehydrated",
  answers: ["tls-alpn-01"],
  // dehydrated sends no reason.
  reason: "Unspecified",
  cannot: { "a name and an address over http-01": "Debian's release, 0.7.0, orders no addresses." },
  async obtain(fixture, { names, ...wanted }) {
    const { succeeds, bundleOf, fileOf } = await dehydratedAccount(program, fixture, wanted)
    await succeeds("--register", "--accept-terms")
    const words = ["--cron", "--alias", "held", ...names.flatMap((name) => ["--domain", name])]
    await succeeds(...words)
    return {
      bundle: () => bundleOf("held"),
      renew: async () => void (await succeeds(...words, "--force")),
      revoke: async () => void (await succeeds("--revoke", fileOf("held"))),
    }
  },
})
