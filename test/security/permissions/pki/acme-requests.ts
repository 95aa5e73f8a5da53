import { newTestAccount } from "../../../../engine/testing/acme-account.ts"
import { testTlsPem } from "../../../../engine/testing/policy-server.ts"
import type { PkiSubject } from "./users.ts"
import { nothing, type PreparePki } from "./prepared-request.ts"

/** Creates a role, an issuer and a policy service for the paths of directories to name. */
async function withDirectories({ testEngine, root, mount, policyServiceUrl }: PkiSubject): Promise<void> {
  await testEngine.engine.pki(mount).issuers.generateRoot({ commonName: "Root", keyType: "ec", issuerName: "main" })
  await root("POST", `/${mount}/roles/web`, { allow_any_name: true })
  await root("POST", `/${mount}/config/external-policy`, {
    enabled: true,
    external_service_url: policyServiceUrl,
    trusted_leaf_certificate_bundle: testTlsPem("server"),
  })
}

const newEab: PreparePki = async (subject) => {
  await withDirectories(subject)
  return { params: { issuer_ref: "main", role: "web", policy: "any" } }
}

/** Creates an account and an order. */
async function withOrder({ testEngine, mount, root }: PkiSubject) {
  await root("POST", `/sys/mounts/${mount}/tune`, { allowed_response_headers: ["Location", "Replay-Nonce", "Link"] })
  await root("POST", `/${mount}/root/generate/internal`, { common_name: "Root", key_type: "ec" })
  await root("POST", `/${mount}/config/cluster`, { path: `https://chancery.test/v1/${mount}` })
  await root("POST", `/${mount}/config/acme`, { enabled: true, max_ttl: "24h" })
  const account = await newTestAccount(testEngine.engine, mount)
  return { params: { key_id: account.id, order_id: await account.order("a.example.com") } }
}

async function withSignal({ testEngine, mount, root }: PkiSubject) {
  await root("POST", `/${mount}/root/generate/internal`, { common_name: "Root", key_type: "ec" })
  return { params: { renewal_id: (await testEngine.engine.acme(mount).renewals.raise({ issuerRef: "default" })).id } }
}

export const acmeRequests: Readonly<Record<string, PreparePki>> = {
  "GET /:mount/config/acme": nothing,
  "POST /:mount/config/acme": () => ({ body: { dns_resolver: "10.0.0.53" } }),
  ...Object.fromEntries(
    ["", "/issuer/:issuer_ref"].flatMap((issuer) =>
      ["", "/roles/:role", "/external-policy", "/external-policy/:policy"].map((decider) => [
        `POST /:mount${issuer}${decider}/acme/new-eab`,
        newEab,
      ]),
    ),
  ),
  "LIST /:mount/eab": async ({ testEngine, mount, root }) => {
    await root("POST", `/${mount}/root/generate/internal`, { common_name: "Root", key_type: "ec" })
    await testEngine.engine.acme(mount).eab.create({})
    return {}
  },
  "DELETE /:mount/eab/:key_id": async ({ testEngine, mount, root }) => {
    await root("POST", `/${mount}/root/generate/internal`, { common_name: "Root", key_type: "ec" })
    return { params: { key_id: (await testEngine.engine.acme(mount).eab.create({})).id } }
  },
  "LIST /:mount/acme/mgmt/account/keyid": withOrder,
  "GET /:mount/acme/mgmt/account/keyid/:key_id": withOrder,
  "POST /:mount/acme/mgmt/account/keyid/:key_id": async (subject) => ({
    ...(await withOrder(subject)),
    body: { status: "revoked" },
  }),
  "DELETE /:mount/acme/mgmt/account/keyid/:key_id": withOrder,
  "LIST /:mount/acme/mgmt/order": withOrder,
  "GET /:mount/acme/mgmt/order/:order_id": withOrder,
  "DELETE /:mount/acme/mgmt/order/:order_id": withOrder,
  "POST /:mount/acme/mgmt/renewal": async ({ mount, root }) => {
    await root("POST", `/${mount}/root/generate/internal`, { common_name: "Root", key_type: "ec" })
    return { body: { issuer_ref: "default" } }
  },
  "LIST /:mount/acme/mgmt/renewal": withSignal,
  "GET /:mount/acme/mgmt/renewal/:renewal_id": withSignal,
  "DELETE /:mount/acme/mgmt/renewal/:renewal_id": withSignal,
}
