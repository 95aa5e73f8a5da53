import type { PkiSubject } from "./users.ts"
import { nothing, type PreparePki } from "./prepared-request.ts"

const someToken: PreparePki = async (subject) => ({ body: { token: await subject.newToken("reader") } })

async function newAccessor({ root, newToken }: PkiSubject): Promise<string> {
  const token = await newToken("reader")
  return (await root("POST", "/auth/token/lookup", { token })).body.data.accessor
}
const someAccessor: PreparePki = async (subject) => ({ body: { accessor: await newAccessor(subject) } })

/** Uses a separate token of the caller, which the request may revoke. */
const own: PreparePki = async ({ newToken }, caller) => ({
  ...(caller === "no token" ? {} : { token: await newToken(caller) }),
  body: {},
})
const paths = { paths: ["matrix/any/issue/web"] }

const someRole: PreparePki = async ({ root, unique }) => {
  await root("POST", `/auth/token/roles/${unique}`, { allowed_policies: "default" })
  return { params: { role_name: unique } }
}

export const tokenRequests: Readonly<Record<string, PreparePki>> = {
  "POST /auth/token/create": () => ({ body: { policies: ["default"] } }),
  "POST /auth/token/create-orphan": () => ({ body: { policies: ["default"] } }),
  "POST /auth/token/create/:role_name": async (subject, caller) => ({ ...(await someRole(subject, caller)), body: {} }),
  "LIST /auth/token/roles": async (subject, caller) => {
    await someRole(subject, caller)
    return {}
  },
  "GET /auth/token/roles/:role_name": someRole,
  "POST /auth/token/roles/:role_name": ({ unique }) => ({ params: { role_name: unique }, body: { orphan: true } }),
  "DELETE /auth/token/roles/:role_name": someRole,
  "GET /auth/token/lookup-self": nothing,
  "POST /auth/token/lookup-self": nothing,
  "POST /auth/token/renew-self": own,
  "POST /auth/token/revoke-self": own,
  "POST /sys/capabilities-self": () => ({ body: paths }),
  "POST /auth/token/lookup": someToken,
  "POST /auth/token/renew": someToken,
  "POST /auth/token/revoke": someToken,
  "POST /auth/token/revoke-orphan": someToken,
  "POST /sys/capabilities": async (subject) => ({ body: { ...paths, token: await subject.newToken("reader") } }),
  "POST /auth/token/lookup-accessor": someAccessor,
  "POST /auth/token/renew-accessor": someAccessor,
  "POST /auth/token/revoke-accessor": someAccessor,
  "POST /sys/capabilities-accessor": async (subject) => ({ body: { ...paths, accessor: await newAccessor(subject) } }),
  "LIST /auth/token/accessors": nothing,
}
