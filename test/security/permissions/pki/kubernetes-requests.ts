import { clusterKeys, projectedToken } from "../../../../engine/testing/api-server.ts"
import type { PkiSubject } from "./users.ts"
import type { PreparePki } from "./prepared-request.ts"

const keys = clusterKeys.publicKey.export({ type: "spki", format: "pem" })
const role = { bound_service_account_names: "web", bound_service_account_namespaces: "shop" }

async function enabled({ root, unique }: PkiSubject): Promise<string> {
  const path = `matrix/${unique}`
  await root("POST", `/sys/auth/${path}`, { type: "kubernetes" })
  return path
}

const configured: PreparePki = async (subject) => {
  const kubernetes = await enabled(subject)
  await subject.root("POST", `/auth/${kubernetes}/config`, { pem_keys: [keys] })
  return { params: { kubernetes } }
}

const withRole: PreparePki = async (subject, caller) => {
  const { params = {} } = await configured(subject, caller)
  await subject.root("POST", `/auth/${params["kubernetes"]}/role/web`, role)
  return { params: { ...params, name: "web" } }
}

export const kubernetesRequests: Readonly<Record<string, PreparePki>> = {
  "GET /auth/*kubernetes/config": (subject, caller) => configured(subject, caller),
  "POST /auth/*kubernetes/config": async (subject) => ({
    params: { kubernetes: await enabled(subject) },
    body: { pem_keys: [keys] },
  }),
  "LIST /auth/*kubernetes/role": (subject, caller) => withRole(subject, caller),
  "GET /auth/*kubernetes/role/:name": (subject, caller) => withRole(subject, caller),
  "POST /auth/*kubernetes/role/:name": async (subject) => ({
    params: { kubernetes: await enabled(subject), name: "web" },
    body: role,
  }),
  "DELETE /auth/*kubernetes/role/:name": (subject, caller) => withRole(subject, caller),
  "POST /auth/*kubernetes/login": async (subject, caller) => ({
    ...(await withRole(subject, caller)),
    body: { role: "web", jwt: await projectedToken() },
  }),
}
