// What is written beside key and certificate in a Secret, and how Secrets of ours are found among all others.

export const annotations = {
  certificateName: "chancery.dev/certificate-name",
  certificateUid: "chancery.dev/certificate-uid",
  issuerGroup: "chancery.dev/issuer-group",
  issuerKind: "chancery.dev/issuer-kind",
  issuerName: "chancery.dev/issuer-name",
  role: "chancery.dev/role",
  /** SHA-256 of the authority that the issuer had when it issued; hex. */
  authority: "chancery.dev/issuer-ca",
  commonName: "chancery.dev/common-name",
  alternativeNames: "chancery.dev/alt-names",
  serialNumber: "chancery.dev/serial-number",
  revision: "chancery.dev/revision",
  /** The request that it was issued after. */
  renewRequest: "chancery.dev/renew-requested-at",
  /** Of what key store and trust store were made of: they are different octets each time. */
  stores: "chancery.dev/keystores",
} as const
