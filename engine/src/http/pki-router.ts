// Finds an endpoint by the segments of an address. Not by a web framework's router: which of two patterns counts must not depend
// on the order of tables, and base64 in an address, with its empty segments, must arrive as it was sent (pki-facts 2.11).
import type { ApiRoute, Operation } from "./pki-route.ts"

export interface Found<Request> {
  /** `/issue/:name` */
  readonly pattern: string
  /** `/v1/:mount/issue/:name`: what metrics and traces know the address by. */
  readonly address: string
  /** Every operation that the address has. */
  readonly routes: ReadonlyMap<Operation, ApiRoute<Request>>
  readonly params: Readonly<Record<string, string>>
}

/** `segments` as they stand in the address. */
export interface FindRoute<Request> {
  (segments: readonly string[]): Found<Request> | undefined
  /** What there is further down. */
  readonly below: (segments: readonly string[]) => readonly Omit<Found<Request>, "params">[]
}

interface Node<Request> {
  readonly literals: Map<string, Node<Request>>
  anySegment: Node<Request> | undefined
  /** Patterns with `*name` here; what must follow it, longest first. */
  readonly rests: { readonly after: readonly string[]; readonly end: End<Request> }[]
  end: End<Request> | undefined
}

interface End<Request> {
  readonly pattern: string
  readonly address: string
  /** Its segments. */
  readonly parts: readonly string[]
  readonly raw: boolean
  readonly routes: Map<Operation, ApiRoute<Request>>
}

const newNode = <Request>(): Node<Request> => ({
  literals: new Map(),
  anySegment: undefined,
  rests: [],
  end: undefined,
})

/** `above` stands before every pattern in metrics and traces. */
export function routerOf<Request>(routes: readonly ApiRoute<Request>[], above = ""): FindRoute<Request> {
  const root = newNode<Request>()
  const ends = new Map<string, End<Request>>()
  for (const route of routes) {
    // Patterns that differ in the names of their parameters alone are two, and clash.
    const end = ends.get(route.path) ?? endAt(root, route, above)
    ends.set(route.path, end)
    if (end.routes.has(route.operation)) throw new Error(`two routes ${route.operation} ${route.path}`)
    end.routes.set(route.operation, route)
  }
  const find = (segments: readonly string[]) => {
    const found = walk(root, segments, 0)
    return found && foundAt(found, segments)
  }
  const below = (segments: readonly string[]) =>
    [...ends.values()].filter(({ pattern }) => liesBelow(pattern.slice(1).split("/"), segments))
  return Object.assign(find, { below })
}

const liesBelow = (parts: readonly string[], segments: readonly string[]): boolean =>
  parts.length > segments.length &&
  segments.every((segment, index) => parts[index]?.startsWith(":") === true || parts[index] === segment)

function endAt<Request>(root: Node<Request>, { path, raw }: ApiRoute<Request>, above: string): End<Request> {
  const parts = path.slice(1).split("/")
  const end: End<Request> = { pattern: path, address: `${above}${path}`, parts, raw: raw === true, routes: new Map() }
  let node = root
  for (const [index, part] of parts.entries()) {
    if (part.startsWith("*")) {
      node.rests.push({ after: parts.slice(index + 1), end })
      node.rests.sort((one, other) => other.after.length - one.after.length)
      return end
    }
    if (part.startsWith(":")) node = node.anySegment ??= newNode()
    else {
      const next = node.literals.get(part) ?? newNode<Request>()
      node.literals.set(part, next)
      node = next
    }
  }
  if (node.end !== undefined) throw new Error(`${path} and ${node.end.pattern} are one address`)
  node.end = end
  return end
}

/** As deep as the longest pattern, and no deeper, however long the address. */
function walk<Request>(node: Node<Request>, segments: readonly string[], depth: number): End<Request> | undefined {
  const segment = segments[depth]
  if (segment === undefined) return node.end
  // What is nowhere a name of its own is mostly one that nobody has asked for before, which a map is slow to miss.
  const literal = node.literals.size === 0 ? undefined : node.literals.get(decoded(segment) ?? segment)
  const found = literal && walk(literal, segments, depth + 1)
  if (found !== undefined) return found
  const any = node.anySegment && segment !== "" && walk(node.anySegment, segments, depth + 1)
  if (any) return any
  return node.rests.find(({ after }) => endsWith(segments, after, depth))?.end
}

const endsWith = (segments: readonly string[], after: readonly string[], depth: number): boolean =>
  segments.length > depth + after.length &&
  after.every((part, index) => segments[segments.length - after.length + index] === part)

function foundAt<Request>(end: End<Request>, segments: readonly string[]): Found<Request> | undefined {
  const params: Record<string, string> = {}
  const { parts } = end
  for (let index = 0; index < parts.length; index += 1) {
    const part = parts[index] ?? ""
    const name = part.slice(1)
    if (part.startsWith("*")) {
      const rest = segments.slice(index, segments.length - (parts.length - 1 - index)).join("/")
      const value = end.raw ? rest : decoded(rest)
      if (value === undefined) return undefined
      params[name] = value
      break
    }
    if (!part.startsWith(":")) continue
    const value = decoded(segments[index] ?? "")
    if (value === undefined) return undefined
    params[name] = value
  }
  return { pattern: end.pattern, address: end.address, routes: end.routes, params }
}

/** Undefined for what is no text, or text that nothing is called. */
export function decoded(segment: string): string | undefined {
  if (!segment.includes("%")) return segment
  try {
    const text = decodeURIComponent(segment)
    return text.includes("\0") ? undefined : text
  } catch {
    return undefined
  }
}
