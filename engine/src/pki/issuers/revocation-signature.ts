import {
  chooseSignatureAlgorithm,
  parseSignatureAlgorithm,
  type SignatureAlgorithm,
} from "../../x509/signature-algorithm.ts"
import type { ParsedIssuer } from "./held-issuer.ts"

/** What an issuer signs revocation lists and OCSP answers with. */
export const revocationSignatureAlgorithm = ({ settings, publicKey }: ParsedIssuer): SignatureAlgorithm =>
  parseSignatureAlgorithm(settings.revocationSignatureAlgorithm) ??
  chooseSignatureAlgorithm(publicKey.algorithm, { signatureBits: 0, usePss: false })
