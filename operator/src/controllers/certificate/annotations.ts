// Annotations that the operator writes on Secrets: they describe the certificate, and identify Secrets of the operator.

export const annotations = {
  certificateName: "chancery.dev/certificate-name",
  certificateUid: "chancery.dev/certificate-uid",
  issuerGroup: "chancery.dev/issuer-group",
  issuerKind: "chancery.dev/issuer-kind",
  issuerName: "chancery.dev/issuer-name",
  role: "chancery.dev/role",
  /** SHA-256 of the issuer's CA chain at issuance, in hex. */
  authority: "chancery.dev/issuer-ca",
  commonName: "chancery.dev/common-name",
  alternativeNames: "chancery.dev/alt-names",
  serialNumber: "chancery.dev/serial-number",
  revision: "chancery.dev/revision",
  /** Renewal request that this certificate answered. */
  renewRequest: "chancery.dev/renew-requested-at",
  /** Hash of the input of the PKCS #12 stores. The stores themselves are different bytes each time that they are written. */
  stores: "chancery.dev/keystores",
} as const
