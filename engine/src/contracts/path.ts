type ParameterOf<Segment> = Segment extends `${":" | "*"}${string}` ? [string] : []
/** One string for each parameter of a path such as `/teams/:team_id`; a last `*path` has several segments. */
export type PathOf<Path> = Path extends `/${infer Segment}/${infer Rest}`
  ? [...ParameterOf<Segment>, ...PathOf<`/${Rest}`>]
  : Path extends `/${infer Segment}`
    ? ParameterOf<Segment>
    : []

export const pathParameters = (path: string): readonly string[] =>
  [...path.matchAll(/[:*](\w+)/g)].map(([, name = ""]) => name)
