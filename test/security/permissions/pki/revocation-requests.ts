import type { PkiSubject } from "./users.ts"
import { writePem } from "../../../../engine/src/x509/pem.ts"
import { nothing, type PreparePki } from "./prepared-request.ts"

/** Issues a certificate in the mount. */
async function issued({ testEngine, mount }: PkiSubject) {
  const { issuers, roles, certificates } = testEngine.engine.pki(mount)
  await issuers.generateRoot({ commonName: "Root", keyType: "ec" })
  await roles.save("any", { allowAnyName: true, keyType: "ec", ttlMs: 3_600_000 })
  const { serialNumber, privateKey } = await certificates.issue("any", { commonName: "a.test" })
  return { serial_number: serialNumber, private_key: privateKey?.pem("pkcs8") }
}

const revoked = async (subject: PkiSubject): Promise<void> => {
  const { serial_number: serialNumber } = await issued(subject)
  await subject.testEngine.engine.pki(subject.mount).revocations.revoke({ serialNumber })
}

const ofDefaultIssuer: PreparePki = async (subject) => {
  await issued(subject)
  return { params: { issuer_ref: "default", shard: "1-0" } }
}

const listForms = ["/crl", "/unified-crl"].flatMap((list) =>
  ["", "/shard/:shard", "/delta", "/delta/shard/:shard"].map((part) => `${list}${part}`),
)
const listRequests = Object.fromEntries([
  ...listForms.flatMap((path) => ["", "/pem"].map((form) => [`GET /:mount${path}${form}`, ofDefaultIssuer])),
  ...listForms.flatMap((path) =>
    ["", "/pem", "/der"].map((form) => [`GET /:mount/issuer/:issuer_ref${path}${form}`, ofDefaultIssuer]),
  ),
]) as Readonly<Record<string, PreparePki>>

export const revocationRequests: Readonly<Record<string, PreparePki>> = {
  ...listRequests,
  "GET /:mount/cert/crl": ofDefaultIssuer,
  "GET /:mount/cert/delta-crl": ofDefaultIssuer,
  "GET /:mount/cert/unified-crl": ofDefaultIssuer,
  "GET /:mount/cert/unified-delta-crl": ofDefaultIssuer,
  "LIST /:mount/certs/revocation-queue": nothing,
  "LIST /:mount/certs/unified-revoked": nothing,
  "POST /:mount/issuer/:issuer_ref/sign-revocation-list": async (subject) => ({
    ...(await ofDefaultIssuer(subject, "operator")),
    body: { crl_number: 1 },
  }),
  "POST /:mount/issuer/:issuer_ref/resign-crls": async (subject) => {
    await issued(subject)
    const crl = await subject.testEngine.engine.pki(subject.mount).crls.get()
    const crls = crl === undefined ? [] : [writePem("X509 CRL", crl.der)]
    return { params: { issuer_ref: "default" }, body: { crls, crl_number: 1 } }
  },
  "POST /:mount/issuer/:issuer_ref/crl/import": async (subject) => {
    await issued(subject)
    const crl = await subject.testEngine.engine.pki(subject.mount).crls.get()
    return { params: { issuer_ref: "default" }, body: { crl: writePem("X509 CRL", crl?.der ?? new Uint8Array()) } }
  },
  "POST /:mount/certs/import": async (subject) => {
    const { serial_number: serialNumber } = await issued(subject)
    const { certificate } = await subject.testEngine.engine.pki(subject.mount).certificates.get(serialNumber)
    return { body: { certificates: [writePem("CERTIFICATE", certificate)] } }
  },
  "GET /:mount/crl/rotate": nothing,
  "GET /:mount/crl/rotate-delta": nothing,
  "GET /:mount/config/crl": nothing,
  "POST /:mount/config/crl": () => ({ body: { expiry: "24h" } }),
  "POST /:mount/revoke": async (subject) => ({ body: { serial_number: (await issued(subject)).serial_number } }),
  "POST /:mount/revoke-with-key": async (subject) => ({ body: await issued(subject) }),
  "LIST /:mount/certs/revoked": async (subject) => {
    await revoked(subject)
    return {}
  },
}
