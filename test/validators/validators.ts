import { goProgram, zlintFolder } from "../toolchain/go-modules.ts"
import { certtool, java, ocsptool, openssl } from "../toolchain/validators.ts"
import { publicProgram } from "../toolchain/public-program.ts"
import { gnutlsValidator } from "./gnutls.ts"
import { javaValidator } from "./java.ts"
import type { Validator } from "./validator.ts"
import { opensslValidator } from "./openssl.ts"
import { zlintValidator } from "./zlint.ts"

export const validatorNames = ["openssl", "gnutls", "java", "zlint"] as const

export type ValidatorName = (typeof validatorNames)[number]

/** Returns the validators that are installed. A missing one is logged as a warning; in CI it is an error. */
export async function findValidators(): Promise<ReadonlyMap<ValidatorName, Validator>> {
  const [opensslProgram, certtoolProgram, javaProgram, zlintProgram] = await Promise.all([
    publicProgram(openssl),
    publicProgram(certtool),
    publicProgram(java),
    goProgram(zlintFolder),
  ])
  const found = new Map<ValidatorName, Validator>()
  if (opensslProgram !== undefined) found.set("openssl", opensslValidator(opensslProgram))
  if (certtoolProgram !== undefined) {
    found.set("gnutls", gnutlsValidator({ certtool: certtoolProgram, ocsptool: ocsptool(certtoolProgram) }))
  }
  if (javaProgram !== undefined) found.set("java", javaValidator(javaProgram))
  if (zlintProgram !== undefined) found.set("zlint", zlintValidator(zlintProgram))
  return found
}
