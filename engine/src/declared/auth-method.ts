import {
  type AuthMethodConfig,
  type AuthMethodType,
  authMethodTypes,
  initialAuthMethodConfig,
} from "../access/logins/auth-method.ts"
import type { AuthMethodView } from "../access/logins/auth-method-api.ts"
import type { TokenType } from "../access/logins/token-terms.ts"
import { initialUserLockout, type UserLockout, userLockoutProblems } from "../access/logins/user-lockout.ts"
import { conflict, type Fault, isEngineError, rejectFaults, unprocessable } from "../core/errors.ts"
import { formatDuration, parseDuration } from "../core/time.ts"
import type { Engine } from "../engine.ts"
import { mountFaults, mountPathOf } from "../pki/mounts/mount.ts"
import type { Changes, Created, DeclaredResource, Definition, Origin, Removal } from "./declared-resource.ts"
import { diffMembers, type InForce, member, output, required, type SpecOf, validator, withDefaults } from "./members.ts"
import { declaredDuration, declaredFaults, lifetimeOf, sameMountPath } from "./pki-values.ts"
import { sameText } from "./same-value.ts"
import { authMethodMemberFaults } from "./token-terms.ts"
import { duration, flag, integer, listOf, oneOf, orNull, text } from "./types.ts"
import type { Values } from "./values.ts"

const names = listOf(text.schema, { maximum: 100 })

/** Members that only methods of type `userpass` have. */
const lockoutMembers = {
  lockoutThreshold: member(integer, "Failed logins after which a user is locked; `userpass` only.", {
    default: initialUserLockout.threshold,
    isOutputIfDeclared: true,
  }),
  lockoutDuration: member(duration, "Time for which a user is locked; `userpass` only.", {
    default: formatDuration(initialUserLockout.durationMs),
    isOutputIfDeclared: true,
  }),
  lockoutCounterReset: member(
    duration,
    "Time since the last failed login after which the count starts again; `userpass` only.",
    { default: formatDuration(initialUserLockout.counterResetMs), isOutputIfDeclared: true },
  ),
  lockoutDisable: member(flag, "Lock no user; `userpass` only.", {
    default: initialUserLockout.disabled,
    isOutputIfDeclared: true,
  }),
}

const members = {
  path: required(text, "Path of the auth method, below `auth/`; auth methods do not nest.", {
    same: sameMountPath,
    providedBy: "name",
    forcesReplacement: true,
  }),
  type: required(oneOf(...authMethodTypes), "Way in which clients prove their identity.", { forcesReplacement: true }),
  description: member(text, "Description for people.", { default: "", same: sameText }),
  defaultLeaseTtl: member(orNull(duration), "Lifetime of tokens, unless their user or role sets its own.", {
    default: null,
    defaultText: "768 hours (also if null)",
    example: "1h",
  }),
  maxLeaseTtl: member(orNull(duration), "Maximum lifetime of tokens that have no period.", {
    default: null,
    defaultText: "768 hours (also if null)",
    example: "24h",
  }),
  tokenType: member(
    oneOf("default", "default-service", "service"),
    "Type of tokens, which are service tokens in any case.",
    { default: initialAuthMethodConfig.tokenType },
  ),
  ...lockoutMembers,
  forceNoCache: member(flag, "Returned as it was set; has no effect.", { default: false }),
  listingVisibility: member(oneOf("hidden", "unauth"), "List the method for requests without a token (`unauth`).", {
    default: "hidden",
  }),
  allowedResponseHeaders: member(names, "Response headers that the method may set.", { default: [] }),
  passthroughRequestHeaders: member(names, "Request headers passed to the method.", { default: [] }),
  auditNonHmacRequestKeys: member(names, "Request members that the audit log records in plain text.", { default: [] }),
  auditNonHmacResponseKeys: member(names, "Response members that the audit log records in plain text.", {
    default: [],
  }),
}
type LockoutMember = keyof typeof lockoutMembers

/** Declared members of an auth method. Durations are strings; null means the default of the system. */
export type AuthMethodSpec = SpecOf<typeof members>

/** Every setting in force, and members that the server assigns. The id is the path. */
export interface ObservedAuthMethod
  extends Omit<InForce<typeof members>, LockoutMember | "tokenType">, Partial<InForce<typeof lockoutMembers>> {
  readonly tokenType: TokenType
  /** Identifies the method in policies, mounts and logs, independently of its path. */
  readonly accessor: string
  readonly uuid: string
}

