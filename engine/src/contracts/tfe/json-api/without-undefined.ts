/** Members of a document: those that it omits are absent, not undefined. */
export type WithoutUndefined<T> = { readonly [Name in keyof T]?: Exclude<T[Name], undefined> }

export const withoutUndefined = <T extends object>(members: T): WithoutUndefined<T> =>
  Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined)) as WithoutUndefined<T>
