// Finds a route by path segments, for both APIs. Why no framework's router: docs/decisions/router.md.

export interface Found<Route, Key extends string = string> {
  /** `/issue/:name` */
  readonly pattern: string
  /** Label of metrics and traces, such as `/v1/:mount/issue/:name`. */
  readonly address: string
  /** All routes of the path, by method or operation. */
  readonly routes: ReadonlyMap<Key, Route>
  readonly params: Readonly<Record<string, string>>
}

/** Finds a route. `segments` are not percent-decoded. */
export interface FindRoute<Route, Key extends string = string> {
  (segments: readonly string[]): Found<Route, Key> | undefined
  /** Returns the routes below the given segments. */
  readonly below: (segments: readonly string[]) => readonly Omit<Found<Route, Key>, "params">[]
}

export interface RoutedPath {
  /**
   * Pattern of literal segments, `:name` for one arbitrary segment, and at most one `*name` for one or more. A literal has precedence over
   * `:name`, and `:name` over `*name`.
   */
  readonly path: string
  /** The `*name` parameter is not decoded. */
  readonly raw?: true
}

export interface RouterOptions<Route, Key extends string> {
  /** Returns the key that distinguishes routes of one path: the method or the operation. */
  readonly key: (route: Route) => Key
  /** Prefix of every pattern in metrics and traces. */
  readonly above?: string
  /** Decodes a parameter. A path for which it returns undefined is not found. Default: `decoded`. */
  readonly decode?: (segment: string) => string | undefined
}

interface Node<Route, Key extends string> {
  readonly literals: Map<string, Node<Route, Key>>
  anySegment: Node<Route, Key> | undefined
  /** Patterns whose `*name` begins here, with the segments that must follow; longest first. */
  readonly rests: { readonly after: readonly string[]; readonly end: End<Route, Key> }[]
  end: End<Route, Key> | undefined
}

interface End<Route, Key extends string> {
  readonly pattern: string
  readonly address: string
  /** Segments of the pattern. */
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

/** Returns a function that finds routes. Throws `Error` if two routes have the same key and path, or conflicting patterns. */
export function routerOf<Route extends RoutedPath, Key extends string>(
  routes: readonly Route[],
  { key, above = "", decode = decoded }: RouterOptions<Route, Key>,
): FindRoute<Route, Key> {
  const root = newNode<Route, Key>()
  const ends = new Map<string, End<Route, Key>>()
  for (const route of routes) {
    // Patterns that differ only in parameter names are distinct keys here; `endAt` rejects them as a conflict.
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

/** Walks the tree. The recursion is as deep as the longest pattern, however long the path. */
function walk<Route, Key extends string>(
  node: Node<Route, Key>,
  segments: readonly string[],
  depth: number,
): End<Route, Key> | undefined {
  const segment = segments[depth]
  if (segment === undefined) return node.end
  // Nodes without literals skip the lookup: their segments are mostly new strings, for which a failed map lookup is slow.
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

/** Decodes a segment. Returns undefined for invalid percent-encoding, and for U+0000, which no name contains. */
export function decoded(segment: string): string | undefined {
  if (!segment.includes("%")) return segment
  try {
    const text = decodeURIComponent(segment)
    return text.includes("\0") ? undefined : text
  } catch {
    return undefined
  }
}

/** Decodes a segment. Returns it unchanged if its percent-encoding is invalid. */
export function decodedOrAsSent(segment: string): string {
  if (!segment.includes("%")) return segment
  try {
    return decodeURIComponent(segment)
  } catch {
    return segment
  }
}
