// Issuers of a mount that belong to one CertificateAuthority. Their keys have names with the uid of the object, so they are found again
// whatever the status says. The newest one has the name of the spec; others have names with the uid and their revision.
import type { Pki } from "@chancery/engine"

type IssuerSummary = Awaited<ReturnType<Pki["issuers"]["list"]>>[number]
type KeySummary = Awaited<ReturnType<Pki["keys"]["list"]>>[number]

export interface OwnIssuer extends Omit<IssuerSummary, "keyId"> {
  readonly keyId: string
  /** Number of the issuer among those of the object, from 1. */
  readonly revision: number
}

export interface OwnIssuers {
  /** Issuers by revision, the newest first. */
  readonly issuers: readonly OwnIssuer[]
  /** Certificates that the previous root signed for a newer one. */
  readonly crossSigned: readonly OwnIssuer[]
  /** Keys with the revision that they were generated for, the newest first. */
  readonly keys: readonly { readonly id: string; readonly revision: number }[]
  /** Issuer of another owner with the name of the spec. */
  readonly stranger: IssuerSummary | undefined
  /** All issuers of the mount. */
  readonly all: readonly IssuerSummary[]
}

/** Returns the name of the key that is generated for a revision, and of its issuer unless it is the newest. */
export const revisionName = (uid: string, revision: number): string => `ca.${uid}.${revision}`
export const crossName = (uid: string, revision: number): string => `${revisionName(uid, revision)}.cross`

export interface Identity {
  readonly uid: string
  /** Name of the newest issuer. */
  readonly name: string
  readonly type: "Root" | "Intermediate"
  /** Newest issuer according to the status. */
  readonly known: { readonly issuerID?: string | undefined; readonly revision?: number | undefined }
  /** A creation or rotation has begun, and its end is not recorded. */
  readonly isPending: boolean
}

export interface Contents {
  readonly issuers: readonly IssuerSummary[]
  readonly keys: readonly KeySummary[]
}

/** Finds the issuers of an object among all issuers and keys of its mount. */
export function ownIssuers({ issuers: all, keys: allKeys }: Contents, identity: Identity): OwnIssuers {
  const { uid, name, type, known, isPending } = identity
  const keys = allKeys
    .flatMap(({ id, name: keyName }) => {
      const revision = revisionIn(uid, keyName)
      return revision === undefined ? [] : [{ id, revision }]
    })
    .toSorted((one, other) => other.revision - one.revision)
  const issuers: OwnIssuer[] = []
  const crossSigned: OwnIssuer[] = []
  const unnamed: { readonly own: IssuerSummary & { readonly keyId: string }; readonly keyRevision: number }[] = []
  for (const issuer of all) {
    const key = keys.find(({ id }) => id === issuer.keyId)
    if (key === undefined) continue
    const own = { ...issuer, keyId: key.id }
    const revision = revisionIn(uid, issuer.name)
    if (issuer.name?.endsWith(".cross") === true) crossSigned.push({ ...own, revision: key.revision })
    else if (revision !== undefined) issuers.push({ ...own, revision })
    else if (issuer.name === name) issuers.push({ ...own, revision: namedRevision(issuer, known) })
    else if (issuer.name === null) unnamed.push({ own, keyRevision: key.revision })
  }
  const newest = Math.max(known.revision ?? 0, ...issuers.map(({ revision }) => revision))
  for (const { own, keyRevision } of unnamed) {
    // Another client may import certificates for the same key. Those stay as they are.
    if (!isPending && keyRevision <= newest) continue
    // The certificate was imported, and the answer was lost before the issuer was named. A root is generated with its name.
    if (type === "Root") crossSigned.push({ ...own, revision: keyRevision })
    else issuers.push({ ...own, revision: newest + 1 })
  }
  return {
    issuers: issuers.toSorted((one, other) => other.revision - one.revision),
    crossSigned,
    keys,
    stranger: all.find((one) => one.name === name && !issuers.some(({ id }) => id === one.id)),
    all,
  }
}

/** The name passes to the next revision before the status is written. */
const namedRevision = ({ id }: IssuerSummary, { issuerID, revision = 0 }: Identity["known"]): number =>
  id === issuerID ? revision : revision + 1

function revisionIn(uid: string, name: string | null): number | undefined {
  const prefix = `ca.${uid}.`
  if (name?.startsWith(prefix) !== true) return undefined
  const [, digits] = /^([1-9][0-9]{0,8})(?:\.cross)?$/.exec(name.slice(prefix.length)) ?? []
  return digits === undefined ? undefined : Number(digits)
}
