// The life of one declared resource: check, diff, create, read, update, delete, over plain values and an engine. It knows no
// Pulumi: a front brings values in and out, says which are not known yet, and shows what is thrown.
//
// A state holds what was declared and what was found, member by member, and three facts beside it: `__managed`, the members
// that the program declares (the rest may change as it likes), `__marker`, who declares, and `adopted`. `__defaulted` says that
// its bindings are those of the configuration, and not all that it has.
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
import { isInSight, seesAll, type Sight, unseen } from "./visibility.ts"

export type DeletionPolicy = "safe" | "force" | "retain"

/** What the configuration says for all resources. */
export interface Defaults {
  readonly organization?: string
  /** `pki` when left out. */
  readonly pkiMount?: string
  readonly deletionPolicy: DeletionPolicy
  readonly tagBindings: Readonly<Record<string, string>>
  /** Of the server, where the configuration says it. */
  readonly edition?: Edition
}

export type Edition = "hosted" | "selfHosted"

type Clock = Runtime["clock"]

/** Members that have no value yet. */
export type Open = ReadonlySet<string>

export interface Failure {
  readonly property: string
  readonly reason: string
}

export interface Difference {
  readonly changed: readonly string[]
  readonly replaces: readonly string[]
  readonly deleteBeforeReplace: boolean
  /** Something has changed that no input shows. */
  readonly isUnasked: boolean
}

export interface Kept {
  readonly id: string
  readonly state: Values
}

/** It exists, and the next update finishes it. */
export class Unfinished extends Error {
  readonly kept: Kept

  constructor(kept: Kept, cause: unknown) {
    super(cause instanceof Error ? cause.message : String(cause), { cause })
    this.name = "Unfinished"
    this.kept = kept
  }
}

