// The `token_*` members that roles of every auth method have. Answers have all of them; 0 and the empty list are the default.
import { policyNameOf } from "../../pki/access/policy.ts"
import type { TokenType } from "../../pki/logins/token-terms.ts"
import { z } from "zod"
import { mapped, mistyped, type ParameterType, problem, seconds, texts, zeroAsNull } from "./types.ts"

const tokenTypes: readonly TokenType[] = ["default", "default-service", "service"]

export const tokenType: ParameterType<TokenType> = {
  schema: z.codec(z.unknown(), z.custom<TokenType>(), {
    decode: (value, context) =>
      value === "batch" || value === "default-batch"
        ? problem(context, value, `must not be "${value}": every token here is a service token`)
        : (tokenTypes.find((one) => one === (value === "" ? "default" : value)) ?? mistyped(context, value)),
    encode: (value) => value,
  }),
  expected: '"default", "default-service" or "service"',
  type: "string",
}

export const optionalDuration = zeroAsNull(seconds)

/** In lower case, each once. */
export const policyNames = mapped(
  texts,
  (names): readonly string[] => [...new Set(names.map(policyNameOf))].toSorted(),
  (names) => names,
)
