// Lifecycle of a declared resource: check, diff, create, read, update and delete, with plain values and an engine. It does not depend on
// Pulumi. An adapter converts values, names the unknown ones, and reports errors.
//
// A state contains declared and observed members, and these facts. `__managed`: members that the program declares; others may change
// freely. `__marker`: the declaration's id. `adopted`: the resource was adopted. `__defaulted`: the bindings are only those of the
// configuration, and the resource may have others.
import type { Engine, Runtime } from "@chancery/engine"
import {
  type Declarant,
  type Known,
  type DeclaredResource,
  type Definition,
  PartlyCreated,
  type Values,
} from "@chancery/engine/declared/shared"
import { durationMs, isTimeout } from "./deadline.ts"
import { withPropertyNames } from "../dynamic/explain.ts"
import { isVisible, seesAll, type Visibility, unseen } from "./visibility.ts"

export type DeletionPolicy = "safe" | "force" | "retain"

/** Settings for all resources, from the configuration. */
export interface Defaults {
  readonly organization?: string
  /** Default: `pki`. */
  readonly pkiMount?: string
  readonly deletionPolicy: DeletionPolicy
  readonly tagBindings: Readonly<Record<string, string>>
  /** Edition of the server, if the configuration names it. */
  readonly edition?: Edition
}

export type Edition = "hosted" | "selfHosted"

type Clock = Runtime["clock"]

/** Members whose value is still unknown. */
export type Open = ReadonlySet<string>

export interface Failure {
  /** Empty for a secret member, which the reason names. */
  readonly property: string
  readonly reason: string
}

export interface Difference {
  readonly changed: readonly string[]
  readonly replaces: readonly string[]
  readonly deleteBeforeReplace: boolean
  /** A change that no input shows, such as a renewal whose time has passed. */
  readonly isUnasked: boolean
}

export interface Kept {
  readonly id: string
  readonly state: Values
}

/** The resource was partly created. The next update completes it. */
export class Unfinished extends Error {
  readonly kept: Kept

  constructor(kept: Kept, cause: unknown) {
    super(cause instanceof Error ? cause.message : String(cause), { cause })
    this.name = "Unfinished"
    this.kept = kept
  }
}

export interface Lifecycle {
  /** Members of the resource itself, without those of every resource. */
  readonly members: readonly string[]
  /** Validates the inputs and adds defaults of the configuration. */
  check(
    news: Values,
    open: Open,
    defaults: Defaults,
  ): { readonly inputs: Values; readonly failures: readonly Failure[] }
  diff(olds: Values, news: Values, open: Open): Difference
  /** Creates the resource. `recorded` has ids that are in states. `owner`, here and below, is the owner of written tags. */
  create(engine: Engine, news: Values, recorded?: ReadonlySet<string>, owner?: string): Promise<Kept>
  /** Returns undefined if the resource is gone. */
  read(
    engine: Engine,
    id: string,
    olds: Values,
    defaults?: Pick<Defaults, "organization">,
    owner?: string,
  ): Promise<{ readonly state: Values; readonly inputs: Values } | undefined>
  update(engine: Engine, id: string, olds: Values, news: Values, owner?: string): Promise<Values>
  /**
   * Returns an existing resource as if it had been adopted. Declared are `known`, the members in `always`, and others that differ from a
   * new resource. Returns undefined if it is gone.
   */
  takenOver(
    engine: Engine,
    id: string,
    known: Values,
    always: readonly string[],
  ): Promise<{ readonly state: Values; readonly inputs: Values } | undefined>
  delete(
    engine: Engine,
    id: string,
    olds: Values,
    defaults: Pick<Defaults, "deletionPolicy" | "organization">,
    owner?: string,
  ): Promise<void>
}

