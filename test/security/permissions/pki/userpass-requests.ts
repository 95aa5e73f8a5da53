import { cheapPasswordHash } from "../../../../engine/testing/cheap-password.ts"
import type { PkiSubject } from "./users.ts"
import type { PreparePki } from "./prepared-request.ts"

/** Creates an auth method with a user, at a path that no other cell uses. */
async function withUser({ root, unique }: PkiSubject) {
  const userpass = `matrix/${unique}`
  // A refused request must change nothing, so wrong passwords are not counted.
  const config = { user_lockout_config: { lockout_disable: true } }
  await root("POST", `/sys/auth/${userpass}`, { type: "userpass", config })
  await root("POST", `/auth/${userpass}/users/web`, { password_hash: cheapPasswordHash })
  return { userpass, name: "web" }
}

const prepared =
  (body?: object): PreparePki =>
  async (subject) => ({ params: await withUser(subject), ...(body === undefined ? {} : { body }) })

const user = "/auth/*userpass/users/:name"

export const userpassRequests: Readonly<Record<string, PreparePki>> = {
  "LIST /auth/*userpass/users": prepared(),
  [`GET ${user}`]: prepared(),
  [`POST ${user}`]: prepared({ token_policies: "default" }),
  [`DELETE ${user}`]: prepared(),
  [`POST ${user}/password`]: prepared({ password_hash: cheapPasswordHash }),
  [`POST ${user}/policies`]: prepared({ token_policies: "default" }),
  "POST /auth/*userpass/login/:name": prepared({ password: "password" }),
  "GET /sys/locked-users": prepared(),
  "POST /sys/locked-users/:mount_accessor/unlock/:alias_identifier": async (subject) => {
    const { userpass, name } = await withUser(subject)
    const { accessor } = (await subject.root("GET", `/sys/auth/${userpass}`)).body.data
    return { params: { mount_accessor: accessor, alias_identifier: name } }
  },
}
