import { fullAccess } from "../core/access.ts"
import type { Caller } from "../core/caller.ts"
import { newId } from "../core/ids.ts"
import type { Runtime } from "../core/runtime.ts"
import type { Storage } from "../core/storage.ts"
import type { IdentityRepository } from "./authentication.ts"

export const rootUsername = "root"

/** Creates the site administrator `root` if it does not exist, and returns it. The embedded engine acts as this user. */
export async function bootstrap(
  storage: Storage<{ readonly identity: IdentityRepository }>,
  { clock, random }: Runtime,
): Promise<Caller> {
  const id = newId("user", random)
  const now = clock.now()
  const userId = await storage.transact(({ identity }) =>
    identity.ensureAdministrator({ id, username: rootUsername, now }),
  )
  return {
    kind: "user",
    tokenId: undefined,
    userId,
    username: rootUsername,
    siteAdmin: true,
    memberships: new Map(),
    acl: fullAccess,
  }
}
