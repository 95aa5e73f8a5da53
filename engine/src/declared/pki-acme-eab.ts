import { type AccountBindings, type AccountBindingView, maxBindingTtlMs } from "../acme/accounts/account-bindings.ts"
import { invalid, isEngineError } from "../core/errors.ts"
import { dayMs, formatInstant, parseDuration } from "../core/time.ts"
import type { Engine } from "../engine.ts"
import { mountPathOf } from "../pki/mounts/mount.ts"
import type { Created, Known, DeclaredResource, Definition } from "./declared-resource.ts"
import { mountMember, mountMemberFaults } from "./pki-values.ts"
import { diffMembers, member, output, type SpecOf, validator } from "./members.ts"
import { duration, filledText, flag, orNull, text } from "./types.ts"

const members = {
  mount: mountMember,
  issuerRef: member(filledText, "Issuer of the directory, by id or name.", { default: null, forcesReplacement: true }),
  role: member(filledText, "Role of the directory.", { default: null, forcesReplacement: true }),
  externalPolicy: member(
    text,
    "External policy of the directory, instead of a role. Empty: the policy that the external service selects.",
    { default: null, forcesReplacement: true },
  ),
  ttl: member(duration, "Time in which the binding must be used, such as `24h`.", {
    default: null,
    defaultText: "no limit (also if `0s`)",
    forcesReplacement: true,
  }),
}

/**
 * External account binding: lets one client register one account in one directory. Default: the directory of the mount. With an empty
 * `externalPolicy`, the external service selects the policy. Without `ttl`, or with `0s`, the binding does not expire.
 */
export type PkiAcmeEabSpec = SpecOf<typeof members>

export interface ObservedPkiAcmeEab {
  readonly mount: string
  readonly issuerRef: string | null
  readonly role: string | null
  readonly externalPolicy: string | null
  /** Duration as declared. */
  readonly ttl: string | null
  readonly keyId: string
  /** HMAC key, base64url. The server returns it once. */
  readonly key: string
  /** Path below the mount: `roles/web/acme/directory`. */
  readonly acmeDirectory: string
  /** ISO 8601. */
  readonly createdAt: string
  /** False once a client has used the binding, or it has expired or been deleted. */
  readonly isWaiting: boolean
}

/** A used binding stays until it is deleted: it has served its purpose. The id is `MOUNT/eab/KEY_ID`. */
export const pkiAcmeEabResource: DeclaredResource<PkiAcmeEabSpec, ObservedPkiAcmeEab> & Definition = {
  name: "acmeEab",
  description:
    "An external account binding: lets one ACME client register one account in one directory. Its id is `MOUNT/eab/KEY_ID`. The key is a secret output; it is stored in the state of the stack only.",
  argsDescription: "Changing any member forces replacement. Default directory: that of the mount.",
  outputsDescription: "Outputs of an external account binding.",
  members,
  outputs: {
    issuerRef: output(orNull(text).schema, "Issuer of the directory. Null if none was declared."),
    role: output(orNull(text).schema, "Role of the directory. Null if none was declared."),
    externalPolicy: output(orNull(text).schema, "External policy of the directory. Null if none was declared."),
    ttl: output(orNull(text).schema, "Time in which the binding must be used, as declared. Null: no limit."),
    keyId: output(text.schema, "Key identifier for the ACME client."),
    key: output(
      text.schema,
      "HMAC key for the ACME client (base64url), a secret. The server returns it once, so `get` has none.",
      { secret: true },
    ),
    acmeDirectory: output(text.schema, "Path of the directory below the mount, such as `roles/web/acme/directory`."),
    createdAt: output(text.schema, "Time of creation (ISO 8601)."),
    isWaiting: output(flag.schema, "The binding is unused, not expired and not deleted."),
  },
  memberNames: Object.keys(members),
  validate: (spec, open) => validate(spec, open),
  diff: (spec, observed, dropped) => diffMembers(members, spec, observed, dropped),
  observe,
  create,
  update: async (_engine, _id, _spec, observed) => observed,
  delete: remove,
}

const validate = validator<PkiAcmeEabSpec>(members, ({ mount, role, externalPolicy, ttl }) => {
  const ttlMs = parseDuration(ttl ?? "0s") ?? 0
  return [
    ...(mount === undefined ? [] : mountMemberFaults("mount", mount)),
    ...(role === undefined || externalPolicy === undefined
      ? []
      : [{ field: ["externalPolicy"], detail: "externalPolicy excludes role; remove one of them" }]),
    ...(ttlMs >= 0 && ttlMs <= maxBindingTtlMs
      ? []
      : [{ field: ["ttl"], detail: `ttl must be from 0s to ${maxBindingTtlMs / dayMs}d` }]),
  ]
})

const unchecked = { issuerRef: null, role: null, externalPolicy: null, ttl: null }

async function create(engine: Engine, spec: PkiAcmeEabSpec): Promise<Created<ObservedPkiAcmeEab>> {
  const faults = validate({ ...spec })
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
      ...unchecked,
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

/** Returns an unused binding that another program created, without its key: the server returns keys only once. */
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
    throw invalid([
      { field: ["id"], detail: `id of an external account binding must be MOUNT/eab/KEY_ID, not "${id}"` },
    ])
  return { mount, keyId }
}
