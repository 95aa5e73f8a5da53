// Exports for programs that have their own keys certified, such as the Kubernetes operator. Re-exports only.
export { oids } from "./asn1/oids.ts"
export { MalformedDer } from "./asn1/malformed-der.ts"
export { type Certificate, parseCertificate } from "./certificate.ts"
export { type CertificationRequest, parseCertificationRequest } from "./certification-request.ts"
export { sha256 } from "./digest.ts"
export type { Extension } from "./extension.ts"
export {
  type ExtensionValues,
  extendedKeyUsage,
  type KeyUsage,
  keyUsage,
  keyUsages,
  parseExtensionValues,
  subjectAltName,
} from "./extensions.ts"
export type { GeneralName } from "./general-name.ts"
export { writeJavaKeyStore, writeJavaTrustStore } from "./jks/java-key-store.ts"
export { type KeyAlgorithm, keyAlgorithm, describeKeyAlgorithm } from "./key-algorithm.ts"
export { type KeyGenerator, keyGenerator, pooledRsaKeys } from "./key-generation.ts"
export { type DistinguishedName, formatName } from "./name.ts"
export { type NameConstraints, nameConstraints, parseNameConstraints, type Subtree } from "./name-constraints.ts"
export { readPem, writePem } from "./pem.ts"
export { type KeyStore, type TrustedCertificate, writeKeyStore, writeTrustStore } from "./pkcs12.ts"
export { type PrivateKey, readPrivateKeyPem } from "./private-key.ts"
export { isSamePublicKey, type PublicKey, readPublicKey } from "./public-key.ts"
export { type SerialNumber, serialNumberOf } from "./serial-number.ts"
export { isSignedBy } from "./signature.ts"
export { type RequestContent, signedRequest } from "./signed-request.ts"
export { UnacceptableInput } from "./unacceptable-input.ts"
