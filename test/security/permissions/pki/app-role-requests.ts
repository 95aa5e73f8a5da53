import { appRoleParts } from "../../../../engine/src/access/approle/app-role.ts"
import type { PkiSubject } from "./users.ts"
import type { PreparePki } from "./prepared-request.ts"

/** Creates an auth method with a role, at a path that no other cell uses. */
async function withMethod({ root, unique }: PkiSubject) {
  const approle = `matrix/${unique}`
  await root("POST", `/sys/auth/${approle}`, { type: "approle" })
  await root("POST", `/auth/${approle}/role/web`, { role_id: "web" })
  return { approle, name: "web" }
}

const prepared =
  (body?: object): PreparePki =>
  async (subject) => ({ params: await withMethod(subject), ...(body === undefined ? {} : { body }) })

interface MadeSecretId {
  readonly secret_id: string
  readonly secret_id_accessor: string
}

/** Creates a secret id; `say` makes the body of the request from it. */
const withSecretId =
  (say: (made: MadeSecretId) => object): PreparePki =>
  async (subject) => {
    const params = await withMethod(subject)
    const made = await subject.root("POST", `/auth/${params.approle}/role/web/secret-id`, {})
    return { params, body: say(made.body.data as MadeSecretId) }
  }

const bodies: Readonly<Record<(typeof appRoleParts)[number], object>> = {
  policies: { token_policies: "default" },
  "secret-id-num-uses": { secret_id_num_uses: 1 },
  "secret-id-ttl": { secret_id_ttl: "1h" },
  "token-ttl": { token_ttl: "1h" },
  "token-max-ttl": { token_max_ttl: "1h" },
  "token-num-uses": { token_num_uses: 1 },
  "bind-secret-id": { bind_secret_id: true },
  "secret-id-bound-cidrs": { secret_id_bound_cidrs: "10.0.0.0/8" },
  "token-bound-cidrs": { token_bound_cidrs: "10.0.0.0/8" },
  period: { token_period: "1h" },
}

const role = "/auth/*approle/role/:name"
const bySecret = withSecretId(({ secret_id }) => ({ secret_id }))
/** DELETE requests carry their parameters in the query, not in a body. */
const inQuery =
  (made: PreparePki): PreparePki =>
  async (subject) => {
    // The request does not depend on the caller.
    const { params = {}, body } = await made(subject, "operator")
    return { params, query: `?${new URLSearchParams(body as Record<string, string>).toString()}` }
  }
const byAccessor = withSecretId(({ secret_id_accessor }) => ({ secret_id_accessor }))

export const appRoleRequests: Readonly<Record<string, PreparePki>> = {
  "LIST /auth/*approle/role": prepared(),
  [`GET ${role}`]: prepared(),
  [`POST ${role}`]: prepared({ token_policies: "default" }),
  [`DELETE ${role}`]: prepared(),
  ...Object.fromEntries(
    appRoleParts.flatMap((part) => [
      [`GET ${role}/${part}`, prepared()],
      [`POST ${role}/${part}`, prepared(bodies[part])],
      [`DELETE ${role}/${part}`, prepared()],
    ]),
  ),
  [`GET ${role}/role-id`]: prepared(),
  [`POST ${role}/role-id`]: prepared({ role_id: "other" }),
  [`LIST ${role}/secret-id`]: withSecretId(() => ({})),
  [`POST ${role}/secret-id`]: prepared({}),
  [`POST ${role}/custom-secret-id`]: prepared({ secret_id: "chosen" }),
  [`POST ${role}/secret-id/lookup`]: bySecret,
  [`POST ${role}/secret-id/destroy`]: bySecret,
  [`DELETE ${role}/secret-id/destroy`]: inQuery(bySecret),
  [`POST ${role}/secret-id-accessor/lookup`]: byAccessor,
  [`POST ${role}/secret-id-accessor/destroy`]: byAccessor,
  [`DELETE ${role}/secret-id-accessor/destroy`]: inQuery(byAccessor),
  "POST /auth/*approle/tidy/secret-id": prepared({}),
  "POST /auth/*approle/login": withSecretId(({ secret_id }) => ({ role_id: "web", secret_id })),
}
