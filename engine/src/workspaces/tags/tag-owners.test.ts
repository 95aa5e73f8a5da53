import { array, assert, constantFrom, oneof, property, record, constant, uniqueArray } from "fast-check"
import { describe, expect, test } from "vitest"
import {
  addFlatAs,
  bindAs,
  type OwnedBinding,
  type OwnershipPlan,
  maxOwners,
  rejectPlan,
  removeFlatAs,
  replaceAllAs,
  replaceAs,
} from "./tag-owners.ts"
import type { Binding } from "./tag-binding.ts"

const prefix = ["data"]

/** Parses bindings: "env=prod@a,b" is owned by a and b, "net" is a flat tag without owners, "net=" an empty binding, "net&" both. */
const held = (text: string): OwnedBinding[] =>
  text.split(" ").flatMap((word) => {
    if (word === "") return []
    const [binding = "", owners] = word.split("@")
    const [key = "", value = ""] = binding.replace("&", "").split("=")
    const views = { isTag: !binding.includes("="), isBinding: /[=&]/.test(binding) }
    return [{ key, value, ...views, owners: owners === undefined ? [] : owners.split(",") }]
  })
const plain = (text: string): Binding[] => held(text).map(({ key, value }) => ({ key, value }))
const told = (bindings: readonly OwnedBinding[]): string =>
  bindings
    .map(({ key, value, isTag, isBinding, owners }) => {
      const binding = isBinding ? `${key}${isTag ? "&" : `=${value}`}` : key
      return owners.length === 0 ? binding : `${binding}@${owners.join(",")}`
    })
    .join(" ")

type Verb = "add" | "remove" | "bind" | "replace" | "replace all"
const verbs: Readonly<
  Record<Verb, (owner: string | undefined, present: OwnedBinding[], given: string) => OwnershipPlan>
> = {
  add: (owner, present, given) =>
    addFlatAs(
      owner,
      present,
      plain(given).map(({ key }) => key),
      prefix,
    ),
  remove: (owner, present, given) =>
    removeFlatAs(
      owner,
      present,
      plain(given).map(({ key }) => key),
    ),
  bind: (owner, present, given) => bindAs(owner, present, plain(given), prefix),
  replace: (owner, present, given) => replaceAs(owner, present, plain(given), prefix),
  "replace all": (owner, present, given) => replaceAllAs(owner, present, plain(given), prefix),
}

interface Case {
  readonly verb: Verb
  readonly given: string
  readonly present: string
  readonly after: string
}

