import { type AccountBindings, type AccountBindingView, bindingTtlMaximumMs } from "../acme/account-bindings.ts"
import { type Fault, invalid, isEngineError } from "../core/errors.ts"
import { dayMs, formatInstant, parseDuration } from "../core/time.ts"
import type { Engine } from "../engine.ts"
import { mountPathOf } from "../pki/mount.ts"
import type { Changes, Created, Known, DeclaredResource, Values } from "./declared-resource.ts"
import { durationFaults, mountMemberFaults, sameMountPath } from "./pki-words.ts"
import { differing, sameDuration } from "./same-value.ts"
import * as shapes from "./spec-shape.ts"

const shape = shapes.members({
  mount: shapes.text(),
  issuerRef: shapes.text().filled().optional(),
  role: shapes.text().filled().optional(),
  externalPolicy: shapes.text().optional(),
  ttl: shapes.text().optional(),
})

/**
 * External account binding: lets a client register one account in one directory, by default the mount's own (RFC 8555, section
 * 7.3.4). An empty `externalPolicy` leaves the choice to the service. Without `ttl`, or with `0s`, it does not expire.
 */
export type PkiAcmeEabSpec = Readonly<shapes.Of<typeof shape>>

export interface ObservedPkiAcmeEab {
  readonly mount: string
  readonly issuerRef: string | null
  readonly role: string | null
  readonly externalPolicy: string | null
  /** As it was asked for. */
  readonly ttl: string | null
  readonly keyId: string
  /** For HMAC, base64url; told once. */
  readonly key: string
  /** Below the mount: `roles/web/acme/directory`. */
  readonly acmeDirectory: string
  /** ISO 8601. */
  readonly createdAt: string
  /** Not any more once a client has used it, its time is over, or it has been taken back. */
  readonly isWaiting: boolean
}

/** One that has been used has done what it was for, and stays. Its id is `MOUNT/eab/KEY_ID`. */
export const pkiAcmeEabResource: DeclaredResource<PkiAcmeEabSpec, ObservedPkiAcmeEab> = {
  memberNames: Object.keys(shape.members),
  validate: pkiAcmeEabFaults,
  diff: changes,
  observe,
  create,
  update: async (_engine, _id, _spec, observed) => observed,
  delete: remove,
}

function pkiAcmeEabFaults(spec: Values, open: ReadonlySet<string> = new Set()): readonly Fault[] {
  const faults = [...shapes.faultsOf(shape, spec, open), ...durationFaults("ttl", spec["ttl"])]
  const unsaid = new Set([...open, ...faults.map(({ field }) => String(field?.[0]))])
  const { mount, role, externalPolicy, ttl } = Object.fromEntries(
    Object.entries(spec).filter(([name]) => !unsaid.has(name)),
  ) as Partial<PkiAcmeEabSpec>
  const ttlMs = parseDuration(ttl ?? "0s") ?? 0
  return [
    ...faults,
    ...(mount === undefined ? [] : mountMemberFaults("mount", mount)),
    ...(role === undefined || externalPolicy === undefined
      ? []
      : [{ field: ["externalPolicy"], detail: "externalPolicy must be left out where a role decides" }]),
    ...(ttlMs >= 0 && ttlMs <= bindingTtlMaximumMs
      ? []
      : [{ field: ["ttl"], detail: `ttl must be from 0s to ${bindingTtlMaximumMs / dayMs}d` }]),
  ]
}

const unsaid = { issuerRef: null, role: null, externalPolicy: null, ttl: null }

/** Another one in everything: nothing about a token can be changed. */
function changes(spec: PkiAcmeEabSpec, observed: ObservedPkiAcmeEab, dropped: readonly string[] = []): Changes {
  const wanted = { ...Object.fromEntries(Object.entries(unsaid).filter(([name]) => dropped.includes(name))), ...spec }
  const changed = differing<PkiAcmeEabSpec>(wanted, observed, { mount: sameMountPath, ttl: sameDuration })
  return { changed, mustReplace: changed }
}

async function create(engine: Engine, spec: PkiAcmeEabSpec): Promise<Created<ObservedPkiAcmeEab>> {
  const faults = pkiAcmeEabFaults(spec)
  if (faults.length > 0) throw invalid(faults)
  const { mount: path, issuerRef, role, externalPolicy, ttl } = spec
  const mount = mountPathOf(path)
  const directory = {
    ...(issuerRef === undefined ? {} : { issuerRef }),
    ...(role === undefined ? {} : { role }),
    ...(externalPolicy === undefined ? {} : { externalPolicy }),
  }
  const options = ttl === undefined ? {} : { ttlMs: parseDuration(ttl) ?? 0 }
  const { id, key, acmeDirectory, createdAt } = await bindingsOf(engine, mount).create(directory, options)
  return {
    id: `${mount}/eab/${id}`,
    observed: {
      ...unsaid,
      ...(ttl === undefined ? {} : { ttl }),
      ...directory,
      mount,
      keyId: id,
      key: Buffer.from(key).toString("base64url"),
      acmeDirectory,
      createdAt: formatInstant(createdAt),
      isWaiting: true,
    },
    adopted: false,
  }
}

async function observe(
  engine: Engine,
  id: string,
  _spec: Partial<PkiAcmeEabSpec>,
  { before }: Known<ObservedPkiAcmeEab>,
): Promise<ObservedPkiAcmeEab | undefined> {
  const { mount, keyId } = placeOf(id)
  try {
    const waiting = (await bindingsOf(engine, mount).list()).find((one) => one.id === keyId)
    if (before.key !== undefined) return { ...(before as ObservedPkiAcmeEab), isWaiting: waiting !== undefined }
    return waiting && readBinding(mount, waiting)
  } catch (error) {
    if (isEngineError(error, "not-found")) return undefined
    throw error
  }
}

/** An unused binding that another program created: the server returns its key once only. */
function readBinding(mount: string, { id, acmeDirectory, createdAt }: AccountBindingView): ObservedPkiAcmeEab {
  const [, issuerRef = null, role = null, externalPolicy = null] = directoryPattern.exec(acmeDirectory) ?? []
  const directory = { issuerRef, role, externalPolicy, acmeDirectory }
  const known = { mount, ...directory, ttl: null, keyId: id, createdAt: formatInstant(createdAt), isWaiting: true }
  return known as Omit<ObservedPkiAcmeEab, "key"> as ObservedPkiAcmeEab
}

const directoryPattern = /^(?:issuer\/([^/]+)\/)?(?:roles\/([^/]+)\/|external-policy\/(?:([^/]+)\/)?)?acme\/directory$/

async function remove(engine: Engine, id: string): Promise<void> {
  const { mount, keyId } = placeOf(id)
  try {
    await bindingsOf(engine, mount).delete(keyId)
  } catch (error) {
    if (!isEngineError(error, "not-found")) throw error
  }
}

const bindingsOf = (engine: Engine, mount: string): AccountBindings => engine.acme(mount).eab

function placeOf(id: string): { readonly mount: string; readonly keyId: string } {
  const [, mount, keyId] = /^(.+)\/eab\/([^/]+)$/.exec(id) ?? []
  if (mount === undefined || keyId === undefined)
    throw invalid([{ field: ["id"], detail: `id of an account binding must be MOUNT/eab/KEY_ID, not "${id}"` }])
  return { mount, keyId }
}