/** Parts of a lifecycle that the definition of a resource does not have. */
interface Extras<Observed extends object> {
  /** Members whose change replaces the resource. Default: those that force replacement. */
  readonly identity?: readonly string[]
  /** Returns members for the program where they differ from the observed ones. */
  readonly asDeclared?: (found: Values, observed: Observed) => Values
  /**
   * Resources that the token must see completely before a missing one counts as gone. Undefined if the API distinguishes missing from
   * forbidden.
   */
  readonly visibility?: Visibility
  /** The hosted edition does not have the resource. */
  readonly selfHostedOnly?: boolean
  /** Member that takes the configured default bindings. */
  readonly bindingsMember?: string
}

interface Declared {
  readonly identity: readonly string[]
  readonly adoptable: boolean
  /** The configuration has a default for the member `organization`. */
  readonly inOrganization: boolean
  /** The configuration has a default for the member `mount`. */
  readonly inMount: boolean
  readonly hostedOnly: readonly string[]
  readonly endsByItself: boolean
  /** Secret members that exist only in inputs. Other observed members show whether they changed. */
  readonly unkept: readonly string[]
}

function declaredBy({ members, adoption, endsByItself }: Definition): Declared {
  const namesOf = (holds: (member: Definition["members"][string]) => boolean) =>
    Object.keys(members).filter((name) => members[name] !== undefined && holds(members[name]))
  return {
    identity: namesOf(({ forcesReplacement }) => forcesReplacement === true),
    adoptable: adoption !== undefined,
    inOrganization: "organization" in members,
    inMount: "mount" in members,
    hostedOnly: namesOf(({ edition }) => edition === "hosted"),
    endsByItself: endsByItself === true,
    unkept: namesOf(({ secret, isHidden }) => secret !== undefined && isHidden === true),
  }
}

/** Returns whether the member is secret with these inputs. An unknown input counts as secret. */
const isSecret = (member: Definition["members"][string] | undefined, inputs: Values): boolean =>
  member?.secret !== undefined &&
  (member.secret === true || !member.secret.values.includes(inputs[member.secret.member]))

const deletionPolicies: readonly unknown[] = ["safe", "force", "retain"] satisfies readonly DeletionPolicy[]
const phases = ["create", "update", "delete"]
/** Members of the declaration that concern its lifecycle and not the resource itself. */
export const lifeMembers: readonly string[] = ["adopt", "deletionPolicy", "timeouts", "__marker", "__defaulted"]

