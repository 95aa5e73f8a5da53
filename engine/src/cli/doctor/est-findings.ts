import { estSettingsFaults } from "../../pki/est/est-settings.ts"
import type { AuthMethodFacts, EstMountFacts, LoginFacts } from "../../storage/maintenance/login-survey.ts"
import { type Finding, orOk, warn } from "./finding.ts"

const check = "est"

/** Types of auth methods that verify devices for EST. */
const delegatedTypes: readonly string[] = ["cert", "userpass"]

/**
 * Warns about settings of EST that were valid when they were written, and no longer are: auth methods and roles can be deleted. Also warns
 * about mounts that no device can enrol at.
 */
export function estFindings({ methods, estMounts, delegations }: LoginFacts): readonly Finding[] {
  return orOk(
    [
      ...estMounts.flatMap((facts) => mountFindings(facts, methods)),
      ...delegations.flatMap(({ mount, accessors }) =>
        accessors.flatMap((accessor) => delegationFinding(mount, accessor, methods) ?? []),
      ),
    ],
    check,
    estMounts.length === 0
      ? "No mount serves EST."
      : `The settings of EST are valid: ${estMounts.length} ${estMounts.length === 1 ? "mount" : "mounts"}.`,
  )
}

function mountFindings(facts: EstMountFacts, methods: readonly AuthMethodFacts[]): readonly Finding[] {
  const { mount, settings, delegatedAuthAccessors, roles } = facts
  const advice = `Correct the settings: POST /v1/${mount}/config/est (docs/est.md).`
  const { userpass, cert } = settings.authenticators
  if (userpass.accessor === "" && cert.accessor === "")
    return [
      warn(
        check,
        `EST of ${mount} has no authenticator: no device can enrol.`,
        `Set "authenticators" to an auth method of type userpass or cert, or disable EST: POST /v1/${mount}/config/est (docs/est.md).`,
      ),
    ]
  const typeOf = (accessor: string) => methods.find((method) => method.accessor === accessor)?.type
  const faults = estSettingsFaults(settings, { mountPath: mount, roles, delegatedAuthAccessors, typeOf })
  const certificates = methods.find(({ type, accessor }) => type === "cert" && accessor === cert.accessor)
  const lacksRole = cert.role !== "" && certificates?.certificateRoles.includes(cert.role.toLowerCase()) === false
  const details = [
    ...faults.map(({ detail }) => detail),
    ...(lacksRole
      ? [`"authenticators" cert: auth/${certificates.path} has no role ${cert.role}, which "cert_role" names`]
      : []),
  ]
  return details.map((detail) => warn(check, `EST of ${mount}: ${detail}.`, advice))
}

function delegationFinding(mount: string, accessor: string, methods: readonly AuthMethodFacts[]): Finding | undefined {
  const type = methods.find((method) => method.accessor === accessor)?.type
  if (type !== undefined && delegatedTypes.includes(type)) return undefined
  const problem =
    type === undefined ? "which no auth method has" : `of a method of type ${type}, which cannot verify devices`
  return warn(
    check,
    `delegated_auth_accessors of ${mount} has the accessor ${accessor}, ${problem}.`,
    `Remove it, or replace it by the accessor of a method: POST /v1/sys/mounts/${mount}/tune. GET /v1/sys/auth lists the accessors.`,
  )
}
