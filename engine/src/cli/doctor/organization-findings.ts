import { type Finding, orOk, warn } from "./finding.ts"

const check = "organizations"

/** Warns about organizations from before remote operations, that do not say where runs execute. */
export const organizationFindings = (undecided: readonly string[]): readonly Finding[] =>
  orOk(
    undecided.map((name) =>
      warn(
        check,
        `The organization ${name} is older than remote operations, so they are off: terraform plans and applies on the machines of its users.`,
        `To execute runs on agents, start one (docs/agents.md) and run: chancery organization set ${name} --remote-operations on. To keep it so: --remote-operations off.`,
      ),
    ),
    check,
    "All organizations say where runs execute.",
  )