export interface Lifecycle {
  /** Of the thing itself, beside those that every resource takes. */
  readonly members: readonly string[]
  /** With what the configuration adds. */
  check(
    news: Values,
    open: Open,
    defaults: Defaults,
  ): { readonly inputs: Values; readonly failures: readonly Failure[] }
  diff(olds: Values, news: Values, open: Open): Difference
  /** `recorded` are ids that states have. Tags are written as the owner, here and below. */
  create(engine: Engine, news: Values, recorded?: ReadonlySet<string>, owner?: string): Promise<Kept>
  /** Undefined when it is gone. */
  read(
    engine: Engine,
    id: string,
    olds: Values,
    defaults?: Pick<Defaults, "organization">,
    owner?: string,
  ): Promise<{ readonly state: Values; readonly inputs: Values } | undefined>
  update(engine: Engine, id: string, olds: Values, news: Values, owner?: string): Promise<Values>
  /**
   * One that is there already, as if it had been taken over as a program would declare it: `known`, the members that `always`
   * names, and whatever else is not as a new one has it. Undefined when it is gone.
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

/** Parts of a lifecycle that the definition of its resource lacks. */
interface Extras<Observed extends object> {
  /** Members whose change makes it another thing. By default those that force replacement. */
  readonly identity?: readonly string[]
  /** What a program would say for members that were found, where it would say it otherwise. */
  readonly asDeclared?: (found: Values, observed: Observed) => Values
  /** What one has to see all of to know that it is gone; nothing where missing and not permitted are told apart. */
  readonly sight?: Sight
  /** The hosted edition has none of it. */
  readonly selfHostedOnly?: boolean
  /** The member that takes the bindings that everything gets. */
  readonly bindingsMember?: string
}

interface Declared {
  readonly identity: readonly string[]
  readonly adoptable: boolean
  /** The configuration has a value of the member `organization`. */
  readonly inOrganization: boolean
  /** The configuration has a value of the member `mount`. */
  readonly inMount: boolean
  readonly hostedOnly: readonly string[]
  readonly endsByItself: boolean
  /** Secret members that no state has beside the inputs: what was found says whether they are another's. */
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

const deletionPolicies: readonly unknown[] = ["safe", "force", "retain"] satisfies readonly DeletionPolicy[]
const phases = ["create", "update", "delete"]
/** Declared, but about the resource's life here and not about the thing. */
export const lifeMembers: readonly string[] = ["adopt", "deletionPolicy", "timeouts", "__marker", "__defaulted"]

export function lifecycleOf<Spec extends object, Observed extends object>(
  kind: DeclaredResource<Spec, Observed> & Definition,
  clock: Clock,
  extras: Extras<Observed> = {},
): Lifecycle {
  const declared = { ...declaredBy(kind), ...extras }
  const { unkept, bindingsMember = "" } = declared

  const knownOf = (olds: Values, owner?: string): Known<Observed> => ({
    // Most kinds never look.
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
    const { sight } = declared
    if (sight === undefined || (await seesAll(engine, sight, placeOf(olds, defaults)))) return true
    // With its workspace in sight, so is what belongs to it.
    return typeof olds["workspaceId"] === "string" && (await isInSight(engine, olds["workspaceId"]))
  }

  /** Without those of others. */
  const ownBindingsOf = (observed: Observed, spec: Values): Observed => {
    const { [bindingsMember]: all, ...others } = observed as Values
    const own = spec[bindingsMember] as Values | undefined
    return (
      own === undefined ? others : { ...others, [bindingsMember]: pick(all as Values, Object.keys(own)) }
    ) as Observed
  }

  /** Bindings that are declared are not all there shall be. */
  const leavesOthers = (olds: Values, news: Values): boolean =>
    (news[bindingsMember] === undefined ? olds : news)["__defaulted"] === true

  /** All that there shall be, where those that are declared are not all. */
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
      ].map(({ field = [], detail }): Failure => ({
        property: pathOf(field),
        reason: withPropertyNames(detail, kind.memberNames),
      }))
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
      // Who declares may get another name, and stays the same.
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
      // An owner replaces its own alone.
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
      // What is gone counts as removed, and what is hidden looks as if it were gone.
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
  "organization is required: set it on the resource, with `pulumi config set chancery:organization NAME`, or in CHANCERY_ORGANIZATION"

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
  // Nobody says that these are all it has: those of a `TagBindings`, or of others, stay beside them.
  if (bindingsMember !== undefined && news[bindingsMember] === undefined && inputs[bindingsMember] !== undefined)
    inputs["__defaulted"] = true
  return inputs
}

/** Null says something (none), and is part of the spec. */
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
    return [{ field: [place], detail: "the hosted edition has none of this; leave the resource out" }]
  if (edition !== "selfHosted") return []
  return hostedOnly
    .filter((name) => spec[name] === true)
    .map((name) => ({ field: [name], detail: `only the hosted edition has ${name}; leave it out` }))
}

function lifeFaults(
  life: Values,
  open: Open,
  { adoptable, endsByItself }: Declared,
): { field: readonly string[]; detail: string }[] {
  const { adopt, deletionPolicy, timeouts } = life
  const faults: { field: readonly string[]; detail: string }[] = []
  if (adopt !== undefined && !adoptable)
    faults.push({ field: ["adopt"], detail: "adopt means nothing here; leave it out" })
  else if (adopt !== undefined && typeof adopt !== "boolean")
    faults.push({ field: ["adopt"], detail: "adopt must be true or false" })
  if (deletionPolicy !== undefined && endsByItself)
    faults.push({ field: ["deletionPolicy"], detail: "deletionPolicy means nothing here; leave it out" })
  else if (deletionPolicy !== undefined && !deletionPolicies.includes(deletionPolicy))
    faults.push({ field: ["deletionPolicy"], detail: `deletionPolicy must be "safe", "force" or "retain"` })
  if (timeouts === undefined || open.has("timeouts")) return faults
  if (typeof timeouts !== "object" || timeouts === null)
    return [...faults, { field: ["timeouts"], detail: `timeouts must be an object such as { create: "10m" }` }]
  for (const [phase, value] of Object.entries(timeouts)) {
    if (!phases.includes(phase))
      faults.push({ field: ["timeouts", phase], detail: `${phase} has no timeout; ${phases.join(", ")} have` })
    else if (!isTimeout(value))
      faults.push({ field: ["timeouts", phase], detail: `timeouts.${phase} must be a duration such as 90s or 10m` })
  }
  return faults
}

/** How long a phase may take. */
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

/** What a state says of the thing itself. */
const observedIn = (state: Values): Values =>
  pick(
    state,
    Object.keys(state).filter((name) => !aboutTheState.has(name)),
  )

/** As Pulumi writes property paths: `tagBindings.env`, `tags[0]`. */
const pathOf = (field: readonly (string | number)[]): string =>
  field.reduce<string>(
    (path, part) => (typeof part === "number" ? `${path}[${part}]` : path === "" ? part : `${path}.${part}`),
    "",
  )
