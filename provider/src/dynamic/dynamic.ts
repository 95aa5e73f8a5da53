// Adapter to Pulumi's dynamic resources. Pulumi's process for them calls these methods with plain JSON, in which certain strings represent
// unknown values.
import { isDeepStrictEqual } from "node:util"
import type { dynamic } from "@pulumi/pulumi"
import type { Values } from "@chancery/engine/declared/shared"
import { within } from "../lifecycle/deadline.ts"
import { explain, nextRun, type Phase } from "./explain.ts"
import { type Lifecycle, type Open, timeoutMs, Unfinished } from "../lifecycle/lifecycle.ts"
import type { KindName } from "../lifecycle/kind-name.ts"
import { isLegacyState, namedState } from "./legacy-state.ts"
import { ownerOf, completeCreationId } from "../lifecycle/creation-id.ts"
import { writtenState } from "../lifecycle/defaults.ts"
import type { Session } from "./session.ts"

export type DynamicProvider = Required<dynamic.ResourceProvider<Values, Values>>

/** Strings by which the SDK represents unknown strings, booleans, numbers, lists and objects (`@pulumi/pulumi/runtime/rpc`). */
const unknownValues = new Set([
  "04da6b54-80e4-46f7-96ec-b56ff0331ba9",
  "1c4a061d-8072-4f0a-a4cb-0ff528b18fe7",
  "3eeb2bf0-c639-47a8-9e75-3b44932eb421",
  "6a19a0b0-7e62-4c92-b797-7f8e31da9cc2",
  "dd056dcd-154b-4c76-9bd3-c8f88648b5ff",
])

const operationMs = 5 * 60_000

