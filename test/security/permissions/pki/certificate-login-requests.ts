import {
  authorityExtensions,
  testCertificate,
  testRevocationList,
} from "../../../../engine/testing/client-certificates.ts"
import type { PkiSubject } from "./users.ts"
import type { PreparePki } from "./prepared-request.ts"

const authority = testCertificate({ subject: "/CN=matrix", extensions: authorityExtensions })
const role = { certificate: authority.certificate }
const client = testCertificate({ issuer: authority })
const list = { crl: testRevocationList(authority, [1]) }

async function enabled({ root, unique }: PkiSubject): Promise<string> {
  const path = `matrix/${unique}`
  await root("POST", `/sys/auth/${path}`, { type: "cert" })
  return path
}

const withRole: PreparePki = async (subject) => {
  const cert = await enabled(subject)
  await subject.root("POST", `/auth/${cert}/certs/web`, role)
  return { params: { cert, name: "web" } }
}

const withList: PreparePki = async (subject) => {
  const cert = await enabled(subject)
  await subject.root("POST", `/auth/${cert}/crls/root`, list)
  return { params: { cert, name: "root" } }
}

export const certificateLoginRequests: Readonly<Record<string, PreparePki>> = {
  "GET /auth/*cert/config": async (subject) => ({ params: { cert: await enabled(subject) } }),
  "POST /auth/*cert/config": async (subject) => ({
    params: { cert: await enabled(subject) },
    body: { disable_binding: true },
  }),
  "LIST /auth/*cert/certs": (subject, caller) => withRole(subject, caller),
  "GET /auth/*cert/certs/:name": (subject, caller) => withRole(subject, caller),
  "POST /auth/*cert/certs/:name": async (subject) => ({
    params: { cert: await enabled(subject), name: "web" },
    body: role,
  }),
  "DELETE /auth/*cert/certs/:name": (subject, caller) => withRole(subject, caller),
  "LIST /auth/*cert/crls": (subject, caller) => withList(subject, caller),
  "GET /auth/*cert/crls/:name": (subject, caller) => withList(subject, caller),
  "POST /auth/*cert/crls/:name": async (subject) => ({
    params: { cert: await enabled(subject), name: "root" },
    body: list,
  }),
  "DELETE /auth/*cert/crls/:name": (subject, caller) => withList(subject, caller),
  "POST /auth/*cert/login": async (subject, caller) => ({
    ...(await withRole(subject, caller)),
    body: { name: "web" },
    clientChain: [client.der],
  }),
}
