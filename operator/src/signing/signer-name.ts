// Names of the signers that Issuers are for the certificates API of Kubernetes: `chancery.dev/<namespace>.<name>` for an Issuer, and
// `clusterissuers.chancery.dev/<name>` for a ClusterIssuer. A namespace has no dot, so no two issuers share a name.

const issuerDomain = "chancery.dev"
const clusterIssuerDomain = "clusterissuers.chancery.dev"

export type SigningIssuer =
  | { readonly kind: "Issuer"; readonly namespace: string; readonly name: string }
  | { readonly kind: "ClusterIssuer"; readonly name: string }

export const signerNameOf = (issuer: SigningIssuer): string =>
  issuer.kind === "Issuer"
    ? `${issuerDomain}/${issuer.namespace}.${issuer.name}`
    : `${clusterIssuerDomain}/${issuer.name}`

/** Returns the issuer, which may not exist, of one of these names; undefined for another signer. */
export function issuerOfSigner(signerName: string): SigningIssuer | undefined {
  const slash = signerName.indexOf("/")
  const [domain, path] = [signerName.slice(0, slash), signerName.slice(slash + 1)]
  if (domain === clusterIssuerDomain && path !== "") return { kind: "ClusterIssuer", name: path }
  const dot = path.indexOf(".")
  const [namespace, name] = [path.slice(0, dot), path.slice(dot + 1)]
  if (domain !== issuerDomain || dot < 1 || name === "") return undefined
  return { kind: "Issuer", namespace, name }
}

/** Index value of the issuer: `Issuer/namespace/name` or `ClusterIssuer/name`. */
export const indexValueOf = (issuer: SigningIssuer): string =>
  issuer.kind === "Issuer" ? `Issuer/${issuer.namespace}/${issuer.name}` : `ClusterIssuer/${issuer.name}`
