// A root that signs nothing but authorities, an intermediate that issues, and what may be issued.
import { PkiCertificate, PkiIssuer, PkiMount, PkiRole } from "@chancery/pulumi"
import * as pulumi from "@pulumi/pulumi"

const config = new pulumi.Config()
const domain = config.get("domain") ?? "example.com"
/** Where clients reach the mounts; certificates say so for as long as they live. */
const address = config.get("address") ?? "http://pki.example.com/v1"

const roots = new PkiMount("example-roots", { description: "signs authorities only", maxLeaseTtl: "87600h" })

const root = new PkiIssuer("root", {
  mount: roots.path,
  kind: "root",
  commonName: "Example Root",
  organizations: ["Example"],
  keyType: "ec",
  keyBits: 384,
  ttl: "87600h",
  maxPathLength: 1,
})

const pki = new PkiMount("example-pki", { description: "issues to servers and their clients", maxLeaseTtl: "8760h" })

const issuing = new PkiIssuer("issuing", {
  mount: pki.path,
  kind: "intermediate",
  parentMount: roots.path,
  parentIssuerRef: root.name,
  commonName: "Example Issuing CA",
  organizations: ["Example"],
  keyType: "ec",
  ttl: "8760h",
  maxPathLength: 0,
  permittedDnsDomains: [domain],
  isDefault: true,
  issuingCertificates: [`${address}/example-pki/ca`],
  crlDistributionPoints: [`${address}/example-pki/crl`],
  ocspServers: [`${address}/example-pki/ocsp`],
})

const servers = new PkiRole("servers", {
  mount: pki.path,
  issuerRef: issuing.name,
  allowedDomains: [domain],
  allowSubdomains: true,
  clientFlag: false,
  keyType: "ec",
  ttl: "720h",
  maxTtl: "2160h",
})

const clients = new PkiRole("clients", {
  mount: pki.path,
  issuerRef: issuing.name,
  allowAnyName: true,
  enforceHostnames: false,
  serverFlag: false,
  keyType: "any",
  ttl: "24h",
  maxTtl: "168h",
})

const site = new PkiCertificate("site", {
  mount: pki.path,
  role: servers.name,
  commonName: `www.${domain}`,
  altNames: [`shop.${domain}`],
  renewBefore: "240h",
  onDestroy: "revoke",
})

export const roles = [servers.id, clients.id]
export const rootCertificate = root.certificate
/** Certificate chain of a server, without the root, which clients have. */
export const chain = pulumi.all([site.certificate, site.issuingCa]).apply((certificates) => certificates.join("\n"))
export const privateKey = site.privateKey
export const expiration = site.expiration
