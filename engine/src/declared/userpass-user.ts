import { initialTokenTerms, tokenTermsFaults } from "../access/logins/token-terms.ts"
import {
  newPasswordFaults,
  userNameFaults,
  userNameOf,
  type UserpassPassword,
  type UserpassUserInput,
} from "../access/userpass/userpass-user.ts"
import type { UserpassUsers } from "../access/userpass/userpass-api.ts"
import { conflict, type Fault, invalid, isEngineError, rejectFaults } from "../core/errors.ts"
import type { Engine } from "../engine.ts"
import { mountPathOf } from "../pki/mounts/mount.ts"
import type { Changes, Created, DeclaredResource, Definition, Origin } from "./declared-resource.ts"
import { diffMembers, member, type Members, output, required, validator, withDefaults } from "./members.ts"
import {
  authMethodMember,
  authMethodMemberFaults,
  type DeclaredTokenTerms,
  sameFoldedName,
  tokenTermFaults,
  tokenTermMembers,
  tokenTermNameOf,
  tokenTermsFromEngine,
  tokenTermsToEngine,
} from "./token-terms.ts"
import { orNull, text } from "./types.ts"

const secretOutput = (name: string) =>
  output(
    orNull(text).schema,
    `The declared ${name}, a secret. Null if none is declared, and with \`get\`: the server never returns it.`,
    { secret: true },
  )

const members: Members = {
  authMethod: authMethodMember,
  name: required(text, "Name of the user, in lower case.", {
    same: sameFoldedName,
    providedBy: "name",
    forcesReplacement: true,
  }),
  // `Object.is`, because null is the value that callers cannot read.
  password: member(
    text,
    "Password, at most 1,024 bytes; a secret. A new user needs it or `passwordHash`. A user keeps it if it is removed from the program.",
    { default: null, same: Object.is, secret: true },
  ),
  passwordHash: member(
    text,
    "Hash of bcrypt with a cost of at most 13, instead of `password`; a secret. Its passwords have at most 72 bytes.",
    { default: null, same: Object.is, secret: true },
  ),
  ...tokenTermMembers,
}

interface UserPlace {
  readonly authMethod: string
  readonly name: string
}

/** Declared members of a user. Durations are strings such as `1h`. */
export type UserpassUserSpec = UserPlace & { readonly password?: string; readonly passwordHash?: string } & {
  readonly [Name in keyof DeclaredTokenTerms]?: DeclaredTokenTerms[Name] | undefined
}

export interface ObservedUserpassUser extends UserPlace, DeclaredTokenTerms {
  /** As last written by the caller; null if unknown. */
  readonly password: string | null
  readonly passwordHash: string | null
}

/** The id is `PATH/users/NAME`. */
export const userpassUserResource: DeclaredResource<UserpassUserSpec, ObservedUserpassUser> & Definition = {
  name: "userpassUser",
  description: "A user of an auth method of type `userpass`. Its id is `PATH/users/NAME`, with the path of the method.",
  argsDescription:
    "A user with the terms of the user's tokens. The server never returns the password, so a change by others is not detected. A term that the program never declared is not managed. A term removed from the program returns to its default. Durations are strings: `10m`, `24h`.",
  outputsDescription: "Outputs of a user: every term in force.",
  members,
  outputs: { password: secretOutput("password"), passwordHash: secretOutput("hash") },
  adoption: "an existing user of this name, and set the declared password",
  memberNames: Object.keys(members),
  validate: (spec, open) => validate(spec, open),
  diff,
  observe: async (engine, id, _spec, { before }) => found(engine, placeOf(id), before),
  create,
  update,
  delete: remove,
}

const memberOf = (inside: string): string | undefined =>
  tokenTermNameOf(inside) ?? (inside in members ? inside : undefined)

const validate = validator<UserpassUserSpec>(members, ({ authMethod, name, ...known }) => [
  ...(authMethod === undefined ? [] : authMethodMemberFaults("authMethod", authMethod)),
  ...tokenTermFaults(
    [
      ...(name === undefined ? [] : userNameFaults(name)),
      ...newPasswordFaults(passwordOf(known), false),
      ...tokenTermsFaults({ ...initialTokenTerms, ...tokenTermsToEngine(known) }),
    ],
    memberOf,
  ),
])

