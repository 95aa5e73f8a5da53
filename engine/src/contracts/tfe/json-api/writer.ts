// Owner for which a request writes tags, and owners in answers (docs/tag-owners.md). Clients that create their own documents send the owner
// there, other clients in a header. A request may have both if they are equal.
import { type Fault, invalid } from "../../../core/errors.ts"
import { ownerProblem, type Writer } from "../../../core/owner.ts"

const header = "X-Chancery-Owner"
const pointer = "/meta/owner"

/** Reads the owner from the header or from `meta.owner`. Throws `invalid` if it is malformed or the two differ. */
export function decodeWriter(headers: Pick<Headers, "get">, body: unknown): Writer {
  const fromHeader = headers.get(header) ?? undefined
  const fromBody = memberOf(memberOf(body, "meta"), "owner") ?? undefined
  const faults: Fault[] = []
  if (fromHeader !== undefined) faults.push(...problemsOf(fromHeader, header).map((detail) => ({ detail, header })))
  if (fromBody !== undefined) faults.push(...problemsOf(fromBody, "owner").map((detail) => ({ detail, pointer })))
  if (fromHeader !== undefined && fromBody !== undefined && fromHeader !== fromBody && faults.length === 0)
    faults.push({ detail: `meta.owner must equal the value of the header ${header}; send one of them`, pointer })
  if (faults.length > 0) throw invalid(faults)
  const owner = fromHeader ?? fromBody
  return owner === undefined ? {} : { owner: owner as string }
}

function problemsOf(owner: unknown, name: string): readonly string[] {
  if (typeof owner !== "string") return [`${name} must be a string`]
  const problem = ownerProblem(owner)
  return problem === undefined ? [] : [`${name} ${problem}`]
}

const memberOf = (value: unknown, name: string): unknown =>
  typeof value === "object" && value !== null && Object.hasOwn(value, name)
    ? (value as Readonly<Record<string, unknown>>)[name]
    : undefined

/** Adds the owner to a document, the inverse of `decodeWriter`. */
export const encodeWriter = <T extends object>(document: T, { owner }: Writer = {}): T =>
  owner === undefined ? document : { ...document, meta: { owner } }
