import type { AuthMethod, AuthMethodId } from "./auth-method.ts"

/** Every change increments the version of mounts, under which replicas cache auth methods too. */
export interface AuthMethodRepository {
  /** By path. */
  list(): Promise<readonly AuthMethod[]>
  find(id: AuthMethodId): Promise<AuthMethod | undefined>
  /** Both throw `EngineError("conflict")` when the path is taken. */
  insert(method: AuthMethod): Promise<void>
  save(method: AuthMethod): Promise<void>
  /** With everything that hangs on it, tokens among that. */
  remove(id: AuthMethodId): Promise<void>
}
