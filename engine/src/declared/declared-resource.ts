// What somebody declares and Chancery has: one description per kind, driven by whoever declares (the Pulumi provider, the
// Kubernetes operator). Specs and observations are plain JSON in the same words, so that what was found can be put beside
// what was asked for member by member. A member that a spec leaves out is not managed: whatever it is, it stays.
import type { Fault } from "../core/errors.ts"
import type { Writer } from "../core/owner.ts"
import type { Instant } from "../core/time.ts"
import type { Engine } from "../engine.ts"
import type { Members, Output } from "./members.ts"
import type { Changes, Values } from "./values.ts"

export type { Changes, Values }

/** As whom tags and bindings are written (`Writer`); a kind that has none does not ask. */
export interface Declarant extends Writer {
  /** The spec's bindings are those that it has always had, and not all there shall be: what nobody holds stays beside them. */
  readonly leavesOthers?: boolean
}

/** Who declares, so that a creation whose answer was lost is known again. */
export interface Origin extends Writer {
  /** The same at every try, and no one else's. At most `originMaximum` characters. */
  readonly marker: string
  /** Takes over what is there under the same name, whoever made it. */
  readonly adopt: boolean
  readonly now?: Instant
  /** Ids of those that whoever declares has a record of. What carries the marker beside them is what a lost answer left behind. */
  readonly recorded?: ReadonlySet<string>
}

/** What whoever asks knows already. */
export interface Known<Observed> extends Writer {
  /** What was observed before, with what is told only once; no member where nothing was. */
  readonly before: Partial<Observed>
  readonly now: Instant
}

export const originMaximum = 255

export interface Created<Observed> {
  readonly id: string
  readonly observed: Observed
  /** It was there before, and was taken over. */
  readonly adopted: boolean
}

/** `safe` refuses where something would be lost with it. */
export type Removal = "safe" | "force"

/** Description of a kind: CRDs, classes of the Pulumi provider and the reference come from it. */
export interface Definition {
  /** In type tokens and states of Pulumi. */
  readonly name: string
  readonly description: string
  readonly argsDescription?: string
  readonly outputsDescription: string
  readonly members: Members
  /** Beside the members. */
  readonly outputs: Readonly<Record<string, Output>>
  /** Continues "Adopt", if the resource has a name that another owner may have taken: "an existing role of this name". */
  readonly adoption?: string
  /** A member of its own says what becomes of it at the end, or nothing can. */
  readonly endsByItself?: true
}

export interface DeclaredResource<Spec extends object, Observed extends object> {
  /** Every member that a spec may have. */
  readonly memberNames: readonly string[]
  /**
   * Everything that is wrong with a spec, whatever Chancery has; a fault names the member by its field. Members in `open` have
   * values that are not known yet: they are absent from the spec, and no rule speaks about them.
   */
  validate(spec: Values, open?: ReadonlySet<string>): readonly Fault[]
  /** `dropped` are members that the spec before this one had; without `now` nothing is due. Pure. */
  diff(spec: Spec, observed: Observed, dropped?: readonly string[], now?: Instant): Changes
  /** Undefined when it is gone. The spec says what to look at. */
  observe(engine: Engine, id: string, spec: Partial<Spec>, known: Known<Observed>): Promise<Observed | undefined>
  /** Throws `PartlyCreated` when it exists but is not as the spec wants it; an update finishes it. */
  create(engine: Engine, spec: Spec, origin: Origin): Promise<Created<Observed>>
  /** Sends what differs and nothing else; dropped members go back to what a new one has. */
  update(
    engine: Engine,
    id: string,
    spec: Spec,
    observed: Observed,
    dropped?: readonly string[],
    declarant?: Declarant,
  ): Promise<Observed>
  /** What is gone already is done. */
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
