/** One string for each parameter of a path such as `/teams/:team_id`. */
export type PathOf<Path> = Path extends `${string}:${string}/${infer Rest}`
  ? [string, ...PathOf<`/${Rest}`>]
  : Path extends `${string}:${string}`
    ? [string]
    : []

export const pathParameters = (path: string): readonly string[] =>
  [...path.matchAll(/:(\w+)/g)].map(([, name = ""]) => name)
