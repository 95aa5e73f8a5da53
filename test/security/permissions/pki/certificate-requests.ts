import type { PkiSubject } from "./users.ts"
import { csr, namedCsr } from "./csr.ts"
import type { PreparedPkiRequest, PreparePki } from "./prepared-request.ts"

const role = { allow_any_name: true, key_type: "ec", ttl: "1h", use_csr_common_name: false }

/** Creates an issuer in the mount, and a role that allows the requests of this file. */
async function withAuthority({ testEngine, root, mount }: PkiSubject): Promise<void> {
  await testEngine.engine
    .pki(mount)
    .issuers.generateRoot({ commonName: "Matrix Root", keyType: "ec", issuerName: "main", ttlMs: 2_000_000_000 })
  await root("POST", `/${mount}/roles/web`, role)
}

/** Returns the requests for both forms of the path: with the default issuer and with a named one. */
const bothForms = (
  path: string,
  prepare: (subject: PkiSubject) => PreparedPkiRequest | Promise<PreparedPkiRequest>,
  underIssuer = path,
): readonly [string, PreparePki][] => [
  [
    `POST /:mount${path}`,
    async (subject) => {
      await withAuthority(subject)
      return prepare(subject)
    },
  ],
  [
    `POST /:mount/issuer/:issuer_ref${underIssuer}`,
    async (subject) => {
      await withAuthority(subject)
      const { params, ...rest } = await prepare(subject)
      return { ...rest, params: { ...params, issuer_ref: "main" } }
    },
  ],
]

const named = { params: { name: "web" } }
const signing = { csr, common_name: "www.example.com" }

export const certificateRequests: Readonly<Record<string, PreparePki>> = Object.fromEntries([
  ...bothForms("/issue/:name", () => ({ ...named, body: { common_name: "www.example.com", ttl: "30m" } })),
  ...bothForms("/sign/:name", () => ({ ...named, body: signing })),
  ...bothForms("/sign-verbatim", () => ({ body: { csr: namedCsr, ttl: "30m" } })),
  ...bothForms("/sign-verbatim/:name", () => ({ ...named, body: { csr: namedCsr, key_usage: ["DigitalSignature"] } })),
  ...bothForms("/root/sign-intermediate", () => ({ body: signing }), "/sign-intermediate"),
  ...bothForms(
    "/root/sign-self-issued",
    async ({ testEngine, mount }) => ({
      body: { certificate: (await testEngine.pki("GET", `/${mount}/ca/pem`)).body },
    }),
    "/sign-self-issued",
  ),
])

/** Issues a certificate. */
const issued: PreparePki = async (subject) => {
  await withAuthority(subject)
  const body = { common_name: "www.example.com", ttl: "1h", cert_metadata: "b3duZXI=" }
  const answer = await subject.root("POST", `/${subject.mount}/issue/web`, body)
  return { params: { serial: answer.body.data.serial_number } }
}

export const storedCertificateRequests: Readonly<Record<string, PreparePki>> = {
  ...Object.fromEntries(
    ["/ca", "/ca/pem", "/ca_chain", "/cert/ca", "/cert/ca_chain"].map((path) => [`GET /:mount${path}`, issued]),
  ),
  "GET /:mount/cert/:serial": issued,
  "GET /:mount/cert/:serial/raw": issued,
  "GET /:mount/cert/:serial/raw/pem": issued,
  "LIST /:mount/certs": issued,
  "LIST /:mount/certs/detailed": issued,
  "LIST /:mount/cert-metadata": issued,
  "LIST /:mount/certs/search": async (subject, caller) => ({
    ...(await issued(subject, caller)),
    query: "?common_name=www.example.com",
  }),
  "GET /:mount/cert-metadata/:serial": issued,
}
