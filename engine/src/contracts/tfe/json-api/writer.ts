// In whose name a request writes tags, and whether an answer shows who holds them (docs/tag-owners.md). Clients that send
// documents of their own making say it there, any other can in a header; the same in both is said once.
import { type Fault, invalid } from "../../../core/errors.ts"
import { ownerProblem, type Writer } from "../../../core/owner.ts"

const header = "X-Chancery-Owner"
const pointer = "/meta/owner"

/** Of the header, or of `meta.owner` beside `data`. */
export function decodeWriter(headers: Pick<Headers, "get">, body: unknown): Writer {
  const said = headers.get(header) ?? undefined
  const written = memberOf(memberOf(body, "meta"), "owner") ?? undefined
  const faults: Fault[] = []
  if (said !== undefined) faults.push(...problemsOf(said, header).map((detail) => ({ detail, header })))
  if (written !== undefined) faults.push(...problemsOf(written, "owner").map((detail) => ({ detail, pointer })))
  if (said !== undefined && written !== undefined && said !== written && faults.length === 0)
    faults.push({ detail: `owner must be that of the header ${header} where there is one`, pointer })
  if (faults.length > 0) throw invalid(faults)
  const owner = said ?? written
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

/** The other direction of `decodeWriter`. */
export const encodeWriter = <T extends object>(document: T, { owner }: Writer = {}): T =>
  owner === undefined ? document : { ...document, meta: { owner } }
