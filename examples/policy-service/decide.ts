// The rules of this example. A policy, chosen by the last part of the path, says which host names there may be and for how
// long; the caller has to name a team, which no role could ask for, and finds it in the subject.
import "reflect-metadata"
import {
  BasicConstraintsExtension,
  ExtendedKeyUsage,
  ExtendedKeyUsageExtension,
  type Extension,
  KeyUsageFlags,
  KeyUsagesExtension,
  Pkcs10CertificateRequest,
  SubjectAlternativeNameExtension,
  X509CertificateGenerator,
} from "@peculiar/x509"
import type { Decision, Question } from "./question.ts"

export interface Policy {
  /** Host names below these are allowed. */
  readonly domains: readonly string[]
  readonly days: number
  readonly teams: readonly string[]
  /** Signs with this issuer, whichever was asked for. */
  readonly issuer?: string
}

export type Policies = Readonly<Record<string, Policy>>

export async function decide(question: Question, policies: Policies): Promise<Decision> {
  const { policy_name: name, issuance_mode: mode, requested_issuer_id: issuer } = question.vault_request_values
  const policy = Object.hasOwn(policies, name) ? policies[name] : undefined
  if (policy === undefined) return { error: `There is no policy "${name}".` }
  if (mode === "ica") return { error: "This service makes no certificate authorities." }

  const { csr, common_name: host, team } = question.user_request_key_values
  if (typeof host !== "string" || !isHostName(host)) return { error: '"common_name" must be a host name.' }
  if (!policy.domains.some((domain) => host.endsWith(`.${domain}`)))
    return { error: `${host} is not below ${policy.domains.join(", ")}.` }
  if (typeof team !== "string" || !policy.teams.includes(team))
    return { error: `"team" must be one of ${policy.teams.join(", ")}.` }

  return {
    certificate: await template(csr, { host, team, days: policy.days }),
    issuer_ref: policy.issuer ?? issuer,
    store_certificate: true,
    warnings: [`Decided by the example service under the policy ${name}.`],
  }
}

const isHostName = (text: string): boolean =>
  text.length <= 253 && text.split(".").every((label) => /^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/.test(label))

interface Wanted {
  readonly host: string
  readonly team: string
  readonly days: number
}

const dayMs = 86_400_000

/** The certificate as it is to be, under a signature that does not count: Chancery replaces it, and the issuer with it. */
async function template(csr: string, { host, team, days }: Wanted): Promise<string> {
  const request = new Pkcs10CertificateRequest(csr)
  const throwawayKey = await crypto.subtle.generateKey({ name: "ECDSA", namedCurve: "P-256" }, false, [
    "sign",
    "verify",
  ])
  const now = Date.now()
  const extensions: Extension[] = [
    new BasicConstraintsExtension(false, undefined, true),
    new KeyUsagesExtension(KeyUsageFlags.digitalSignature, true),
    new ExtendedKeyUsageExtension([ExtendedKeyUsage.serverAuth]),
    new SubjectAlternativeNameExtension([{ type: "dns", value: host }]),
  ]
  const certificate = await X509CertificateGenerator.create({
    serialNumber: "01",
    subject: [{ CN: [host] }, { OU: [team] }],
    issuer: "CN=nobody",
    notBefore: new Date(now),
    notAfter: new Date(now + days * dayMs),
    publicKey: request.publicKey,
    signingKey: throwawayKey.privateKey,
    signingAlgorithm: { name: "ECDSA", hash: "SHA-256" },
    extensions,
  })
  return certificate.toString("pem")
}