export function lifecycleOf<Spec extends object, Observed extends object>(
  kind: DeclaredResource<Spec, Observed> & Definition,
  clock: Clock,
  extras: Extras<Observed> = {},
): Lifecycle {
  const declared = { ...declaredBy(kind), ...extras }
  const { unkept, bindingsMember = "" } = declared

  const knownOf = (olds: Values, owner?: string): Known<Observed> => ({
    // Computed on access, because most kinds do not use it.
    get before() {
      return observedIn(olds) as Partial<Observed>
    },
    now: clock.now(),
    owner,
  })

  const stateOf = (spec: Values, observed: Observed, life: Values, adopted: boolean): Values => {
    const { changed } = kind.diff(spec as Spec, observed)
    const managed = Object.keys(spec).filter((name) => !unkept.includes(name))
    const asDeclared = pick(
      spec,
      managed.filter((name) => !changed.includes(name)),
    )
    return { ...observed, ...asDeclared, ...life, adopted, __managed: managed.toSorted() }
  }

  async function wouldBeSeen(engine: Engine, olds: Values, defaults: Pick<Defaults, "organization">): Promise<boolean> {
    const { visibility } = declared
    if (visibility === undefined || (await seesAll(engine, visibility, placeOf(olds, defaults)))) return true
    // A token that sees the workspace also sees its parts.
    return typeof olds["workspaceId"] === "string" && (await isVisible(engine, olds["workspaceId"]))
  }

  /** Removes bindings that the program does not declare. */
  const ownBindingsOf = (observed: Observed, spec: Values): Observed => {
    const { [bindingsMember]: all, ...others } = observed as Values
    const own = spec[bindingsMember] as Values | undefined
    return (
      own === undefined ? others : { ...others, [bindingsMember]: pick(all as Values, Object.keys(own)) }
    ) as Observed
  }

  /** Returns whether undeclared bindings stay. */
  const leavesOthers = (olds: Values, news: Values): boolean =>
    (news[bindingsMember] === undefined ? olds : news)["__defaulted"] === true

  /** Returns the declared bindings with those of others, for an update that replaces all. */
  async function withOthersBindings(engine: Engine, id: string, olds: Values, news: Values): Promise<Values> {
    const [before, after] = [olds, news].map((values) => values[bindingsMember] as Values | undefined)
    const found = await kind.observe(engine, id, { [bindingsMember]: {} } as Partial<Spec>, knownOf({}))
    const present = Object.entries(((found as Values | undefined)?.[bindingsMember] as Values | undefined) ?? {})
    const others = present.filter(([key]) => before?.[key] === undefined)
    return { [bindingsMember]: { ...Object.fromEntries(others), ...after } }
  }

  return {
    members: kind.memberNames,

    check(news, open, defaults) {
      const inputs = withDefaults(news, open, defaults, declared)
      const { spec, life } = split(inputs, open)
      const failures = [
        ...kind.validate(spec, open),
        ...lifeFaults(life, open, declared),
        ...editionFaults(spec, defaults, declared),
      ].map(({ field = [], detail }): Failure => {
        const [member = ""] = field
        const reason = withPropertyNames(detail, kind.memberNames)
        if (!isSecret(kind.members[member], inputs)) return { property: pathOf(field), reason }
        // Pulumi prints the value of a property that fails, also of a secret one.
        return { property: "", reason: reason.includes(String(member)) ? reason : `${member}: ${reason}` }
      })
      return {
        inputs,
        failures: failures.map((failure) =>
          declared.inOrganization && failure.property === "organization" && !("organization" in inputs)
            ? { ...failure, reason: organizationMissing }
            : failure,
        ),
      }
    },

    diff(olds, news, open) {
      const { spec, life } = split(news, open)
      const dropped = droppedFrom(olds, news)
      const {
        changed,
        mustReplace,
        removeFirst = false,
      } = kind.diff(spec as Spec, olds as Observed, dropped, clock.now())
      // A changed marker is no difference: the declaration may be renamed.
      const livesOtherwise = lifeMembers.filter(
        (name) =>
          name !== "__marker" &&
          !open.has(name) &&
          life[name] !== olds[name] &&
          JSON.stringify(life[name]) !== JSON.stringify(olds[name]),
      )
      const unknown = [...open]
      return {
        changed: [...changed, ...livesOtherwise, ...unknown],
        replaces: [...mustReplace, ...unknown.filter((name) => declared.identity.includes(name))],
        deleteBeforeReplace: removeFirst,
        isUnasked: changed.some((name) => spec[name] === undefined && !dropped.includes(name)),
      }
    },

    async create(engine, news, recorded = new Set(), owner) {
      const { spec, life } = split(news, nothingOpen)
      const { __marker: marker } = life
      const origin = {
        marker: typeof marker === "string" ? marker : "",
        adopt: life["adopt"] === true,
        now: clock.now(),
        recorded,
        owner,
      }
      try {
        const { id, observed, adopted } = await kind.create(engine, spec as Spec, origin)
        return { id, state: stateOf(spec, observed, life, adopted) }
      } catch (error) {
        if (!(error instanceof PartlyCreated)) throw error
        const state = stateOf(spec, error.observed as Observed, life, false)
        throw new Unfinished({ id: error.id, state }, error.cause)
      }
    },

    async read(engine, id, olds, defaults = {}, owner) {
      const managed = managedIn(olds)
      const spec = pick(olds, managed)
      const place = declared.inOrganization ? { organization: placeOf(olds, defaults) } : {}
      const found = await kind.observe(engine, id, { ...place, ...spec } as Partial<Spec>, knownOf(olds, owner))
      const observed = found && (olds["__defaulted"] === true ? ownBindingsOf(found, spec) : found)
      if (observed === undefined) {
        if (!(await wouldBeSeen(engine, olds, defaults))) throw unseen(id, placeOf(olds, defaults))
        return undefined
      }
      const life = pick(olds, lifeMembers)
      const state = stateOf(spec, observed, life, olds["adopted"] === true)
      return { state, inputs: { ...pick(state, managed), ...life } }
    },

    async update(engine, id, olds, news, owner) {
      const { spec, life } = split(news, nothingOpen)
      const dropped = droppedFrom(olds, news)
      const before = observedIn(olds) as Observed
      const { changed } = kind.diff(spec as Spec, before, dropped)
      if (changed.length === 0) return stateOf(spec, before, life, olds["adopted"] === true)
      const addsOnly = changed.includes(bindingsMember) && leavesOthers(olds, news)
      // With an owner, the engine replaces only the bindings of that owner.
      const declarant: Declarant = { owner, leavesOthers: addsOnly && owner !== undefined }
      const whole = addsOnly && owner === undefined ? await withOthersBindings(engine, id, olds, news) : undefined
      const observed = await kind.update(
        engine,
        id,
        { ...spec, ...whole } as Spec,
        before,
        whole === undefined ? dropped : dropped.filter((name) => name !== bindingsMember),
        declarant,
      )
      return stateOf(
        spec,
        whole === undefined ? observed : ownBindingsOf(observed, spec),
        life,
        olds["adopted"] === true,
      )
    },

    async takenOver(engine, id, known, always) {
      const observed = await kind.observe(engine, id, known as Partial<Spec>, { before: {}, now: clock.now() })
      if (observed === undefined) return undefined
      const others = kind.memberNames.filter((name) => !(name in known))
      const { changed } = kind.diff(known as Spec, observed, others)
      const found = pick(observed as Values, [...always, ...changed])
      const spec = { ...known, ...(declared.asDeclared?.(found, observed) ?? found) }
      return { state: stateOf(spec, observed, {}, true), inputs: spec }
    },

    async delete(engine, id, olds, defaults, owner) {
      const chosen = olds["deletionPolicy"] as DeletionPolicy | undefined
      const otherwise = olds["adopted"] === true ? "retain" : defaults.deletionPolicy
      const policy = declared.endsByItself ? "safe" : (chosen ?? otherwise)
      if (policy === "retain") return
      const spec = pick(olds, managedIn(olds)) as Partial<Spec>
      // A deletion treats a missing resource as deleted, but a resource that the token cannot see also looks missing.
      if (
        !(await wouldBeSeen(engine, olds, defaults)) &&
        (await kind.observe(engine, id, spec, knownOf(olds))) === undefined
      )
        throw unseen(id, placeOf(olds, defaults))
      await kind.delete(engine, id, spec, policy, knownOf(olds, owner))
    },
  }
}

