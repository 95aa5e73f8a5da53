// Lookup of auth methods that the program does not declare.
import { stackConfiguration, withEngine } from "./lifecycle/invoke.ts"
import type { AuthMethodState } from "./resources/auth-method.ts"

/** An auth method and its settings. */
export interface AuthMethodLookup extends Omit<AuthMethodState, "adopted"> {
  /** Id: the path. */
  readonly id: string
}

/** Reads an auth method. Rejects if there is none at the path that the token may read. */
export const getAuthMethod = ({ path }: { readonly path: string }): Promise<AuthMethodLookup> =>
  withEngine(stackConfiguration(), `auth method "${path}"`, async (engine) => {
    // Loaded on demand, because few programs use lookups.
    const { observedAuthMethod } = await import("@chancery/engine/declared/certificates")
    const observed = observedAuthMethod(await engine.authMethods.get(path))
    return { id: observed.path, ...observed }
  })
