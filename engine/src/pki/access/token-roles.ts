import type { KeyPage } from "../key-page.ts"
import type { TokenRole } from "./token-role.ts"

/**
 * Ways to make service tokens, by name. Whoever may create at `auth/token/create/<role>` may give a token what its role allows,
 * though they do not hold it themselves; `root` only where they do.
 */
export interface TokenRoles {
  /** Names, in order. */
  list(page?: KeyPage): Promise<readonly string[]>
  get(name: string): Promise<TokenRole>
  /** Makes the role, or changes what is given of it. Tokens that it has made are renewed as it says from then on. */
  save(name: string, input: Partial<TokenRole>): Promise<TokenRole>
  /** A role that is not there is deleted already. What it has made is not renewed any more. */
  delete(name: string): Promise<void>
}