export function dynamicProvider(kindName: KindName, load: () => Promise<Lifecycle>, session: Session): DynamicProvider {
  async function explained<T>(phase: Phase, work: () => Promise<T>): Promise<T> {
    try {
      return await work()
    } catch (error) {
      if (error instanceof ReportedError) throw error
      const { members = [] } = (await load().catch(() => undefined)) ?? {}
      throw shown(error, explain(error, kindName, phase, members))
    }
  }

  const timed = <T>(phase: "create" | "update" | "delete", values: Values, work: () => Promise<T>): Promise<T> =>
    within(
      timeoutMs(values, phase, operationMs),
      `${phase} of the ${kindName}`,
      work,
      session.signal,
      nextRun(kindName, phase),
    )

  const isWorkspace = kindName === "workspace"
  const stateOf = (outs: Values): Values => (isWorkspace ? namedState(declared(outs)) : declared(outs))
  const outsOf = (state: Values): Record<string, unknown> => plain(isWorkspace ? writtenState(state) : state)

  // Ids in the states that this process received: Pulumi calls `diff` before it replaces a resource. Bounded by the size of the stack.
  const recorded = new Set<string>()

  return {
    configure: async ({ config }) => session.configure((key) => config.get(`chancery:${key}`)),

    check: (_olds, news) =>
      explained("check", async () => {
        const { defaults } = await session.configured
        const lifecycle = await load()
        const { inputs, failures } = lifecycle.check(declared(news), openIn(news), defaults)
        return { inputs: { ...inputs }, failures: [...failures] }
      }),

    diff: (id, olds, news) =>
      explained("diff", async () => {
        recorded.add(id)
        await session.configured
        const lifecycle = await load()
        const difference = lifecycle.diff(stateOf(olds), declared(news), openIn(news))
        const { changed, replaces, deleteBeforeReplace, isUnasked } = difference
        const isUnchanged = changed.length === 0
        if (isUnchanged && !isLegacyState(olds)) return { changes: false }
        // The update of an unchanged resource sends no request; it rewrites a legacy state with named members.
        if (isUnasked || isUnchanged) return { changes: true, replaces: [...replaces], deleteBeforeReplace }
        // Leaves `changes` undefined on purpose: Pulumi then compares the inputs itself, shows the differences, and applies
        // `replaceOnChanges`.
        return { replaces: [...replaces], deleteBeforeReplace }
      }),

    create: (inputs) =>
      explained("create", async () => {
        const { __marker: marker, ...news } = declared(inputs)
        const marked = { ...news, __marker: completeCreationId(marker, session.project, news) }
        const keptOuts = (state: Values) => outsOf({ ...state, __marker: marker })
        const lifecycle = await load()
        const owner = ownerOf(marker, session.project)
        try {
          const { id, state } = await session.use((engine) =>
            timed("create", news, () => lifecycle.create(engine, marked, recorded, owner)),
          )
          recorded.add(id)
          return { id, outs: keptOuts(state) }
        } catch (error) {
          if (!(error instanceof Unfinished)) throw error
          const { id, state } = error.kept
          const reason = explain(error.cause, kindName, "create", lifecycle.members)
          // Stores the partly created resource with the address of this code, so that the next `up` completes it.
          throw Object.assign(shown(error, reason), {
            id,
            properties: { ...keptOuts(state), __unfinished: true, __provider: inputs["__provider"] },
            reasons: [reason],
          })
        }
      }),

    read: (id, props = {}) =>
      explained("read", async () => {
        const { defaults } = await session.configured
        const lifecycle = await load()
        const state = stateOf(props)
        const owner = ownerOf(state["__marker"], session.project)
        const found = await session.use((engine) =>
          within(
            operationMs,
            `reading the ${kindName}`,
            () => lifecycle.read(engine, id, state, defaults, owner),
            session.signal,
          ),
        )
        if (found === undefined) return { id: "", props: {} }
        const outs = outsOf(found.state)
        const { __provider: _address, ...before } = props
        // Without changes, Pulumi keeps its inputs. Omitting them halves the answer.
        return { id, props: outs, ...(isDeepStrictEqual(outs, before) ? {} : { inputs: plain(found.inputs) }) }
      }),

    update: (id, olds, news) =>
      explained("update", async () => {
        const wanted = declared(news)
        const owner = ownerOf(wanted["__marker"], session.project)
        const lifecycle = await load()
        const state = await session.use((engine) =>
          timed("update", wanted, () => lifecycle.update(engine, id, stateOf(olds), wanted, owner)),
        )
        return { outs: outsOf(state) }
      }),

    delete: (id, props) =>
      explained("delete", async () => {
        const { defaults } = await session.configured
        const lifecycle = await load()
        const state = stateOf(props)
        const owner = ownerOf(state["__marker"], session.project)
        await session.use((engine) =>
          timed("delete", state, () => lifecycle.delete(engine, id, state, defaults, owner)),
        )
      }),
  }
}

/**
 * Removes the address of this code, which the calling process manages, and `__unfinished`. An unfinished resource is never as declared: its
 * outputs differ from its inputs.
 */
const declared = ({ __provider: _address, __unfinished: _flaw, ...values }: Values): Values => values

const openIn = (news: Values): Open => new Set(Object.keys(news).filter((name) => holdsUnknown(news[name])))

const holdsUnknown = (value: unknown): boolean =>
  typeof value === "string"
    ? unknownValues.has(value)
    : typeof value === "object" && value !== null && Object.values(value).some(holdsUnknown)

/** Converts values to plain JSON. The calling process cannot represent `undefined`, and loses a `Date`. */
function plain(values: Values): Record<string, unknown> {
  return JSON.parse(JSON.stringify(values)) as Record<string, unknown>
}

/** Error with a message for users. */
class ReportedError extends Error {}

/** Returns the error for Pulumi, which prints its stack. The stack is empty unless CHANCERY_STACK_TRACES is set. */
function shown(error: unknown, message: string): ReportedError {
  const explanation = new ReportedError(message)
  explanation.stack = process.env["CHANCERY_STACK_TRACES"] && error instanceof Error ? (error.stack ?? "") : ""
  return explanation
}
