type Parameters = readonly (readonly [name: string, value: string | undefined])[]

export function queryOf(parameters: Parameters): URLSearchParams {
  const query = new URLSearchParams()
  for (const [name, value] of parameters) if (value !== undefined) query.append(name, value)
  return query
}