describe("a write by an owner", () => {
  test.each<Case>([
    { verb: "add", given: "t", present: "", after: "t@me" },
    { verb: "add", given: "t", present: "t", after: "t@me" },
    { verb: "add", given: "T", present: "t", after: "t@me" },
    { verb: "add", given: "t", present: "t@me", after: "t@me" },
    { verb: "add", given: "t", present: "t@it,me", after: "t@it,me" },
    { verb: "add", given: "t", present: "t@it", after: "t@it,me" },
    { verb: "add", given: "T", present: "t@you", after: "t@me,you" },
    { verb: "add", given: "t", present: "u w=1@it", after: "u w=1@it t@me" },
    { verb: "add", given: "t", present: "t=@it", after: "t&@it,me" },

    { verb: "remove", given: "t", present: "", after: "" },
    { verb: "remove", given: "t", present: "t", after: "" },
    { verb: "remove", given: "T", present: "t@me", after: "" },
    { verb: "remove", given: "t", present: "t@it,me", after: "t@it" },
    { verb: "remove", given: "t", present: "t@it", after: "t@it" },
    { verb: "remove", given: "k", present: "k=v@me", after: "k=v@me" },
    { verb: "remove", given: "t", present: "t&@me", after: "t=@me" },
    { verb: "remove", given: "t", present: "t=@me", after: "t=@me" },

    { verb: "bind", given: "k=v", present: "", after: "k=v@me" },
    { verb: "bind", given: "k=v", present: "k=v", after: "k=v@me" },
    { verb: "bind", given: "k=w", present: "k=v", after: "k=w@me" },
    { verb: "bind", given: "k=w", present: "k=v@me", after: "k=w@me" },
    { verb: "bind", given: "K=v", present: "k=v@me", after: "K=v@me" },
    { verb: "bind", given: "k=v", present: "k=v@it", after: "k=v@it,me" },
    { verb: "bind", given: "k=v", present: "k=v@it,me", after: "k=v@it,me" },
    { verb: "bind", given: "t", present: "t@it", after: "t&@it,me" },
    { verb: "bind", given: "t", present: "", after: "t=@me" },
    { verb: "bind", given: "t=v", present: "t@me", after: "t=v@me" },
    { verb: "bind", given: "k=v", present: "l=1@me m=1", after: "l=1@me m=1 k=v@me" },

    { verb: "replace", given: "", present: "a=1 b=1@me c=1@it,me d=1@it", after: "a=1 c=1@it d=1@it" },
    { verb: "replace", given: "", present: "t@me u w=1@it", after: "t@me u w=1@it" },
    { verb: "replace", given: "k=w", present: "k=v@me l=1@me", after: "k=w@me" },
    { verb: "replace", given: "k=v l=1", present: "k=v@it l=1", after: "k=v@it,me l=1@me" },
    { verb: "replace", given: "", present: "t&@me u=@me", after: "t@me" },
    { verb: "replace all", given: "k=v", present: "t=@me u=@it v= k=v@it", after: "u=@it v= k=v@it,me" },
  ])("$verb [$given] makes [$after] of [$present]", ({ verb, given, present, after }) => {
    const plan = verbs[verb]("me", held(present), given)
    expect(told(plan.bindings)).toBe(after)
    expect([plan.faults, plan.conflicts]).toEqual([[], []])
  })

  test.each<Omit<Case, "after"> & { readonly detail: string }>([
    { verb: "bind", given: "k=w", present: "k=v@it", detail: "Tag k=v is owned by it; me cannot change it to k=w" },
    { verb: "bind", given: "k=w", present: "k=v@it,me", detail: "Tag k=v is owned by it; me cannot change it to k=w" },
    {
      verb: "bind",
      given: "k=w",
      present: "k=v@it,you",
      detail: "Tag k=v is owned by it, you; me cannot change it to k=w",
    },
    { verb: "bind", given: "K=v", present: "k=v@it", detail: "Tag k=v is owned by it; me cannot change it to K=v" },
    { verb: "bind", given: "k", present: "k=v@it", detail: "Tag k=v is owned by it; me cannot change it to k" },
    { verb: "bind", given: "t=v", present: "t@it", detail: "Tag t is owned by it; me cannot change it to t=v" },
    { verb: "replace", given: "k=w", present: "k=v@it", detail: "Tag k=v is owned by it; me cannot change it to k=w" },
    {
      verb: "replace all",
      given: "k=w",
      present: "k=v@it",
      detail: "Tag k=v is owned by it; me cannot change it to k=w",
    },
  ])("$verb [$given] is rejected for [$present]", ({ verb, given, present, detail }) => {
    const plan = verbs[verb]("me", held(present), given)
    expect(plan.conflicts).toEqual([{ field: ["data", 0, "value"], detail }])
    expect(() => rejectPlan(plan)).toThrow(detail)
  })

  test("rejects an added flat tag whose key has a value, for any owner", () => {
    for (const present of ["k=v", "k=v@me", "k=v@it"]) {
      const { faults } = addFlatAs("me", held(present), ["k"], prefix)
      expect(faults).toMatchObject([{ field: ["data", 0, "name"] }])
    }
  })

  test("reports all conflicts at once, after the faults", () => {
    const plan = bindAs("me", held("a=1@it b=1@it"), plain("a=2 b=2 c!=1"), prefix)
    expect(plan.conflicts.map(({ field }) => field?.[1])).toEqual([0, 1])
    expect(() => rejectPlan(plan)).toThrow("Key can only include")
    expect(() => rejectPlan({ ...plan, faults: [] })).toThrow(/a=1 is owned by it.*; .*b=1 is owned by it/)
  })

  test(`keeps one of ${maxOwners} owners and rejects another`, () => {
    const owners = Array.from({ length: maxOwners }, (_, index) => `o${index}`)
    for (const present of [
      { key: "t", value: "", isTag: true, isBinding: false, owners },
      { key: "t", value: "v", isTag: false, isBinding: true, owners },
    ]) {
      const write = (owner: string) =>
        present.value === "" ? addFlatAs(owner, [present], ["t"], prefix) : bindAs(owner, [present], [present], prefix)
      expect(write("o3")).toMatchObject({ bindings: [present], conflicts: [] })
      expect(write("me").conflicts).toMatchObject([{ detail: expect.stringContaining("has 32 owners") }])
    }
  })

  test("counts bindings of other owners toward the ten with a value", () => {
    const ten = Array.from({ length: 10 }, (_, index) => `k${index}=v@it`).join(" ")
    for (const verb of ["bind", "replace", "replace all"] as const)
      expect(verbs[verb]("me", held(ten), "l=v").faults).toMatchObject([
        { detail: expect.stringContaining("cannot exceed 10") },
      ])
  })
})

