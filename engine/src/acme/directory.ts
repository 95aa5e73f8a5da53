// Finds the ACME directory of a request, with the issuer and the role or policy that it issues by.
import { memoizeByIdentity } from "../core/memoize-by-identity.ts"
import type { ParsedIssuer } from "../pki/issuers/parsed-issuer.ts"
import {
  acmeObstacle,
  type AcmeSettings,
  allows,
  type DirectoryPolicy,
  type EabPolicy,
  parseDirectoryPolicy,
} from "../pki/mounts/acme-settings.ts"
import { findIssuer, type MountSnapshot } from "../pki/mounts/mount-snapshot.ts"
import { formatIpAddress, parseIpAddress } from "../pki/names/ip-address.ts"
import { defaultReference } from "../pki/names/reference-name.ts"
import { valuesOf } from "../pki/names/subject.ts"
import { type Role, roleDefaults } from "../pki/roles/role.ts"
import { oids } from "../x509/asn1/oids.ts"
import { type Certificate, parseCertificate } from "../x509/certificate.ts"
import { parseCertificationRequest } from "../x509/certification-request.ts"
import { parseExtensionValues } from "../x509/extensions.ts"
import { readPublicKey } from "../x509/public-key.ts"
import { serialNumberOf } from "../x509/serial-number.ts"
import { isSignedBy } from "../x509/signature.ts"
import { UnacceptableInput } from "../x509/unacceptable-input.ts"
import { assertStrongKey } from "../x509/weak-rsa.ts"
import { distinctIdentifiers, type Identifier, readIdentifier } from "./orders/identifier.ts"
import { AcmeProblem, malformed, unauthorized } from "./problem.ts"

/** Directory as named by its path. A role and an external policy are never both named. */
export interface Directory {
  readonly issuerRef?: string
  readonly role?: string
  /** Name of the policy; empty for the default of the policy service. */
  readonly externalPolicy?: string
}

/** Returns the path below the mount, without a slash at either end: `issuer/int/roles/web/acme`. */
export function directoryPath({ issuerRef, role, externalPolicy }: Directory): string {
  const parts = [
    ...(issuerRef === undefined ? [] : ["issuer", issuerRef]),
    ...(role === undefined ? [] : ["roles", role]),
    ...(externalPolicy === undefined ? [] : ["external-policy", ...(externalPolicy === "" ? [] : [externalPolicy])]),
    "acme",
  ]
  return parts.map(encodeURIComponent).join("/")
}

/** Parses a path that `directoryPath` returned. */
export function directoryAt(path: string): Directory {
  const parts = path.split("/").slice(0, -1).map(decodeURIComponent)
  const named = (word: string): string | undefined => (parts[0] === word ? parts.splice(0, 2)[1] : undefined)
  const issuerRef = named("issuer")
  const role = named("roles")
  const externalPolicy = parts[0] === "external-policy" ? (parts[1] ?? "") : undefined
  return {
    ...(issuerRef === undefined ? {} : { issuerRef }),
    ...(role === undefined ? {} : { role }),
    ...(externalPolicy === undefined ? {} : { externalPolicy }),
  }
}

/** Decides the content of a certificate: a role or an external policy service. */
export type Decider =
  /** `name` is null if every proved name is signed, without a role. */
  | { readonly kind: "role"; readonly name: string | null; readonly role: Role; readonly issuer: ParsedIssuer }
  | { readonly kind: "external-policy"; readonly policy: string | undefined; readonly issuerRef: string | undefined }

export interface OpenDirectory {
  readonly decider: Decider
  /** Roles that an order may select instead of the directory's own. */
  readonly profiles: ReadonlyMap<string, Role>
}

export interface ServerRules {
  /** `SERVICE_DISABLE_PUBLIC_ACME`: accounts require an external account binding. */
  readonly requiresBinding: boolean
}

export const eabPolicyOf = ({ eabPolicy }: AcmeSettings, { requiresBinding }: ServerRules): EabPolicy =>
  requiresBinding ? "always-required" : eabPolicy

/** Returns whether the mount serves ACME. If not, all its ACME paths answer 404. */
export const isServed = ({ mount, settings }: MountSnapshot): boolean =>
  settings.acme.enabled && acmeObstacle({ mount, clusterPath: settings.cluster.path }) === undefined

