// What a judge may say of a certificate, CRL or OCSP answer of ours without being right, by judge and finding. A piece
// names the explanations that it needs; a finding without one fails the tests, and so does an explanation that nothing
// needs any more.

const explanations = {
  "zlint: e_mp_ecdsa_pub_key_encoding_correct":
    "The root programme of a browser admits no P-224. The specification has it among the key sizes (8, key_bits).",
  "zlint: unknown signature algorithm":
    "Its reader of OCSP answers checks the signature on the certificate in them, and knows no Ed25519.",
} as const satisfies Readonly<Record<string, string>>

export type Explanation = keyof typeof explanations

export const isExplanation = (text: string): text is Explanation => Object.hasOwn(explanations, text)
