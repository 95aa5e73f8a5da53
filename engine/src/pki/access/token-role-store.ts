import type { NamedTokenRole, TokenRole } from "./token-role.ts"

export interface TokenRoleRepository {
  /** In order, those behind `after`, at most `limit`. */
  names(page: { readonly after: string; readonly limit: number }): Promise<readonly string[]>
  find(name: string): Promise<TokenRole | undefined>
  /** Instead of the role of that name, if there is one. */
  save(role: NamedTokenRole): Promise<void>
  remove(name: string): Promise<void>
}