/** Throws `AcmeProblem` if the directory does not exist or the settings do not allow it. */
export function openDirectory(snapshot: MountSnapshot, directory: Directory): OpenDirectory {
  const { settings } = snapshot
  const policy = policyOf(settings.acme, directory)
  const chosen = directory.issuerRef === undefined ? undefined : explicitIssuer(snapshot, directory.issuerRef)
  switch (policy.kind) {
    case "forbid":
      throw unauthorized("This directory is forbidden by default_directory_policy.")
    case "external-policy":
      if (directory.externalPolicy === undefined && directory.issuerRef !== undefined)
        throw unauthorized(
          "The directory of an issuer cannot use an external policy by default; use its external-policy directory.",
        )
      if (!settings.externalPolicy.enabled) throw unauthorized("External policies are not enabled on this mount.")
      return {
        decider: { kind: "external-policy", policy: policy.policy, issuerRef: directory.issuerRef },
        profiles: new Map(),
      }
    case "role": {
      const role = usableRole(snapshot, policy.role)
      const issuer = chosen ?? namedIssuer(snapshot, role.issuerRef)
      return {
        decider: { kind: "role", name: policy.role, role, issuer },
        // A directory of one role offers only that role.
        profiles: directory.role === undefined ? profilesOf(snapshot) : new Map([[policy.role, role]]),
      }
    }
    default: {
      const issuer = chosen ?? namedIssuer(snapshot, "default")
      return { decider: { kind: "role", name: null, role: anyProvedName, issuer }, profiles: profilesOf(snapshot) }
    }
  }
}

/** Returns the decider of an order, which may have selected a profile. Throws `invalidProfile`. */
export function deciderFor(
  snapshot: MountSnapshot,
  directory: Directory,
  { decider, profiles }: OpenDirectory,
  profile: string | null,
): Decider {
  if (profile === null) return decider
  const role = profiles.get(profile)
  if (role === undefined) {
    const known = [...profiles.keys()].slice(0, profilesShown)
    const offered = known.length === 0 ? "it has no profiles." : `use ${known.join(", ")}.`
    throw new AcmeProblem(
      "invalidProfile",
      `The profile ${JSON.stringify(profile)} does not exist in this directory; ${offered}`,
    )
  }
  const issuer =
    directory.issuerRef === undefined
      ? namedIssuer(snapshot, role.issuerRef)
      : explicitIssuer(snapshot, directory.issuerRef)
  return { kind: "role", name: profile, role, issuer }
}

const profilesShown = 20

function policyOf(settings: AcmeSettings, { role, externalPolicy }: Directory): DirectoryPolicy {
  if (role !== undefined) return { kind: "role", role }
  if (externalPolicy !== undefined)
    return { kind: "external-policy", policy: externalPolicy === "" ? undefined : externalPolicy }
  const policy = parseDirectoryPolicy(settings.defaultDirectoryPolicy)
  if (policy === undefined) throw new TypeError("a directory policy that cannot be read was kept")
  return policy
}

/** Answers alike for missing and forbidden roles, because only callers that may list roles may know which exist. */
function usableRole({ roles, settings }: MountSnapshot, name: string): Role {
  const role = roles.get(name)
  if (role === undefined || !allows(settings.acme.allowedRoles, name))
    throw unauthorized(`The role ${JSON.stringify(name)} may not be used with ACME on this mount.`)
  if (role.noStore)
    throw unauthorized(`The role ${JSON.stringify(name)} may not be used with ACME, because its no_store is true.`)
  return role
}

const profilesOf = memoizeByIdentity(({ roles, settings }: MountSnapshot): ReadonlyMap<string, Role> => {
  const usable = [...roles].filter(([name, role]) => !role.noStore && allows(settings.acme.allowedRoles, name))
  return new Map(usable.toSorted(([one], [other]) => (one < other ? -1 : 1)))
})