export const authMethodResource: DeclaredResource<AuthMethodSpec, ObservedAuthMethod> & Definition = {
  name: "authMethod",
  description:
    'An auth method, by which clients log in to the certificate API. `deletionPolicy: "safe"` keeps it while it has users or roles. Its id is its path.',
  argsDescription:
    "Settings of an auth method. A setting that the program never declared is not managed. A setting removed from the program returns to its default. Durations are strings: `10m`, `24h`.",
  outputsDescription: "Outputs of an auth method: every setting in force.",
  members,
  outputs: {
    accessor: output(text.schema, "Accessor, by which mounts and policies name the method independently of its path."),
    uuid: output(text.schema, "UUID of the auth method."),
  },
  adoption: "an existing auth method of this type at this path",
  memberNames: Object.keys(members),
  validate: (spec, open) => validate(spec, open),
  diff: changes,
  observe: async (engine, id) => found(engine, id),
  create,
  update,
  delete: remove,
}

const memberOf = (inside: string): string | undefined => {
  const member = inside.replace(/Ms$/, "")
  return member in members ? member : undefined
}

const validate = validator<AuthMethodSpec>(members, (known, unchecked) => {
  const { path, type, description = "" } = known
  const config: AuthMethodConfig = { ...initialAuthMethodConfig, ...configOf(known) }
  // While `maxLeaseTtl` is unknown, no default can exceed it.
  const bounded = unchecked.has("maxLeaseTtl") ? { ...config, maxLeaseTtlMs: config.defaultLeaseTtlMs } : config
  return [
    ...(path === undefined ? [] : authMethodMemberFaults("path", path)),
    ...declaredFaults(mountFaults({ description, config: bounded }), memberOf),
    ...(type === undefined || type === "userpass" ? [] : unsupportedLockoutFaults(known)),
    ...declaredFaults(
      userLockoutProblems(lockoutOf(known)).map(([field, bounds]) => ({
        field: [lockoutNames[field]],
        detail: `${lockoutNames[field]} must be ${bounds}`,
      })),
      memberOf,
    ),
  ]
})

const unsupportedLockoutFaults = (known: Partial<AuthMethodSpec>): readonly Fault[] =>
  Object.values(lockoutNames)
    .filter((name) => known[name] !== undefined)
    .map((name) => ({ field: [name], detail: `${name} requires the type userpass; remove it` }))

const lockoutNames = {
  threshold: "lockoutThreshold",
  durationMs: "lockoutDuration",
  counterResetMs: "lockoutCounterReset",
  disabled: "lockoutDisable",
} as const satisfies Readonly<Record<keyof UserLockout, LockoutMember>>

function lockoutOf({
  lockoutThreshold,
  lockoutDuration,
  lockoutCounterReset,
  lockoutDisable,
}: Partial<AuthMethodSpec>): Partial<UserLockout> {
  return {
    ...(lockoutThreshold !== undefined && { threshold: lockoutThreshold }),
    ...(lockoutDuration !== undefined && { durationMs: parseDuration(lockoutDuration) ?? 0 }),
    ...(lockoutCounterReset !== undefined && { counterResetMs: parseDuration(lockoutCounterReset) ?? 0 }),
    ...(lockoutDisable !== undefined && { disabled: lockoutDisable }),
  }
}

const lockoutIn = ({ threshold, durationMs, counterResetMs, disabled }: UserLockout) => ({
  lockoutThreshold: threshold,
  lockoutDuration: formatDuration(durationMs),
  lockoutCounterReset: formatDuration(counterResetMs),
  lockoutDisable: disabled,
})

const elsewhere: ReadonlySet<string> = new Set(["path", "type", "description", ...Object.keys(lockoutMembers)])

function configOf(spec: Partial<AuthMethodSpec>): Partial<AuthMethodConfig> {
  const { defaultLeaseTtl, maxLeaseTtl, ...others } = spec
  const given = Object.entries(others).filter(([name, value]) => value !== undefined && !elsewhere.has(name))
  const userLockout = lockoutOf(spec)
  return {
    ...Object.fromEntries(given),
    ...(defaultLeaseTtl !== undefined && { defaultLeaseTtlMs: lifetimeOf(defaultLeaseTtl) }),
    ...(maxLeaseTtl !== undefined && { maxLeaseTtlMs: lifetimeOf(maxLeaseTtl) }),
    ...(Object.keys(userLockout).length > 0 && { userLockout }),
  }
}

function changes(spec: AuthMethodSpec, observed: ObservedAuthMethod, dropped: readonly string[] = []): Changes {
  const { changed, mustReplace } = diffMembers(members, spec, observed, dropped)
  if (mustReplace.length === 0) return { changed, mustReplace }
  // A path has one method, and methods do not nest.
  const [path, before] = [`${mountPathOf(spec.path)}/`, `${mountPathOf(observed.path)}/`]
  return { changed, mustReplace, removeFirst: path.startsWith(before) || before.startsWith(path) }
}

