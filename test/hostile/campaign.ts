// What is sent to one endpoint: a valid request, in which one thing or several are as they should not be.
import {
  array,
  assert,
  asyncProperty,
  constantFrom,
  jsonValue,
  nat,
  oneof,
  record,
  sample,
  shuffledSubarray,
  string,
} from "fast-check"
import type { CallerName } from "../permissions/cast.ts"
import { prepare } from "../permissions/matrix.ts"
import type { Attack, Target } from "./attack.ts"
import {
  wrongDocuments,
  wrongPageNumbers,
  wrongPathSegments,
  wrongQueryValues,
  wrongTexts,
  wrongValues,
} from "./hostile-values.ts"
import { type Path, pathsOf, replaced, valueAt, without } from "./members.ts"

/** Nothing is refused for want of a right, so that everything is read. */
const caller: CallerName = "site administrator"

export const validRequest = async ({ cast }: Target, endpoint: string) =>
  prepare(endpoint, await cast.newSubject(), caller)

type Valid = Awaited<ReturnType<typeof validRequest>>

/** The document with one member left out or replaced, for every member and every wrong value. */
export function wrongMembers({ method, address, body }: Valid): Attack[] {
  return pathsOf(body).flatMap((path) => {
    const values = typeof valueAt(body, path) === "string" ? [...wrongValues, ...wrongTexts] : wrongValues
    const bodies = [without(body, path), ...values.map((value) => replaced(body, path, value))]
    return bodies.map((wrong) => ({ method, address, body: wrong }))
  })
}

export const wrongBodies = ({ method, address }: Valid): Attack[] =>
  wrongDocuments.map((body) => ({ method, address, body: JSON.stringify(body) }))

/** Each parameter of the path replaced, for every wrong value. */
export function wrongPaths(endpoint: string, { method, address, body }: Valid): Attack[] {
  const pattern = (endpoint.split(" ")[1] ?? "").split("/")
  const [path = "", query] = address.split("?")
  const segments = path.split("/")
  return pattern.flatMap((part, index) =>
    part.startsWith(":")
      ? [...wrongPathSegments, ""].map((wrong) => {
          const changed = segments.with(index, wrong).join("/")
          return { method, address: query === undefined ? changed : `${changed}?${query}`, body }
        })
      : [],
  )
}

const queryParameters = [
  "q",
  "include",
  "sort",
  "search[name]",
  "search[tags]",
  "search[exclude-tags]",
  "search[wildcard-name]",
  "filter[project][id]",
  "filter[current-run][status]",
  "filter[tagged][0][key]",
  "filter[tagged][0][value]",
  "filter[tagged][x][key]",
  "filter[status]",
  "filter[names]",
  "filter[email]",
  "filter[exclude][taggable][id]",
  "filter[organization][name]",
  "filter[workspace][name]",
  "filter[workspace][id]",
]

export function wrongQueries({ method, address }: Valid): Attack[] {
  if (method !== "GET") return []
  const [path = "", given = ""] = address.split("?")
  const join = (parameter: string, value: string, rest = given) =>
    `${path}?${rest === "" ? "" : `${rest}&`}${encodeURIComponent(parameter)}=${value}`
  return [
    ...["page[number]", "page[size]"].flatMap((name) => wrongPageNumbers.map((value) => join(name, value))),
    ...queryParameters.flatMap((name) => wrongQueryValues.map((value) => join(name, value, ""))),
    `${path}?%00=1&%ZZ=2&=3&&`,
  ].map((wrong) => ({ method, address: wrong }))
}

/** The same choice every time for the same seed. */
export function sampled<T>(attacks: readonly T[], count: number, seed: number): readonly T[] {
  if (attacks.length <= count) return attacks
  const choice = shuffledSubarray([...attacks], { minLength: count, maxLength: count })
  return sample(choice, { seed, numRuns: 1 })[0] ?? []
}

export async function complaintsOf(target: Target, attacks: readonly Attack[]): Promise<string[]> {
  const complaints: string[] = []
  for (const attack of attacks) complaints.push(...(await complain(target, attack)))
  return complaints
}

async function complain(target: Target, attack: Attack): Promise<string[]> {
  const sent = typeof attack.body === "string" ? attack.body : JSON.stringify(attack.body)
  const { complaints } = await target.attack(attack)
  return complaints.map(
    (complaint) => `${attack.method} ${attack.address.slice(0, 200)} ${sent?.slice(0, 300) ?? ""}: ${complaint}`,
  )
}

/** Several members of a valid request replaced, left out or added at random. */
export async function mutate(
  target: Target,
  endpoint: string,
  { runs, seed }: { readonly runs: number; readonly seed: number },
): Promise<void> {
  let valid = await validRequest(target, endpoint)
  if (valid.body === undefined) return
  const run = async (mutations: readonly Mutation[]) => {
    const body = mutations.reduce(mutated, valid.body)
    const { complaints, status } = await target.attack({ method: valid.method, address: valid.address, body })
    // What was carried out may have used up what the request was about.
    if (status < 400) valid = await validRequest(target, endpoint)
    if (complaints.length > 0)
      throw new Error(`${endpoint} ${JSON.stringify(body).slice(0, 500)}: ${complaints.join("; ")}`)
  }
  await assert(asyncProperty(mutations, run), { seed, numRuns: runs, endOnFailure: true })
}

interface Mutation {
  readonly kind: "replace" | "remove" | "add"
  /** Which of the document's members, modulo their number. */
  readonly at: number
  readonly name: string
  readonly value: unknown
}

function mutated(document: unknown, { kind, at, name, value }: Mutation): unknown {
  const paths = pathsOf(document)
  const path: Path = paths[at % Math.max(paths.length, 1)] ?? []
  if (path.length === 0) return document
  if (kind === "replace") return replaced(document, path, value)
  if (kind === "remove") return without(document, path)
  const holder = typeof valueAt(document, path) === "object" ? path : path.slice(0, -1)
  return holder.length === 0 ? document : replaced(document, [...holder, name], value)
}

const texts = oneof(
  constantFrom(...wrongTexts.filter((text) => text.length < 10_000)),
  string({ unit: "binary", maxLength: 30 }),
  string({ maxLength: 10 }),
)
/** Members that some endpoint knows, so that they meet where they do not belong together. */
const names = oneof(
  constantFrom(
    ..."type id name value key attributes relationships data access email username expired-at description".split(" "),
    ..."execution-mode operations agent-pool-id setting-overwrites vcs-repo trigger-patterns trigger-prefixes".split(
      " ",
    ),
    ..."auto-destroy-at auto-destroy-activity-duration engine-version global-remote-state file-triggers-enabled".split(
      " ",
    ),
    ..."project tag-bindings tags workspace team teams run status state md5 serial lineage readme force __proto__".split(
      " ",
    ),
  ),
  texts,
)
const mutations = array(
  record<Mutation>({
    kind: constantFrom("replace", "replace", "add", "remove"),
    at: nat(200),
    name: names,
    value: oneof(texts, constantFrom(...wrongValues), jsonValue({ maxDepth: 3 })),
  }),
  { minLength: 1, maxLength: 3 },
)