/** Resolves an issuer named in the path. The list of allowed issuers may name it by id or by name. */
function explicitIssuer(snapshot: MountSnapshot, reference: string): ParsedIssuer {
  const { allowedIssuers } = snapshot.settings.acme
  const issuer = findIssuer(snapshot, reference)
  const isAllowed =
    allowedIssuers.includes("*") || allowedIssuers.some((allowed) => findIssuer(snapshot, allowed)?.id === issuer?.id)
  if (issuer === undefined || !isAllowed)
    throw unauthorized(`The issuer ${JSON.stringify(reference)} may not be used with ACME on this mount.`)
  return issuer
}

function namedIssuer(snapshot: MountSnapshot, reference: string): ParsedIssuer {
  const issuer = findIssuer(snapshot, reference)
  if (issuer !== undefined) return issuer
  const missing = reference === defaultReference ? "default issuer" : `issuer ${JSON.stringify(reference)}`
  throw new AcmeProblem("malformed", `The mount has no ${missing}; this directory cannot issue certificates.`, {
    status: 404,
  })
}

/** Role of `sign-verbatim`: a certificate contains the proved names and nothing else. */
const anyProvedName: Role = {
  ...roleDefaults,
  allowAnyName: true,
  requireCn: false,
  keyType: "any",
  clientFlag: false,
  // `max_ttl` bounds the expiry that a client requests.
  notAfterBound: "permit",
}

// Parsing of CSRs and certificates of clients, with the checks that need no other data.

export type ReadCsr = ReturnType<typeof readCsr>

const maxCsrOctets = 64 * 1_024

/** Parses a CSR and verifies its signature and key. Throws `badCSR`. */
export function readCsr(der: Uint8Array) {
  const refuse = (detail: string) => new AcmeProblem("badCSR", detail)
  if (der.length > maxCsrOctets) throw refuse("The CSR is too long.")
  try {
    const parsed = parseCertificationRequest(der)
    const key = assertStrongKey(readPublicKey(parsed.subjectPublicKeyInfo))
    const { certificationRequestInfo: data, signatureAlgorithm: algorithm, signature } = parsed
    if (!isSignedBy(key, { data, algorithm, signature }))
      throw refuse("The signature of the CSR does not match its key.")
    return { parsed, key }
  } catch (error) {
    if (error instanceof UnacceptableInput) throw refuse(`The CSR is rejected: ${error.message}.`)
    throw error
  }
}

/** Problem of a key that must not be certified. */
export const badCsrKey = (problem: string) => new AcmeProblem("badCSR", `The CSR is rejected: ${problem}.`)

export function readGiven(der: Uint8Array) {
  try {
    const parsed = parseCertificate(der)
    const serialNumber = serialNumberOf(parsed.serialNumber)
    if (serialNumber === undefined) throw malformed("The certificate's serial number is zero or too long.")
    return { parsed, serialNumber }
  } catch (error) {
    if (error instanceof UnacceptableInput) throw malformed(`The certificate cannot be read: ${error.message}.`)
    throw error
  }
}

/** Returns whether a certificate names the key as its issuer's (RFC 9773, section 4.1). */
export function isIssuedByKey(der: Uint8Array, keyIdentifier: Uint8Array): boolean {
  const { authorityKeyIdentifier } = parseExtensionValues(parseCertificate(der).extensions)
  const own = authorityKeyIdentifier?.keyIdentifier
  return own !== undefined && Buffer.compare(own, keyIdentifier) === 0
}

/** Returns the identifiers of a certificate, or undefined if it has none, or has names that no authorization can prove. */
export function identifiersOf({ extensions, subjectName }: Certificate): readonly Identifier[] | undefined {
  const { subjectAltName = [], basicConstraints } = parseExtensionValues(extensions)
  if (basicConstraints?.isCa === true) return undefined
  const commonNames = valuesOf(subjectName, oids.commonName).filter((name) => name !== "")
  try {
    const identifiers = [
      ...subjectAltName.map((name) => {
        if (name.kind === "dns") return readIdentifier("dns", name.value)
        return readIdentifier("ip", name.kind === "ip" ? formatIpAddress(name.octets) : undefined)
      }),
      ...commonNames.map((name) => readIdentifier(parseIpAddress(name) === undefined ? "dns" : "ip", name)),
    ]
    return identifiers.length === 0 ? undefined : distinctIdentifiers(identifiers)
  } catch (error) {
    if (error instanceof AcmeProblem) return undefined
    throw error
  }
}