const nothingOpen: Open = new Set()

const placeOf = ({ organization }: Values, defaults: Pick<Defaults, "organization">): string | undefined =>
  typeof organization === "string" ? organization : defaults.organization

const organizationMissing =
  "organization is required; set it on the resource, with `pulumi config set chancery:organization NAME`, or in CHANCERY_ORGANIZATION"

function withDefaults(
  news: Values,
  open: Open,
  defaults: Defaults,
  { inOrganization, inMount, bindingsMember }: Declared & Extras<never>,
): Values {
  const inputs: Record<string, unknown> = { ...news }
  if (inOrganization && news["organization"] === undefined && defaults.organization !== undefined)
    inputs["organization"] = defaults.organization
  if (inMount && news["mount"] === undefined) inputs["mount"] = defaults.pkiMount ?? "pki"
  if (bindingsMember !== undefined && !open.has(bindingsMember) && Object.keys(defaults.tagBindings).length > 0)
    inputs[bindingsMember] = { ...defaults.tagBindings, ...(news[bindingsMember] as object | undefined) }
  // The program does not declare the bindings as complete, so those of `TagBindings` and of others stay.
  if (bindingsMember !== undefined && news[bindingsMember] === undefined && inputs[bindingsMember] !== undefined)
    inputs["__defaulted"] = true
  return inputs
}

