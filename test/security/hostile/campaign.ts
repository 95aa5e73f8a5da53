// Attacks on one endpoint: a valid request in which one or several values are wrong.
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
import type { CallerName } from "../permissions/users.ts"
import { prepare } from "../permissions/matrix.ts"
import { preparePki } from "../permissions/pki/matrix.ts"
import type { Attack, Attacked, PkiTarget, Target } from "./attack.ts"
import {
  wrongDocuments,
  wrongPageNumbers,
  wrongPathSegments,
  wrongQueryValues,
  wrongTexts,
  wrongValues,
} from "./hostile-values.ts"
import { type Path, pathsOf, replaced, valueAt, without } from "./members.ts"

/** Has every permission, so that no request is refused before it is parsed. */
const caller: CallerName = "site administrator"

export const validRequest = async ({ testUsers }: Target, endpoint: string): Promise<Valid> =>
  prepare(endpoint, await testUsers.newSubject(), caller)

export const validPkiRequest = async ({ testUsers }: PkiTarget, endpoint: string): Promise<Valid> =>
  preparePki(endpoint, await testUsers.newSubject(), "root")

interface Valid {
  readonly method: string
  readonly address: string
  readonly body: unknown
  /** Used instead of the root token, which the request must not use up. */
  readonly token?: string | undefined
}

/** Returns the request with one member left out or replaced, for every member and every wrong value. */
export function wrongMembers({ body, ...rest }: Valid): Attack[] {
  return pathsOf(body).flatMap((path) => {
    const values = typeof valueAt(body, path) === "string" ? [...wrongValues, ...wrongTexts] : wrongValues
    const bodies = [without(body, path), ...values.map((value) => replaced(body, path, value))]
    return bodies.map((wrong) => ({ ...rest, body: wrong }))
  })
}

export const wrongBodies = (valid: Valid): Attack[] =>
  wrongDocuments.map((body) => ({ ...valid, body: JSON.stringify(body) }))

/** Returns the request with one path parameter replaced, for every parameter and every wrong value. */
export function wrongPaths(endpoint: string, valid: Valid): Attack[] {
  const [path = "", query] = valid.address.split("?")
  const segments = path.split("/")
  // The path of a mount can have several segments.
  const [, ...rest] = (endpoint.split(" ")[1] ?? "").split("/")
  const parts = rest[0] === ":mount" ? rest.slice(1) : rest
  const pattern = [...segments.slice(0, segments.length - parts.length).map(() => ""), ...parts]
  return pattern.flatMap((part, index) =>
    /^[:*]/.test(part)
      ? [...wrongPathSegments, ""].map((wrong) => {
          const changed = segments.with(index, wrong).join("/")
          return { ...valid, address: query === undefined ? changed : `${changed}?${query}` }
        })
      : [],
  )
}

const pkiQueryParameters = ["list", "help", "after", "limit", "activecode", "sealedcode", "standbyok", "name", "path"]

const workspaceQueryParameters = [
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
  "filter[version]",
  "search[version]",
]

export const wrongQueries = (valid: Valid): Attack[] =>
  queriesWith(valid, ["GET"], workspaceQueryParameters, ["page[number]", "page[size]"])

export const wrongPkiQueries = (valid: Valid): Attack[] =>
  queriesWith(valid, ["GET", "LIST", "DELETE"], pkiQueryParameters, ["limit"])

function queriesWith(
  { body: _, ...rest }: Valid,
  methods: readonly string[],
  parameters: readonly string[],
  numbers: readonly string[],
): Attack[] {
  if (!methods.includes(rest.method)) return []
  const [path = "", queryText = ""] = rest.address.split("?")
  const join = (parameter: string, value: string, rest = queryText) =>
    `${path}?${rest === "" ? "" : `${rest}&`}${encodeURIComponent(parameter)}=${value}`
  return [
    ...numbers.flatMap((name) => wrongPageNumbers.map((value) => join(name, value))),
    ...parameters.flatMap((name) => wrongQueryValues.map((value) => join(name, value, ""))),
    `${path}?%00=1&%ZZ=2&=3&&`,
  ].map((wrong) => ({ ...rest, address: wrong }))
}

/** Returns at most `count` attacks, the same ones for the same seed. */
export function sampled<T>(attacks: readonly T[], count: number, seed: number): readonly T[] {
  if (attacks.length <= count) return attacks
  const choice = shuffledSubarray([...attacks], { minLength: count, maxLength: count })
  return sample(choice, { seed, numRuns: 1 })[0] ?? []
}

export async function complaintsOf(target: Attacked, attacks: readonly Attack[]): Promise<string[]> {
  const complaints: string[] = []
  for (const attack of attacks) complaints.push(...(await complain(target, attack)))
  return complaints
}

async function complain(target: Attacked, attack: Attack): Promise<string[]> {
  const sent = typeof attack.body === "string" ? attack.body : JSON.stringify(attack.body)
  const { complaints } = await target.attack(attack)
  return complaints.map(
    (complaint) => `${attack.method} ${attack.address.slice(0, 200)} ${sent?.slice(0, 300) ?? ""}: ${complaint}`,
  )
}

/** Replaces, leaves out or adds several members of a valid request at random. Throws an error that describes the first bad answer. */
export async function mutate(
  target: Attacked,
  newRequest: () => Promise<Valid>,
  { runs, seed }: { readonly runs: number; readonly seed: number },
): Promise<void> {
  let valid = await newRequest()
  if (valid.body === undefined) return
  const run = async (mutations: readonly Mutation[]) => {
    const body = mutations.reduce(mutated, valid.body)
    const { complaints, status } = await target.attack({ ...valid, body })
    // A successful request may have used up the record that it is about.
    if (status < 400) valid = await newRequest()
    if (complaints.length > 0)
      throw new Error(
        `${valid.method} ${valid.address} ${JSON.stringify(body).slice(0, 500)}: ${complaints.join("; ")}`,
      )
  }
  await assert(asyncProperty(mutations, run), { seed, numRuns: runs, endOnFailure: true })
}

interface Mutation {
  readonly kind: "replace" | "remove" | "add"
  /** Index into the paths of the document, modulo their number. */
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
  if (holder.length === 0) return document
  // Elements of an array have no names.
  const list = valueAt(document, holder)
  return replaced(document, [...holder, Array.isArray(list) ? list.length : name], value)
}

const texts = oneof(
  constantFrom(...wrongTexts.filter((text) => text.length < 10_000)),
  string({ unit: "binary", maxLength: 30 }),
  string({ maxLength: 10 }),
)
/** Member names that some endpoint accepts, so that they turn up at endpoints where they do not belong. */
const names = oneof(
  constantFrom(
    ..."type id name value key attributes relationships data access email username expired-at description".split(" "),
    ..."execution-mode operations agent-pool-id setting-overwrites vcs-repo trigger-patterns trigger-prefixes".split(
      " ",
    ),
    ..."auto-destroy-at auto-destroy-activity-duration engine-version global-remote-state file-triggers-enabled".split(
      " ",
    ),
    ..."ttl max_ttl allowed_domains key_type key_bits policy policies config token accessor paths from to".split(" "),
    ..."common_name alt_names ip_sans uri_sans other_sans csr format not_after serial_number pem_bundle".split(" "),
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