async function create(engine: Engine, spec: AuthMethodSpec, { adopt }: Origin): Promise<Created<ObservedAuthMethod>> {
  rejectFaults(validate({ ...spec }))
  const { path, type, description } = spec
  const id = mountPathOf(path)
  try {
    const config = configOf(spec)
    const view = await engine.authMethods.enable({
      path,
      type,
      config,
      ...(description !== undefined && { description }),
    })
    return { id, observed: observedAuthMethod(view), adopted: false }
  } catch (error) {
    if (!isEngineError(error, "conflict") && !isEngineError(error, "unavailable")) throw error
    const observed = await found(engine, id)
    // The conflicting method is above or below this path, and cannot be adopted as this one.
    if (observed === undefined)
      throw isEngineError(error, "conflict") ? unprocessable(`${error.message}, and auth methods do not nest`) : error
    const { changed } = changes(spec, observed)
    // An empty method as declared may come from a lost answer. It is taken over without `adopt`.
    if (changed.length === 0 && (await contentsOf(engine, id, observed.type)) === undefined)
      return { id, observed, adopted: false }
    if (observed.type !== type)
      throw unprocessable(`the auth method at ${id} has the type ${observed.type}, and not ${type}`)
    if (!adopt) throw error
    return { id, observed: await update(engine, id, spec, observed), adopted: true }
  }
}

async function update(
  engine: Engine,
  id: string,
  spec: AuthMethodSpec,
  observed: ObservedAuthMethod,
  dropped: readonly string[] = [],
): Promise<ObservedAuthMethod> {
  rejectFaults(validate({ ...spec }))
  const wanted = withDefaults(members, spec, dropped)
  const { changed } = changes(spec, observed, dropped)
  if (changed.length === 0) return observed
  const sent = Object.fromEntries(changed.map((name) => [name, (wanted as Values)[name]])) as Partial<AuthMethodSpec>
  const { description } = sent
  const config = configOf(sent)
  return observedAuthMethod(
    await engine.authMethods.tune(id, { config, ...(description !== undefined && { description }) }),
  )
}

async function remove(engine: Engine, id: string, _spec: Partial<AuthMethodSpec>, removal: Removal): Promise<void> {
  try {
    const { type } = await engine.authMethods.get(id)
    const contents = removal === "safe" ? await contentsOf(engine, id, type) : undefined
    if (contents !== undefined)
      throw conflict(`auth method ${id} has ${contents}, which would be deleted with all tokens of their logins`)
    await engine.authMethods.disable(id)
  } catch (error) {
    if (!isEngineError(error, "not-found")) throw error
  }
}

/** Returns the kind of objects that the method has; undefined if it has none. */
async function contentsOf(
  engine: Engine,
  path: string,
  type: AuthMethodView["type"],
): Promise<"users" | "roles" | undefined> {
  const one = { limit: 1 }
  const listed: Readonly<Record<AuthMethodType, () => Promise<readonly string[]>>> = {
    approle: () => engine.appRoles(path).roles.list(one),
    cert: () => engine.certificateLogins(path).listRoles(one),
    kubernetes: () => engine.kubernetesLogins(path).listRoles(one),
    userpass: () => engine.userpass(path).users.list(one),
  }
  if (type === "token" || (await listed[type]()).length === 0) return undefined
  return type === "userpass" ? "users" : "roles"
}

async function found(engine: Engine, path: string): Promise<ObservedAuthMethod | undefined> {
  try {
    const view = await engine.authMethods.get(path)
    // The built-in method cannot be declared.
    return view.type === "token" ? undefined : observedAuthMethod(view)
  } catch (error) {
    if (isEngineError(error, "not-found")) return undefined
    throw error
  }
}

/** Returns an auth method under declared names. */
export const observedAuthMethod = ({
  path,
  type,
  description,
  config,
  accessor,
  uuid,
}: AuthMethodView): ObservedAuthMethod => ({
  path,
  type: type as AuthMethodType,
  description,
  defaultLeaseTtl: declaredDuration(config.defaultLeaseTtlMs),
  maxLeaseTtl: declaredDuration(config.maxLeaseTtlMs),
  tokenType: config.tokenType,
  ...(type === "userpass" && lockoutIn({ ...initialUserLockout, ...config.userLockout })),
  forceNoCache: config.forceNoCache,
  listingVisibility: config.listingVisibility || "hidden",
  allowedResponseHeaders: [...config.allowedResponseHeaders],
  passthroughRequestHeaders: [...config.passthroughRequestHeaders],
  auditNonHmacRequestKeys: [...config.auditNonHmacRequestKeys],
  auditNonHmacResponseKeys: [...config.auditNonHmacResponseKeys],
  accessor,
  uuid,
})
