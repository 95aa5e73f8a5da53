import { testTlsPem } from "../../../../engine/testing/policy-server.ts"
import { csr } from "./csr.ts"
import { nothing, type PreparePki } from "./prepared-request.ts"

/** Sets up a mount with an issuer and an external policy service. */
const decided =
  (body: object): PreparePki =>
  async ({ root, mount, testEngine, policyServiceUrl }) => {
    await testEngine.engine.pki(mount).issuers.generateRoot({ commonName: "Root", keyType: "ec", issuerName: "root" })
    await root("POST", `/${mount}/config/external-policy`, {
      enabled: true,
      external_service_url: policyServiceUrl,
      trusted_leaf_certificate_bundle: testTlsPem("server"),
    })
    return { params: { policy: "web", issuer_ref: "root" }, body }
  }

const verbs = { issue: { key_type: "ec" }, sign: { csr }, "sign-intermediate": { csr } }

export const externalPolicyRequests: Readonly<Record<string, PreparePki>> = {
  "GET /:mount/config/external-policy": nothing,
  "POST /:mount/config/external-policy": () => ({ body: { timeout: "10s" } }),
  ...Object.fromEntries(
    Object.entries(verbs).flatMap(([verb, body]) =>
      ["", "/:policy"].flatMap((policy) => [
        [`POST /:mount/external-policy/${verb}${policy}`, decided(body)] as const,
        [`POST /:mount/issuer/:issuer_ref/external-policy/${verb}${policy}`, decided(body)] as const,
      ]),
    ),
  ),
}
