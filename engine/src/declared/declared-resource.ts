// Declared resources: one description per kind, used by the Pulumi provider and the Kubernetes operator. Specs and observations are plain
// JSON with the same member names, so that they can be compared member by member. A member that a spec leaves out is not managed and keeps
// its value.
import type { Fault } from "../core/errors.ts"
import type { Writer } from "../core/owner.ts"
import type { Instant } from "../core/time.ts"
import type { Engine } from "../engine.ts"
import type { Members, Output } from "./members.ts"
import type { Changes, Values } from "./values.ts"

export type { Changes, Values }

/** Owner under which tags and bindings are written (`Writer`). Kinds without tags ignore it. */
export interface Declarant extends Writer {
  /** The bindings come from the defaults of the stack and are not the complete set. Other bindings without an owner are kept. */
  readonly leavesOthers?: boolean
}

/** Identity of a declaration, by which a retry finds the resource of a creation whose answer was lost. */
export interface Origin extends Writer {
  /** Creation id: the same at every retry and unique to the declaration, at most `maxOrigin` characters. */
  readonly marker: string
  /** Take over an existing resource of the same name, whichever client created it. */
  readonly adopt: boolean
  readonly now?: Instant
  /** Ids of resources that the state of the stack records. Another resource with this marker was left behind by a lost answer. */
  readonly recorded?: ReadonlySet<string>
}

/** Facts that the caller already has. */
export interface Known<Observed> extends Writer {
  /** Last observation, with values that the server returns only once. Empty if nothing was observed before. */
  readonly before: Partial<Observed>
  readonly now: Instant
}

export const maxOrigin = 255

export interface Created<Observed> {
  readonly id: string
  readonly observed: Observed
  /** The resource existed and was taken over. */
  readonly adopted: boolean
}

/** `safe` fails if other data would be lost with the resource. */
export type Removal = "safe" | "force"

/** Description of a kind: CRDs, classes of the Pulumi provider and the reference come from it. */
export interface Definition {
  /** Name in type tokens and states of Pulumi. */
  readonly name: string
  readonly description: string
  readonly argsDescription?: string
  readonly outputsDescription: string
  readonly members: Members
  /** Outputs in addition to the members. */
  readonly outputs: Readonly<Record<string, Output>>
  /** Continues "Adopt", if the resource has a name that another owner may have taken: "an existing role of this name". */
  readonly adoption?: string
  /** The kind has no `deletionPolicy`: a member of its own decides what deletion does, or deletion does nothing. */
  readonly endsByItself?: true
}

export interface DeclaredResource<Spec extends object, Observed extends object> {
  /** Names of all members that a spec may have. */
  readonly memberNames: readonly string[]
  /**
   * Returns all faults of a spec that can be found without a request, each with its member as field. Members in `open` have no known value
   * yet: they are absent from the spec and are not checked.
   */
  validate(spec: Values, open?: ReadonlySet<string>): readonly Fault[]
  /**
   * Returns the differences between spec and observation. `dropped` are members that the previous spec had. Without `now`, nothing expires.
   * Pure.
   */
  diff(spec: Spec, observed: Observed, dropped?: readonly string[], now?: Instant): Changes
  /** Returns undefined if the resource no longer exists. The spec selects what is read. */
  observe(engine: Engine, id: string, spec: Partial<Spec>, known: Known<Observed>): Promise<Observed | undefined>
  /** Throws `PartlyCreated` if the resource was created but differs from the spec; an update completes it. */
  create(engine: Engine, spec: Spec, origin: Origin): Promise<Created<Observed>>
  /** Sends the members that differ. Dropped members return to the defaults of a new resource. */
  update(
    engine: Engine,
    id: string,
    spec: Spec,
    observed: Observed,
    dropped?: readonly string[],
    declarant?: Declarant,
  ): Promise<Observed>
  /** Succeeds if the resource no longer exists. */
  delete(engine: Engine, id: string, spec: Partial<Spec>, removal: Removal, known: Known<Observed>): Promise<void>
}

export class PartlyCreated extends Error {
  readonly id: string
  readonly observed: object

  constructor(id: string, observed: object, cause: unknown) {
    super(cause instanceof Error ? cause.message : String(cause), { cause })
    this.name = "PartlyCreated"
    this.id = id
    this.observed = observed
  }
}

/** Default mode of an observation: a resource read by its id alone has no declared items, and shows all of them. */
export const modeWhenRead = (declaredItems: unknown): "additive" | "exclusive" =>
  declaredItems === undefined ? "exclusive" : "additive"