describe("a write without an owner", () => {
  test.each<Case>([
    { verb: "add", given: "t u", present: "t@it", after: "t@it u" },
    { verb: "remove", given: "t", present: "t@it,me", after: "" },
    { verb: "bind", given: "k=w l=1", present: "k=v@it", after: "k=w@it l=1" },
    { verb: "replace", given: "l=1", present: "k=v@it t@it l=1@it,me", after: "t@it l=1@it,me" },
    { verb: "replace all", given: "l=1", present: "k=v@it t=@it", after: "l=1" },
  ])("$verb [$given] changes [$present] as for any client: [$after]", ({ verb, given, present, after }) => {
    const plan = verbs[verb](undefined, held(present), given)
    expect(told(plan.bindings)).toBe(after)
    expect([plan.faults, plan.conflicts]).toEqual([[], []])
  })
})

const viewsOf = (value: string) => ({ isTag: value === "", isBinding: value !== "" })

describe("writes of several owners", () => {
  const owner = constantFrom("a", "b", "c")
  const key = constantFrom("k", "K", "l", "m", "n")
  const binding = record({ key, value: constantFrom("", "1", "2") })
  const fold = ({ key }: Binding) => key.toLowerCase()
  const write = record({
    owner,
    verb: constantFrom<Verb>("add", "remove", "bind", "replace", "replace all"),
    given: uniqueArray(binding, { selector: fold, maxLength: 4 }),
  })
  const present = uniqueArray(
    record({ key, value: constantFrom("", "1", "2"), owners: oneof(constant([]), uniqueArray(owner)) }),
    { selector: fold },
  ).map((bindings) => bindings.map((one) => ({ ...one, ...viewsOf(one.value), owners: one.owners.toSorted() })))
  /** Bindings of a project, which has no flat tags. */
  const bindingsOnly = present.map((bindings) => bindings.map((one) => ({ ...one, isTag: false, isBinding: true })))
  const written = (bindings: readonly Binding[]) =>
    bindings.map(({ key, value }) => (value === "" ? key : `${key}=${value}`)).join(" ")

  test("keep the tags and owners of other writers", () => {
    assert(
      property(present, array(write, { maxLength: 12 }), (before, writes) => {
        let bindings: readonly OwnedBinding[] = before
        for (const { owner, verb, given } of writes) {
          const plan = verbs[verb](owner, [...bindings], written(given))
          if (plan.faults.length + plan.conflicts.length > 0) continue
          const after = new Map(plan.bindings.map((one) => [fold(one), one]))
          for (const { key, value, owners } of bindings) {
            const others = owners.filter((one) => one !== owner)
            if (others.length === 0) continue
            const kept = after.get(key.toLowerCase())
            expect(kept).toMatchObject({ key, value })
            expect(kept?.owners.filter((one) => one !== owner)).toEqual(others)
          }
          for (const { owners } of plan.bindings) expect(owners).toEqual([...new Set(owners)].toSorted())
          bindings = plan.bindings
        }
      }),
    )
  })

  test("leave the owner exactly the tags of its replacement", () => {
    assert(
      property(bindingsOnly, owner, uniqueArray(binding, { selector: fold, maxLength: 4 }), (before, owner, given) => {
        const plan = replaceAllAs(owner, before, given, prefix)
        if (plan.faults.length + plan.conflicts.length > 0) return
        const mine = plan.bindings.filter(({ owners }) => owners.includes(owner))
        expect(mine.map(fold).toSorted()).toEqual(given.map(fold).toSorted())
        const again = replaceAllAs(owner, plan.bindings, given, prefix)
        expect(again.bindings).toEqual(plan.bindings)
      }),
    )
  })
})
