import { execFileSync } from "node:child_process"
import type { PkiSubject } from "./users.ts"
import { nothing, type PreparePki } from "./prepared-request.ts"

const root = { common_name: "Root", key_type: "ec", issuer_name: "root", key_name: "key" }

/** Sets up a mount with one root. */
const rooted =
  (body?: object): PreparePki =>
  async (subject) => {
    await subject.root("POST", `/${subject.mount}/root/generate/internal`, root)
    return { params: { issuer_ref: "root", key_ref: "key" }, ...(body === undefined ? {} : { body }) }
  }

const generating =
  (type: string, body: object): PreparePki =>
  () => ({ params: { type }, body })

/** A CA certificate and a key. They are made once, because mounts share no state. */
const certificate = openssl("req", "-x509", "-newkey", "ed25519", "-nodes", "-keyout", "/dev/null", "-subj", "/CN=CA")
const key = openssl("genpkey", "-algorithm", "ed25519")

function openssl(...args: string[]): string {
  return execFileSync("openssl", args, { encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] })
}

async function newKey({ root: asRoot, mount }: PkiSubject) {
  await asRoot("POST", `/${mount}/keys/generate/internal`, { key_type: "ec", key_name: "key" })
  return { params: { key_ref: "key" } }
}

const setting = (body: object): Readonly<Record<"GET" | "POST", PreparePki>> => ({
  GET: nothing,
  POST: () => ({ body }),
})
const settings = {
  issuers: setting({ default_follows_latest_issuer: true }),
  keys: setting({}),
  urls: setting({ ocsp_servers: ["http://ocsp.example.com"], crl_distribution_points: "http://crl.example.com" }),
  cluster: setting({ path: "https://ca.example.com/v1/pki", aia_path: "http://ca.example.com" }),
}

/** Requests about issuers and keys, and about the settings of a mount. */
export const issuerRequests: Readonly<Record<string, PreparePki>> = {
  "POST /:mount/root/generate/:type": generating("exported", {
    ...root,
    ttl: "24h",
    alt_names: "ca.example.com",
    ip_sans: ["192.0.2.1"],
    permitted_dns_domains: ["example.com"],
    max_path_length: 1,
    format: "pem_bundle",
  }),
  "POST /:mount/issuers/generate/root/:type": generating("internal", root),
  "POST /:mount/root/rotate/:type": generating("internal", { common_name: "Next", key_type: "ec" }),
  "POST /:mount/root/replace": rooted({ default: "root" }),
  "DELETE /:mount/root": rooted(),
  "POST /:mount/intermediate/generate/:type": generating("exported", { common_name: "CA", key_type: "ec" }),
  "POST /:mount/issuers/generate/intermediate/:type": generating("internal", {
    common_name: "CA",
    key_type: "ec",
    add_basic_constraints: true,
  }),
  "POST /:mount/intermediate/cross-sign": rooted({ common_name: "CA", key_ref: "key" }),
  "POST /:mount/intermediate/set-signed": () => ({ body: { certificate } }),
  "POST /:mount/config/ca": () => ({ body: { pem_bundle: certificate } }),
  "POST /:mount/issuers/import/bundle": () => ({ body: { pem_bundle: `${certificate}${key}` } }),
  "POST /:mount/issuers/import/cert": () => ({ body: { pem_bundle: certificate } }),
  "LIST /:mount/issuers": rooted(),
  "GET /:mount/issuer/:issuer_ref": rooted(),
  "POST /:mount/issuer/:issuer_ref": rooted({ issuer_name: "named", usage: "crl-signing", manual_chain: ["root"] }),
  "PATCH /:mount/issuer/:issuer_ref": rooted({
    leaf_not_after_behavior: "truncate",
    revocation_signature_algorithm: "ECDSAWithSHA256",
    ocsp_servers: ["http://ocsp.example.com"],
  }),
  "DELETE /:mount/issuer/:issuer_ref": rooted(),
  "POST /:mount/issuer/:issuer_ref/revoke": rooted(),
  "GET /:mount/issuer/:issuer_ref/json": rooted(),
  "GET /:mount/issuer/:issuer_ref/der": rooted(),
  "GET /:mount/issuer/:issuer_ref/pem": rooted(),
  "LIST /:mount/keys": rooted(),
  "POST /:mount/keys/generate/:type": generating("exported", { key_type: "ec", key_bits: 256, key_name: "key" }),
  "POST /:mount/keys/import": () => ({ body: { pem_bundle: key, key_name: "key" } }),
  "GET /:mount/key/:key_ref": newKey,
  "POST /:mount/key/:key_ref": async (subject) => ({ ...(await newKey(subject)), body: { key_name: "renamed" } }),
  "DELETE /:mount/key/:key_ref": newKey,
  ...Object.fromEntries(
    Object.entries(settings).flatMap(([name, { GET, POST }]) => [
      [`GET /:mount/config/${name}`, GET] as const,
      [`POST /:mount/config/${name}`, POST] as const,
    ]),
  ),
}