/** Separates lifecycle members from the spec. Null is a value ("none") and belongs to the spec. */
function split(inputs: Values, open: Open): { readonly spec: Values; readonly life: Values } {
  const given = Object.entries(inputs).filter(([name, value]) => value !== undefined && !open.has(name))
  return {
    spec: Object.fromEntries(given.filter(([name]) => !lifeMembers.includes(name))),
    life: Object.fromEntries(given.filter(([name]) => lifeMembers.includes(name))),
  }
}

function editionFaults(
  spec: Values,
  { edition }: Defaults,
  { identity, hostedOnly, selfHostedOnly = false }: Declared & Extras<never>,
): { field: readonly string[]; detail: string }[] {
  const [place = ""] = identity
  if (edition === "hosted" && selfHostedOnly)
    return [{ field: [place], detail: "this resource requires the self-hosted edition; remove it" }]
  if (edition !== "selfHosted") return []
  return hostedOnly
    .filter((name) => spec[name] === true)
    .map((name) => ({ field: [name], detail: `${name} requires the hosted edition; remove it` }))
}

function lifeFaults(
  life: Values,
  open: Open,
  { adoptable, endsByItself }: Declared,
): { field: readonly string[]; detail: string }[] {
  const { adopt, deletionPolicy, timeouts } = life
  const faults: { field: readonly string[]; detail: string }[] = []
  if (adopt !== undefined && !adoptable)
    faults.push({ field: ["adopt"], detail: "adopt has no effect on this resource; remove it" })
  else if (adopt !== undefined && typeof adopt !== "boolean")
    faults.push({ field: ["adopt"], detail: "adopt must be a boolean" })
  if (deletionPolicy !== undefined && endsByItself)
    faults.push({ field: ["deletionPolicy"], detail: "deletionPolicy has no effect on this resource; remove it" })
  else if (deletionPolicy !== undefined && !deletionPolicies.includes(deletionPolicy))
    faults.push({ field: ["deletionPolicy"], detail: `deletionPolicy must be "safe", "force" or "retain"` })
  if (timeouts === undefined || open.has("timeouts")) return faults
  if (typeof timeouts !== "object" || timeouts === null)
    return [...faults, { field: ["timeouts"], detail: `timeouts must be an object such as { create: "10m" }` }]
  for (const [phase, value] of Object.entries(timeouts)) {
    if (!phases.includes(phase))
      faults.push({
        field: ["timeouts", phase],
        detail: `timeouts.${phase} is not supported; use ${phases.join(", ")}`,
      })
    else if (!isTimeout(value))
      faults.push({ field: ["timeouts", phase], detail: `timeouts.${phase} must be a duration such as 90s or 10m` })
  }
  return faults
}

/** Returns the time limit of a phase in milliseconds. */
export function timeoutMs(values: Values, phase: "create" | "update" | "delete", otherwiseMs: number): number {
  const timeouts = values["timeouts"] as Readonly<Record<string, string>> | undefined
  return durationMs(timeouts?.[phase]) ?? otherwiseMs
}

const managedIn = (state: Values): readonly string[] => {
  const managed = state["__managed"]
  return Array.isArray(managed) ? managed.map(String) : []
}

const droppedFrom = (olds: Values, news: Values): readonly string[] =>
  managedIn(olds).filter((name) => news[name] === undefined)

const pick = (values: Values, names: readonly string[]): Values =>
  Object.fromEntries(names.filter((name) => values[name] !== undefined).map((name) => [name, values[name]]))

const aboutTheState: ReadonlySet<string> = new Set([...lifeMembers, "adopted", "__managed"])

/** Returns the members of a state that describe the resource itself. */
const observedIn = (state: Values): Values =>
  pick(
    state,
    Object.keys(state).filter((name) => !aboutTheState.has(name)),
  )

/** Returns a property path in Pulumi's syntax: `tagBindings.env`, `tags[0]`. */
const pathOf = (field: readonly (string | number)[]): string =>
  field.reduce<string>(
    (path, part) => (typeof part === "number" ? `${path}[${part}]` : path === "" ? part : `${path}.${part}`),
    "",
  )
