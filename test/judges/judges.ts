import { goProgram, zlintFolder } from "../toolchain/go-modules.ts"
import { certtool, java, ocsptool, openssl } from "../toolchain/judges.ts"
import { publicProgram } from "../toolchain/public-program.ts"
import { gnutlsJudge } from "./gnutls.ts"
import { javaJudge } from "./java.ts"
import type { Judge } from "./judge.ts"
import { opensslJudge } from "./openssl.ts"
import { zlintJudge } from "./zlint.ts"

export const judgeNames = ["openssl", "gnutls", "java", "zlint"] as const

export type JudgeName = (typeof judgeNames)[number]

/** Those that this machine has; what is missing is said loudly, and in CI it is an error. */
export async function findJudges(): Promise<ReadonlyMap<JudgeName, Judge>> {
  const [opensslProgram, certtoolProgram, javaProgram, zlintProgram] = await Promise.all([
    publicProgram(openssl),
    publicProgram(certtool),
    publicProgram(java),
    goProgram(zlintFolder),
  ])
  const found = new Map<JudgeName, Judge>()
  if (opensslProgram !== undefined) found.set("openssl", opensslJudge(opensslProgram))
  if (certtoolProgram !== undefined) {
    found.set("gnutls", gnutlsJudge({ certtool: certtoolProgram, ocsptool: ocsptool(certtoolProgram) }))
  }
  if (javaProgram !== undefined) found.set("java", javaJudge(javaProgram))
  if (zlintProgram !== undefined) found.set("zlint", zlintJudge(zlintProgram))
  return found
}
