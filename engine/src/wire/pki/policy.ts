import type { PolicyView } from "../../pki/access/policies.ts"
import { decodeAnswer, type Document, parameters, text, textUpTo } from "./parameters.ts"

/** More than any policy may have: the rule that refuses it says why. */
const policyText = textUpTo(1_024 * 1_024)

/** `rules` is what older clients call it. */
export const policyParameters = parameters({ policy: policyText, rules: policyText })

export const encodePolicy = ({ name, text: policy }: PolicyView): Document => ({ name, policy })
/** For older clients, which look for `rules`. */
export const encodeOldPolicy = ({ name, text: rules }: PolicyView): Document => ({ name, policy: rules, rules })

const policyAnswer = parameters({ name: text, policy: policyText })

export function decodePolicy(document: unknown): PolicyView {
  const { name, policy } = decodeAnswer(policyAnswer, document)
  return { name, text: policy }
}
