// A member of a successful request must be stored. The harness writes each member of a table with a non-default value and reads the
// resource. It expects the same value, or an error that names the member. Each wire format has a table: `writable-members-tfe.ts` is for
// `/api/v2`, `writable-members-vault.ts` for `/v1`.
import { describe, expect, test } from "vitest"
import type { Answer, TestEngine } from "../../engine/testing/test-engine.ts"

/** Members by their path in a document: `vcs-repo.branch`, `relationships.project`. */
export type Members = Readonly<Record<string, unknown>>

export type Expectation =
  /** Read as written, or as `as`. */
  | { readonly kind: "stored"; readonly as?: unknown }
  /** Written and never returned, such as a secret; another member shows that it exists. */
  | { readonly kind: "hidden"; readonly shows: Members }
  /** Refused, with the name of the member. */
  | { readonly kind: "refused" }

export interface WritableMember {
  readonly name: string
  /** Not the default; a `Reference` if it names a record. */
  readonly value: unknown
  readonly expects?: Expectation
  /** Members without which it is not valid. */
  readonly beside?: Members
  /** Writes that accept the member; default: both. */
  readonly verbs?: readonly Verb[]
}

export type Verb = "create" | "update"

/** One writable resource in a test engine; `refs` are ids of records that values may name. */
export interface WritableResource<Refs> {
  readonly name: string
  readonly members: readonly WritableMember[]
  /** Returns the members that every creation needs, with fresh names. */
  readonly required: (unique: string, refs: Refs) => Members
  readonly create: (testEngine: TestEngine, refs: Refs, members: Members) => Promise<Answer>
  /** Undefined for immutable resources. */
  readonly update?: (testEngine: TestEngine, refs: Refs, id: string, members: Members) => Promise<Answer>
  /** Undefined for resources that only the response to their creation shows. */
  readonly read?: (testEngine: TestEngine, refs: Refs, id: string) => Promise<Answer>
  /** Returns the members of an answer by their paths. */
  readonly membersOf: (answer: Answer) => Members
  readonly idOf: (answer: Answer) => string
  /**
   * Members of the answer that cannot be written. Every other one must be in `members` or in `required`. `all others` is for resources that
   * report on work, most of whose members are read-only.
   */
  readonly readOnly: readonly string[] | "all others"
}

export interface WireFormat<Refs> {
  /** Used in titles of tests. */
  readonly name: string
  readonly refusedStatus: number
  /** Returns true if an error answer names the member. */
  readonly names: (answer: Answer, member: string) => boolean
  /** Members that an answer reports as ignored; undefined for formats without such a report. */
  readonly ignored?: (answer: Answer) => readonly string[]
  readonly open: () => Promise<Opened<Refs>>
  readonly resources: readonly WritableResource<Refs>[]
}

/** A value that depends on records of the test engine. */
export class Reference<Refs> {
  readonly of: (refs: Refs) => unknown

  constructor(of: (refs: Refs) => unknown) {
    this.of = of
  }
}

const resolved = <Refs>(members: Members, refs: Refs): Members =>
  Object.fromEntries(
    Object.entries(members).map(([name, value]) => [name, value instanceof Reference ? value.of(refs) : value]),
  )

/** Returns the members that a read must return. */
function shownBy(expects: Expectation, name: string, value: unknown): Members {
  switch (expects.kind) {
    case "refused":
      return {}
    case "hidden":
      return expects.shows
    case "stored":
      return { [name]: "as" in expects ? expects.as : value }
    default:
      return expects satisfies never
  }
}

function succeeded(answer: Answer): Answer {
  if (answer.status >= 300) throw new Error(`${answer.status} ${JSON.stringify(answer.body)}`)
  return answer
}

interface Opened<Refs> {
  readonly testEngine: TestEngine
  readonly refs: Refs
}

export function testWritableMembers<Refs>(format: WireFormat<Refs>): void {
  describe.each(format.resources)(`[F-W8] ${format.name}: $name`, (resource) => {
    let opened: ReturnType<typeof format.open> | undefined
    const shared = () => (opened ??= format.open())
    let made = 0
    const unique = () => `${resource.name.replaceAll(/[^a-z]/g, "").slice(0, 12)}-${(made += 1)}`
    const verbs: readonly Verb[] = resource.update === undefined ? ["create"] : ["create", "update"]
    const cases = resource.members.flatMap((member) =>
      verbs
        .filter((verb) => (member.verbs ?? verbs).includes(verb))
        .map((verb) => ({ verb, member, name: member.name })),
    )

    async function write({ testEngine, refs }: Opened<Refs>, verb: Verb, written: Members): Promise<Answer> {
      const base = resolved(resource.required(unique(), refs), refs)
      if (verb === "create" || resource.update === undefined)
        return resource.create(testEngine, refs, { ...base, ...written })
      const before = succeeded(await resource.create(testEngine, refs, base))
      const answer = await resource.update(testEngine, refs, resource.idOf(before), written)
      // An answer without a document refers to the resource that was created.
      return answer.body === undefined ? { ...answer, body: before.body } : answer
    }

    test.each(cases)("$verb stores $name, or rejects it by name", async ({ verb, member }) => {
      const { testEngine, refs } = await shared()
      const { name, value, beside, expects = { kind: "stored" } } = member
      const answer = await write({ testEngine, refs }, verb, resolved({ ...beside, [name]: value }, refs))
      expect(format.ignored?.(answer) ?? []).toEqual([])
      const isRefused = expects.kind === "refused"
      const refusal = isRefused && { status: format.refusedStatus, names: true }
      expect(isRefused && { status: answer.status, names: format.names(answer, name) }).toEqual(refusal)
      const read = isRefused
        ? undefined
        : await (resource.read?.(testEngine, refs, resource.idOf(succeeded(answer))) ?? succeeded(answer))
      const shows = shownBy(expects, name, value)
      expect(read === undefined ? {} : resource.membersOf(read)).toMatchObject(resolved(shows, refs))
    })

    test.each(format.ignored === undefined ? [] : verbs)("%s reports an unknown member", async (verb) => {
      const opened = await shared()
      const base = resolved(resource.required(unique(), opened.refs), opened.refs)
      const answer = await write(opened, verb, { ...base, nme: "x" })
      expect([answer.status, format.ignored?.(answer)]).toEqual([expect.toSatisfy((status) => status < 300), ["nme"]])
    })
  })

  const listing = format.resources.flatMap((resource) =>
    resource.readOnly === "all others" ? [] : [{ name: resource.name, resource, readOnly: resource.readOnly }],
  )
  test.each(listing)(
    `[F-W8] ${format.name}: $name: every member of the answer is in the table`,
    async ({ resource, readOnly }) => {
      const { testEngine, refs } = await format.open()
      await using closing = testEngine
      const base = resolved(resource.required("listed", refs), refs)
      const created = succeeded(await resource.create(closing, refs, base))
      const answer = (await resource.read?.(testEngine, refs, resource.idOf(created))) ?? created
      const known = new Set([...resource.members.map(({ name }) => name), ...Object.keys(base), ...readOnly])
      expect(Object.keys(resource.membersOf(answer)).filter((name) => !known.has(name))).toEqual([])
    },
  )
}
