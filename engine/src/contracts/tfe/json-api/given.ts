/** The members a document has; those it leaves out are absent, not undefined. */
export type Given<T> = { readonly [Name in keyof T]?: Exclude<T[Name], undefined> }

export const given = <T extends object>(members: T): Given<T> =>
  Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined)) as Given<T>
