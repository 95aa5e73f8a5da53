import { certificateRequest } from "../../../../engine/testing/certificate-requests.ts"
import { cheapPasswordHash } from "../../../../engine/testing/cheap-password.ts"
import { testTlsPem } from "../../../../engine/testing/policy-server.ts"
import { readPem } from "../../../../engine/src/x509/pem.ts"
import { oids } from "../../../../engine/src/x509/asn1/oids.ts"
import type { PkiSubject } from "./users.ts"
import { nothing, type PreparePki } from "./prepared-request.ts"

/** Enables EST on the mount, with a device whose policy grants every path of it. */
async function withDevice({ testEngine, root, mount, unique, policyServiceUrl }: PkiSubject): Promise<void> {
  const { engine } = testEngine
  const path = `matrix/${unique}`
  await engine.authMethods.enable({ path, type: "userpass" })
  const { accessor } = await engine.authMethods.get(path)
  await engine.policies.put(
    `est-${unique}`,
    ["", "roles/web/", "external-policy/", "external-policy/any/"]
      .map((above) => `path "${mount}/${above}est/*" { capabilities = ["update"] }`)
      .join("\n"),
  )
  await engine.userpass(path).users.save("printer", { passwordHash: cheapPasswordHash, policies: [`est-${unique}`] })
  await engine.mounts.tune(mount, { config: { delegatedAuthAccessors: [accessor] } })
  await root("POST", `/${mount}/root/generate/internal`, { common_name: "Root", key_type: "ec" })
  await root("POST", `/${mount}/roles/web`, { allow_any_name: true, key_type: "any", require_cn: false, ttl: "1h" })
  await root("POST", `/${mount}/config/external-policy`, {
    enabled: true,
    external_service_url: policyServiceUrl,
    trusted_leaf_certificate_bundle: testTlsPem("server"),
  })
  await root("POST", `/${mount}/config/est`, {
    enabled: true,
    default_path_policy: "sign-verbatim",
    authenticators: { userpass: { accessor } },
  })
}

const params = { role: "web", policy: "any" }
const headers = {
  authorization: `Basic ${Buffer.from("printer:password").toString("base64")}`,
  "content-type": "application/pkcs10",
}

/** Returns a CSR in base64 of DER. */
async function csr(): Promise<string> {
  const { csr: pem } = await certificateRequest({
    subject: [[{ type: oids.commonName, value: "printer.example.com" }]],
  })
  return Buffer.from(readPem(pem, 65_536)[0]?.bytes ?? []).toString("base64")
}

const read: PreparePki = async (subject) => {
  await withDevice(subject)
  return { params }
}

const enroll: PreparePki = async (subject) => {
  await withDevice(subject)
  return { params, headers, body: await csr() }
}

const reenroll: PreparePki = async (subject) => {
  await withDevice(subject)
  const { csr: pem } = await certificateRequest({
    subject: [[{ type: oids.commonName, value: "printer.example.com" }]],
  })
  const { certificates } = subject.testEngine.engine.pki(subject.mount)
  const { certificate } = await certificates.signVerbatim(undefined, { csr: pem, ttlMs: 3_600_000 })
  return { params, headers, body: await csr(), clientChain: [certificate] }
}

export const estRequests: Readonly<Record<string, PreparePki>> = {
  "GET /:mount/config/est": nothing,
  "POST /:mount/config/est": () => ({ body: { audit_fields: ["common_name"] } }),
  ...Object.fromEntries(
    ["", "/roles/:role", "/external-policy", "/external-policy/:policy"].flatMap((above) =>
      Object.entries({
        "GET cacerts": read,
        "GET csrattrs": read,
        "POST simpleenroll": enroll,
        "POST simplereenroll": reenroll,
        "POST serverkeygen": enroll,
      }).map(([operation, prepare]) => {
        const [verb = "", name = ""] = operation.split(" ")
        return [`${verb} /:mount${above}/est/${name}`, prepare]
      }),
    ),
  ),
}
