// False findings of validators about our certificates, CRLs and OCSP responses, by validator and finding. Each item of a batch names the
// explanations that it needs. The tests fail on a finding without an explanation, and on an explanation that no item needs any more.

const explanations = {
  "gnutls: The certificate chain violates the signer's constraints.":
    "GnuTLS takes the common name of a server for a host name where no other name is one, and holds it against constraints " +
    "on host names even if it is a person's or a mailbox.",
  "zlint: e_key_usage_and_extended_key_usage_inconsistent":
    "Whether the key usages that a role names fit its extended key usages is for whoever writes the role to say. Those of " +
    "a server fit the default ones.",
  "zlint: e_mp_ecdsa_pub_key_encoding_correct":
    "The root programme of a browser admits no P-224. Vault has it among the values of key_bits.",
  "zlint: unknown signature algorithm":
    "Its reader of OCSP answers checks the signature on the certificate in them, and knows neither Ed25519 nor PSS.",
} as const satisfies Readonly<Record<string, string>>

export type Explanation = keyof typeof explanations

export const explainedFindings = Object.keys(explanations) as Explanation[]

export const isExplanation = (text: string): text is Explanation => Object.hasOwn(explanations, text)
