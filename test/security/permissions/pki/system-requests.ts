import { sha256 } from "../../../../engine/src/x509/digest.ts"
import { certificateRequest } from "../../../../engine/testing/certificate-requests.ts"
import type { PkiSubject } from "./users.ts"
import { nothing, type PreparePki } from "./prepared-request.ts"

const mounted: PreparePki = ({ mount }) => ({ params: { path: mount } })

const enabled: PreparePki = async ({ root, unique }) => {
  const path = `matrix/${unique}`
  await root("POST", `/sys/auth/${path}`, { type: "approle" })
  return { params: { path } }
}
const methodTuned: PreparePki = async (subject, caller) => ({
  ...(await enabled(subject, caller)),
  body: { max_lease_ttl: "24h" },
})

async function newPolicy({ root, unique }: PkiSubject): Promise<string> {
  const name = `policy-${unique}`
  await root("POST", `/sys/policies/acl/${name}`, { policy: 'path "a/b" { capabilities = ["read"] }' })
  return name
}

const policyNamed: PreparePki = async (subject) => ({ params: { name: await newPolicy(subject) } })
const policyWritten: PreparePki = ({ unique }) => ({
  params: { name: `policy-${unique}` },
  body: { policy: 'path "a/b" { capabilities = ["read"] }' },
})

const blockedKey: PreparePki = async ({ root, unique }) => {
  const digest = sha256(Buffer.from(unique))
  await root("POST", `/sys/blocked-keys/${digest}`)
  return { params: { digest } }
}

/** Functions that create a holder of policies and return the path parameters of an attachment, keyed by its path. */
const attachable: Readonly<Record<string, (subject: PkiSubject) => Promise<Readonly<Record<string, string>>>>> = {
  "user/:username": async ({ testEngine, unique }) => {
    const username = `user-${unique}`
    await testEngine.engine.users.create({ username })
    return { username }
  },
  "team/:organization/:team": async ({ testEngine, unique }) => {
    const organization = `organization-${unique}`
    await testEngine.engine.organizations.create({ name: organization, email: "a@example.com" })
    return { organization, team: "owners" }
  },
  "token/:id": async ({ testEngine, unique }) => {
    const { id } = await testEngine.engine.users.create({ username: `user-${unique}` })
    return { id: (await testEngine.engine.tokens.createForUser(id, {})).id }
  },
}

const attachments = Object.entries(attachable).flatMap(([path, newHolder]): [string, PreparePki][] => {
  const attached: PreparePki = async (subject) => {
    const params = await newHolder(subject)
    const policy = await newPolicy(subject)
    const holder = path.replaceAll(/:(\w+)/g, (_, name) => params[name] ?? "")
    await subject.root("POST", `/sys/policies/attachments/${holder}/${policy}`)
    return { params: { ...params, policy } }
  }
  return [
    [`LIST /sys/policies/attachments/${path}`, attached],
    [
      `POST /sys/policies/attachments/${path}/:policy`,
      async (subject) => ({ params: { ...(await newHolder(subject)), policy: await newPolicy(subject) } }),
    ],
    [`DELETE /sys/policies/attachments/${path}/:policy`, attached],
  ]
})

/** Requests about mounts, health and policies. */
export const systemRequests: Readonly<Record<string, PreparePki>> = {
  "GET /sys/health": nothing,
  "GET /sys/seal-status": nothing,
  "GET /sys/init": nothing,
  "GET /sys/leader": nothing,
  "GET /sys/internal/specs/openapi": nothing,
  "GET /sys/mounts": nothing,
  "GET /sys/mounts/*path": mounted,
  "POST /sys/mounts/*path": ({ unique }) => ({ params: { path: `new/${unique}` }, body: { type: "pki" } }),
  "DELETE /sys/mounts/*path": mounted,
  "GET /sys/mounts/*path/tune": mounted,
  "POST /sys/mounts/*path/tune": ({ mount }) => ({ params: { path: mount }, body: { max_lease_ttl: "24h" } }),
  "POST /sys/remount": ({ mount, unique }) => ({ body: { from: mount, to: `moved/${unique}` } }),
  "GET /sys/remount/status/:migration_id": async ({ root, mount, unique }) => {
    const moved = await root("POST", "/sys/remount", { from: mount, to: `moved/${unique}` })
    return { params: { migration_id: moved.body.migration_id } }
  },
  "GET /sys/internal/ui/mounts": nothing,
  "GET /sys/internal/ui/mounts/*path": mounted,
  "GET /sys/auth": nothing,
  "GET /sys/auth/*path": enabled,
  "POST /sys/auth/*path": ({ unique }) => ({ params: { path: `new/${unique}` }, body: { type: "approle" } }),
  "DELETE /sys/auth/*path": enabled,
  "GET /sys/auth/*path/tune": enabled,
  "POST /sys/auth/*path/tune": methodTuned,
  "GET /sys/mounts/auth/*path": enabled,
  "GET /sys/mounts/auth/*path/tune": enabled,
  "POST /sys/mounts/auth/*path/tune": methodTuned,
  "LIST /sys/policies/acl": nothing,
  "GET /sys/policies/acl/:name": policyNamed,
  "POST /sys/policies/acl/:name": policyWritten,
  "DELETE /sys/policies/acl/:name": policyNamed,
  "GET /sys/policy": nothing,
  "LIST /sys/policy": nothing,
  "GET /sys/policy/:name": policyNamed,
  "POST /sys/policy/:name": policyWritten,
  "DELETE /sys/policy/:name": policyNamed,
  ...Object.fromEntries(attachments),
  "LIST /sys/certs/search": async ({ root, mount, testEngine }) => {
    await testEngine.engine.pki(mount).issuers.generateRoot({ commonName: "Root", keyType: "ec" })
    await root("POST", `/${mount}/roles/web`, { allow_any_name: true, key_type: "ec" })
    await root("POST", `/${mount}/issue/web`, { common_name: "www.example.com", ttl: "1h" })
    return { query: `?mounts=${mount}&name=www.example.com` }
  },
  "LIST /sys/blocked-keys": blockedKey,
  "POST /sys/blocked-keys": async () => ({ body: { key: (await certificateRequest()).csr } }),
  "GET /sys/blocked-keys/:digest": blockedKey,
  "POST /sys/blocked-keys/:digest": ({ unique }) => ({ params: { digest: sha256(Buffer.from(unique)) } }),
  "DELETE /sys/blocked-keys/:digest": blockedKey,
}