const passwordOf = ({ password, passwordHash }: UserpassPassword): UserpassPassword => ({
  ...(typeof password === "string" && { password }),
  ...(typeof passwordHash === "string" && { passwordHash }),
})

function diff(spec: UserpassUserSpec, observed: ObservedUserpassUser, dropped: readonly string[] = []): Changes {
  return diffMembers(members, spec, observed, dropped)
}

async function create(
  engine: Engine,
  spec: UserpassUserSpec,
  { adopt }: Origin,
): Promise<Created<ObservedUserpassUser>> {
  rejectFaults(validate({ ...spec }))
  const place = placeIn(spec)
  const id = idOf(place)
  const password = passwordOf(spec)
  const present = await found(engine, place, {})
  // The password of an existing user cannot be compared, so that even one as declared is not taken over.
  if (present !== undefined) {
    if (!adopt) throw conflict(`user "${place.name}" of ${place.authMethod} already exists`)
    return { id, observed: await update(engine, id, spec, present), adopted: true }
  }
  if (Object.keys(password).length === 0) throw invalid([passwordFault])
  try {
    await usersOf(engine, place).save(place.name, { ...tokenTermsToEngine(spec), ...password })
  } catch (error) {
    // The answer may have been lost. The user did not exist before this request.
    const created = isEngineError(error, "unavailable") && (await found(engine, place, spec).catch(() => undefined))
    if (!created || diff(spec, created).changed.length > 0) throw error
    return { id, observed: created, adopted: false }
  }
  return { id, observed: await read(engine, place, spec), adopted: false }
}

const passwordFault: Fault = { field: ["password"], detail: "password or passwordHash is required for a new user" }

async function update(
  engine: Engine,
  id: string,
  spec: UserpassUserSpec,
  observed: ObservedUserpassUser,
  dropped: readonly string[] = [],
): Promise<ObservedUserpassUser> {
  rejectFaults(validate({ ...spec }))
  const wanted = withDefaults(members, spec, dropped)
  const { changed } = diff(spec, observed, dropped)
  if (changed.length === 0) return observed
  const sent = Object.fromEntries(changed.map((name) => [name, wanted[name as keyof UserpassUserSpec]]))
  const input: UserpassUserInput = { ...tokenTermsToEngine(sent), ...passwordOf(sent) }
  const place = placeOf(id)
  // A password that is no longer declared is only forgotten.
  if (Object.keys(input).length > 0) await usersOf(engine, place).save(place.name, input)
  return read(engine, place, spec)
}

async function remove(engine: Engine, id: string): Promise<void> {
  const place = placeOf(id)
  try {
    await usersOf(engine, place).delete(place.name)
  } catch (error) {
    // The auth method and its users no longer exist.
    if (!isEngineError(error, "not-found")) throw error
  }
}

const usersOf = (engine: Engine, { authMethod }: UserPlace): UserpassUsers => engine.userpass(authMethod).users

const placeIn = ({ authMethod, name }: UserPlace): UserPlace => ({
  authMethod: mountPathOf(authMethod),
  name: userNameOf(name),
})

const idOf = ({ authMethod, name }: UserPlace): string => `${authMethod}/users/${name}`

function placeOf(id: string): UserPlace {
  const [, authMethod, name] = /^(.+)\/users\/([^/]+)$/.exec(id) ?? []
  if (authMethod === undefined || name === undefined)
    throw invalid([{ field: ["id"], detail: `id of a user must be PATH/users/NAME, not "${id}"` }])
  return placeIn({ authMethod, name })
}

interface WrittenPassword {
  readonly password?: string | null
  readonly passwordHash?: string | null
}

async function read(
  engine: Engine,
  place: UserPlace,
  { password = null, passwordHash = null }: WrittenPassword,
): Promise<ObservedUserpassUser> {
  const user = await usersOf(engine, place).get(place.name)
  return { ...place, ...tokenTermsFromEngine(user), password, passwordHash }
}

async function found(
  engine: Engine,
  place: UserPlace,
  written: WrittenPassword,
): Promise<ObservedUserpassUser | undefined> {
  try {
    return await read(engine, place, written)
  } catch (error) {
    if (isEngineError(error, "not-found")) return undefined
    throw error
  }
}
