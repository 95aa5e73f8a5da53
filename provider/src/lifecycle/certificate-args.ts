// Arguments that several classes share.
import type { PkiCertificateArgs } from "../resources/pki-certificate.ts"
import type { PkiIntermediateArgs } from "../resources/pki-intermediate.ts"

/** Validity of a certificate. Changing any member forces replacement. */
export interface ValidityArgs extends Pick<PkiCertificateArgs, "ttl" | "notBefore" | "notAfter"> {}

/** Names of a certificate. Changing any member forces replacement. */
export interface NamesArgs extends Pick<
  PkiCertificateArgs,
  "commonName" | "altNames" | "ipSans" | "uriSans" | "otherSans" | "excludeCnFromSans" | "subjectSerialNumber"
> {}

/** Arguments of every issued certificate. */
export interface IssuanceArgs extends Pick<
  PkiCertificateArgs,
  "mount" | "issuerRef" | "format" | "removeRootsFromChain" | "renewBefore" | "timeouts"
> {}

/** Subject and extensions of an authority's certificate. Changing any member forces replacement. */
export interface AuthorityArgs extends Omit<
  PkiIntermediateArgs,
  keyof IssuanceArgs | "csr" | "useCsrValues" | "enforceLeafNotAfterBehavior" | "onDestroy"
> {}
