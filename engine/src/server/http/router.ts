// Finds a route by the segments of an address, for both APIs. Why no framework's router: docs/decisions/router.md.

export interface Found<Route, Key extends string = string> {
  /** `/issue/:name` */
  readonly pattern: string
  /** `/v1/:mount/issue/:name`: what metrics and traces know the address by. */
  readonly address: string
  /** Every route of the address, by method or operation. */
  readonly routes: ReadonlyMap<Key, Route>
  readonly params: Readonly<Record<string, string>>
}

/** `segments` as they stand in the address. */
export interface FindRoute<Route, Key extends string = string> {
  (segments: readonly string[]): Found<Route, Key> | undefined
  /** What there is further down. */
  readonly below: (segments: readonly string[]) => readonly Omit<Found<Route, Key>, "params">[]
}

export interface RoutedPath {
  /**
   * Literal segments, `:name` for one of any text, and at most one `*name` for any number of them. A literal goes before `:name`, and
   * that before `*name`.
   */
  readonly path: string
  /** A last `*name` is left as it stands in the address. */
  readonly raw?: true
}

export interface RouterOptions<Route, Key extends string> {
  /** Returns what tells routes of one path apart: the method, or the operation. */
  readonly key: (route: Route) => Key
  /** Stands before every pattern in metrics and traces. */
  readonly above?: string
  /** Decodes a segment that is a parameter. An address of which it returns undefined for one is not found. Default: `decoded`. */
  readonly decode?: (segment: string) => string | undefined
}

interface Node<Route, Key extends string> {
  readonly literals: Map<string, Node<Route, Key>>
  anySegment: Node<Route, Key> | undefined
  /** Patterns with `*name` here; what must follow it, longest first. */
  readonly rests: { readonly after: readonly string[]; readonly end: End<Route, Key> }[]
  end: End<Route, Key> | undefined
}

interface End<Route, Key extends string> {
  readonly pattern: string
  readonly address: string
  /** Its segments. */
  readonly parts: readonly string[]
  readonly raw: boolean
  readonly routes: Map<Key, Route>
}

const newNode = <Route, Key extends string>(): Node<Route, Key> => ({
  literals: new Map(),
  anySegment: undefined,
  rests: [],
  end: undefined,
})

export function routerOf<Route extends RoutedPath, Key extends string>(
  routes: readonly Route[],
  { key, above = "", decode = decoded }: RouterOptions<Route, Key>,
): FindRoute<Route, Key> {
  const root = newNode<Route, Key>()
  const ends = new Map<string, End<Route, Key>>()
  for (const route of routes) {
    // Patterns that differ in the names of their parameters alone are two, and clash.
    const end = ends.get(route.path) ?? endAt(root, route, above)
    ends.set(route.path, end)
    if (end.routes.has(key(route))) throw new Error(`two routes ${key(route)} ${route.path}`)
    end.routes.set(key(route), route)
  }
  const find = (segments: readonly string[]) => {
    const found = walk(root, segments, 0)
    return found && foundAt(found, segments, decode)
  }
  const below = (segments: readonly string[]) =>
    [...ends.values()].filter(({ pattern }) => liesBelow(pattern.slice(1).split("/"), segments))
  return Object.assign(find, { below })
}

const liesBelow = (parts: readonly string[], segments: readonly string[]): boolean =>
  parts.length > segments.length &&
  segments.every((segment, index) => parts[index]?.startsWith(":") === true || parts[index] === segment)

function endAt<Route, Key extends string>(
  root: Node<Route, Key>,
  { path, raw }: RoutedPath,
  above: string,
): End<Route, Key> {
  const parts = path.slice(1).split("/")
  const end: End<Route, Key> = {
    pattern: path,
    address: `${above}${path}`,
    parts,
    raw: raw === true,
    routes: new Map(),
  }
  let node = root
  for (const [index, part] of parts.entries()) {
    if (part.startsWith("*")) {
      node.rests.push({ after: parts.slice(index + 1), end })
      node.rests.sort((one, other) => other.after.length - one.after.length)
      return end
    }
    if (part.startsWith(":")) node = node.anySegment ??= newNode()
    else {
      const next = node.literals.get(part) ?? newNode<Route, Key>()
      node.literals.set(part, next)
      node = next
    }
  }
  if (node.end !== undefined) throw new Error(`${path} and ${node.end.pattern} are one address`)
  node.end = end
  return end
}

/** As deep as the longest pattern, and no deeper, however long the address. */
function walk<Route, Key extends string>(
  node: Node<Route, Key>,
  segments: readonly string[],
  depth: number,
): End<Route, Key> | undefined {
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

function foundAt<Route, Key extends string>(
  end: End<Route, Key>,
  segments: readonly string[],
  decode: (segment: string) => string | undefined,
): Found<Route, Key> | undefined {
  const params: Record<string, string> = {}
  const { parts } = end
  for (let index = 0; index < parts.length; index += 1) {
    const part = parts[index] ?? ""
    const name = part.slice(1)
    if (part.startsWith("*")) {
      const rest = segments.slice(index, segments.length - (parts.length - 1 - index)).join("/")
      const value = end.raw ? rest : decode(rest)
      if (value === undefined) return undefined
      params[name] = value
      break
    }
    if (!part.startsWith(":")) continue
    const value = decode(segments[index] ?? "")
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

/** Returns a segment that is no text as it was sent. */
export function decodedOrAsSent(segment: string): string {
  if (!segment.includes("%")) return segment
  try {
    return decodeURIComponent(segment)
  } catch {
    return segment
  }
}
