import { Command } from "commander"
import { systemRuntime } from "../core/runtime.ts"
import type { Finding } from "./doctor/finding.ts"
import { CommandError, exitCodes } from "./exit-code.ts"
import { json, table } from "./report.ts"
import { addSettingOptions, settingsOf } from "./setting-options.ts"
import { settingNames } from "./settings.ts"
import type { Terminal } from "./terminal.ts"

interface DoctorFlags {
  readonly quick?: true
  readonly json?: true
}

export function doctorCommand(terminal: Terminal): Command {
  const command = new Command("doctor")
    .description(
      "Check settings, files, clock, store, seal keys, authorities, EST, logins, TLS, jobs and webhooks, and print a remedy for each problem. " +
        "Works while servers are running and changes nothing.",
    )
    .option(
      "--quick",
      "skip the checks that read the whole store: the integrity of its file, and the secrets under each seal key",
    )
    .option("--json", "print the findings as JSON")
  addSettingOptions(command, { names: settingNames, dev: false, group: "Settings:" })
  return command.action(async ({ quick, json: asJson }: DoctorFlags) => {
    const { examine } = await import("./doctor/examine.ts")
    const findings = await examine(() => settingsOf(command, terminal), {
      runtime: systemRuntime(),
      quick: quick === true,
    })
    terminal.out(asJson === true ? json({ findings: findings.map(shown) }) : tableOf(findings))
    const failures = findings.filter(({ level }) => level === "fail")
    if (failures.length === 0) return
    const code = failures.find(({ exitCode }) => exitCode !== undefined)?.exitCode ?? exitCodes.failure
    throw new CommandError(code, `${failures.length} of ${findings.length} findings are failures.`)
  })
}

const shown = ({ check, level, message, advice }: Finding) => ({ check, level, message, advice: advice ?? null })

function tableOf(findings: readonly Finding[]): string {
  const rows = findings.flatMap(({ check, level, message, advice }) => [
    [level, check, message],
    ...(advice === undefined ? [] : [["", "", `-> ${advice}`]]),
  ])
  return table(["LEVEL", "CHECK", "FINDING"], rows)
}
