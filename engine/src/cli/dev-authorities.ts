// The certificate authorities of `chancery dev`: a root in the mount `pki-root`, and an intermediate below it in the mount `pki`. The mount
// `pki` also has a role for the names of this machine. Existing ones are left unchanged.
import { isEngineError } from "../core/errors.ts"
import { dayMs } from "../core/time.ts"
import type { ServedEngine } from "../engine.ts"
import { type ListenAddress, urlOf } from "../server/http/listen-address.ts"
import { writePem } from "../x509/pem.ts"
import type { ManagedTls } from "./managed-tls-setting.ts"

const rootMount = "pki-root"
const mount = "pki"
const role = "local"

/** Certificate of the development server, for the names by which clients on the same machine reach it. */
export const localTls: ManagedTls = { mount, role, hosts: ["localhost", "127.0.0.1", "::1"] }

export interface Addresses {
  readonly publicUrl: URL | undefined
  readonly listen: ListenAddress
  readonly tlsListen: ListenAddress | undefined
}

export async function ensureAuthorities(engine: ServedEngine, addresses: Addresses): Promise<void> {
  await ensureMount(engine, rootMount, { maxLeaseTtlMs: 3_650 * dayMs })
  await ensureMount(engine, mount, { maxLeaseTtlMs: 365 * dayMs })
  for (const path of [rootMount, mount]) await ensureUrls(engine, path, addresses)
  await ensureRoot(engine)
  await ensureIntermediate(engine)
  await ensureRole(engine)
  await ensureAcme(engine)
}

async function ensureMount({ mounts }: ServedEngine, path: string, config: { readonly maxLeaseTtlMs: number }) {
  try {
    await mounts.get(path)
  } catch (error) {
    if (!isEngineError(error, "not-found")) throw error
    await mounts.create({ path, config })
  }
}

const hasDefault = async (engine: ServedEngine, path: string): Promise<boolean> =>
  (await engine.pki(path).settings.issuers()).default !== null

/** Sets the URLs of the mount. Runs before any certificate is issued, because certificates carry these URLs. */
async function ensureUrls(engine: ServedEngine, path: string, addresses: Addresses): Promise<void> {
  const { settings } = engine.pki(path)
  const before = await settings.cluster()
  const [http, https] = addressesOf(addresses)
  // Local addresses follow the port that the server listens on now. Other addresses were set by a user and stay.
  const aiaPath = http !== undefined && isOfThisMachine(before.aiaPath) ? `${http}/v1/${path}` : before.aiaPath
  const clusterPath = https !== undefined && isOfThisMachine(before.path) ? `${https}/v1/${path}` : before.path
  if (aiaPath !== before.aiaPath || clusterPath !== before.path)
    await settings.changeCluster({ aiaPath, path: clusterPath })
  const { issuingCertificates, crlDistributionPoints, ocspServers } = await settings.urls()
  if (issuingCertificates.length + crlDistributionPoints.length + ocspServers.length > 0) return
  await settings.changeUrls({
    issuingCertificates: ["{{cluster_aia_path}}/issuer/{{issuer_id}}/der"],
    crlDistributionPoints: ["{{cluster_aia_path}}/issuer/{{issuer_id}}/crl/der"],
    ocspServers: ["{{cluster_aia_path}}/ocsp"],
    enableTemplating: true,
  })
}

/** Returns the HTTP and the HTTPS address: those of the public URL if it is set, else those that clients on this machine use. */
function addressesOf({ publicUrl, listen, tlsListen }: Addresses): readonly (string | undefined)[] {
  const known = publicUrl?.href.replace(/\/+$/, "")
  return [
    known ?? localUrl(listen, "http"),
    known?.startsWith("https:") ? known : tlsListen && localUrl(tlsListen, "https"),
  ]
}

/** Returns undefined for a unix socket, and for port 0, which the system has not assigned yet. */
function localUrl(address: ListenAddress, scheme: "http" | "https"): string | undefined {
  if ("path" in address || address.port === 0) return undefined
  const isEverywhere = address.host === "::" || address.host === "0.0.0.0"
  return urlOf(isEverywhere || scheme === "https" ? { ...address, host: "localhost" } : address, scheme)
}

const isOfThisMachine = (url: string): boolean =>
  url === "" || ["localhost", "127.0.0.1", "[::1]"].includes(URL.parse(url)?.hostname ?? "")

async function ensureRoot(engine: ServedEngine): Promise<void> {
  if (await hasDefault(engine, rootMount)) return
  await engine.pki(rootMount).issuers.generateRoot({
    issuerName: "root",
    commonName: "Chancery development root",
    keyType: "ec",
    ttlMs: 3_650 * dayMs,
  })
}

async function ensureIntermediate(engine: ServedEngine): Promise<void> {
  if (await hasDefault(engine, mount)) return
  const { issuers } = engine.pki(mount)
  const commonName = "Chancery development intermediate"
  const { csr } = await issuers.generateIntermediate({ commonName, keyType: "ec" })
  const { certificate, issuingCa } = await engine.pki(rootMount).certificates.signIntermediate({
    csr: writePem("CERTIFICATE REQUEST", csr),
    commonName,
    ttlMs: 1_825 * dayMs,
  })
  // The root is imported without its key, to complete the chain. One import stores both, so that neither exists without the other.
  const bundle = [certificate, issuingCa].map((der) => writePem("CERTIFICATE", der)).join("\n")
  await issuers.import(bundle, "intermediate/set-signed")
}

const acmeHeaders = ["Location", "Replay-Nonce", "Link"]

const unlimited = { ordersPerAccount: 0, ordersPerName: 0, accountsPerAddress: 0, failedValidations: 0 }

/** Enables ACME if the mount has a cluster path. Does so only once, so that a user can disable it permanently. */
async function ensureAcme(engine: ServedEngine): Promise<void> {
  const { config } = await engine.mounts.get(mount)
  const { settings } = engine.pki(mount)
  if (config.allowedResponseHeaders.length > 0 || (await settings.cluster()).path === "") return
  await engine.mounts.tune(mount, { config: { allowedResponseHeaders: acmeHeaders } })
  // Rate limits would only hinder people who try things out.
  await settings.changeAcme({ enabled: true, ...unlimited })
}

async function ensureRole(engine: ServedEngine): Promise<void> {
  const { roles } = engine.pki(mount)
  if ((await roles.list()).includes(role)) return
  await roles.save(role, {
    allowedDomains: ["localhost"],
    allowBareDomains: true,
    allowSubdomains: true,
    allowedIpSansCidr: ["127.0.0.0/8", "::1/128"],
    requireCn: false,
    keyType: "ec",
    ttlMs: 30 * dayMs,
    maxTtlMs: 90 * dayMs,
  })
}
