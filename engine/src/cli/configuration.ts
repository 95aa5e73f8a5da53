// Resolves the settings. Precedence: flags, environment, file, defaults. All faults are reported at once, one sentence per setting.
import { z } from "zod"
import { configurationError } from "./exit-code.ts"
import {
  environmentNameOf,
  flagOf,
  type Setting,
  type SettingName,
  settingNames,
  settings,
  type Settings,
} from "./settings.ts"

export interface ConfigurationSources {
  readonly flags: Readonly<Partial<Record<SettingName, string>>>
  readonly environment: Readonly<Record<string, string | undefined>>
  readonly file: { readonly path: string; readonly text: string } | undefined
  readonly dev: boolean
}

/** Returns the settings. Throws one `CommandError` with a sentence for each invalid setting. */
export function configure(sources: ConfigurationSources): Settings {
  const file = sources.file === undefined ? {} : readFile(sources.file)
  const values: Partial<Record<SettingName, unknown>> = {}
  const wrong: string[] = []
  for (const name of settingNames) {
    const given = givenValue(name, sources, file)
    if (given === undefined) continue
    const result = settings[name].schema.safeParse(given.text)
    if (result.success) values[name] = result.data
    else wrong.push(complaint(name, given))
  }
  if ((values.tlsCert === undefined) !== (values.tlsKey === undefined)) {
    const missing = values.tlsCert === undefined ? "tlsCert" : "tlsKey"
    wrong.push(`HTTPS needs a certificate and its key; set ${flagOf(missing)} or ${environmentNameOf(missing)} too.`)
  }
  if (values.tlsCert !== undefined && values.tlsManaged !== undefined) {
    wrong.push(`${flagOf("tlsCert")} and ${flagOf("tlsManaged")} both set a certificate; omit one of them.`)
  }
  const isWithoutOwnCertificate = values.tlsCert === undefined && values.tlsManaged === undefined
  const hasCertificate = !isWithoutOwnCertificate || sources.dev
  if (values.tlsListen !== undefined && values.tlsListen !== "off" && !hasCertificate) {
    wrong.push(
      `${flagOf("tlsListen")} serves HTTPS, which needs a certificate; set ${flagOf("tlsCert")} and ${flagOf("tlsKey")}, or ${flagOf("tlsManaged")}.`,
    )
  }
  // The certificate of dev is issued only for an address of HTTPS.
  const hasDeviceCertificate = hasCertificate && !(isWithoutOwnCertificate && values.tlsListen === "off")
  if (values.deviceListen !== undefined && !hasDeviceCertificate) {
    wrong.push(
      `${flagOf("deviceListen")} serves HTTPS, which needs a certificate; set ${flagOf("tlsCert")} and ${flagOf("tlsKey")}, or ${flagOf("tlsManaged")}.`,
    )
  }
  if (values.storageReadReplica !== undefined && !String(values.storage).startsWith("postgres")) {
    wrong.push(
      `${flagOf("storageReadReplica")} needs a store in PostgreSQL; set ${flagOf("storage")} or ${environmentNameOf("storage")} to a postgres:// URL, or omit it.`,
    )
  }
  if (values.sealKey !== undefined && values.sealKeyFile !== undefined) {
    wrong.push(`Both ${environmentNameOf("sealKey")} and a seal key file are set; omit one of them.`)
  }
  if (wrong.length > 0) throw configurationError(wrong.join("\n"))
  return values as Settings
}

interface Given {
  readonly text: string
  readonly from: string
}

function givenValue(
  name: SettingName,
  sources: ConfigurationSources,
  file: Readonly<Record<string, string>>,
): Given | undefined {
  const setting: Setting = settings[name]
  const flag = sources.flags[name]
  if (flag !== undefined) return { text: flag, from: flagOf(name) }
  const variable = sources.environment[environmentNameOf(name)]
  // An empty variable counts as unset: orchestrators pass a variable without a value this way.
  if (variable !== undefined && variable !== "") return { text: variable, from: environmentNameOf(name) }
  const { also } = setting
  const meant = also && also.means(sources.environment[also.variable] ?? "")
  if (also !== undefined && meant !== undefined) return { text: meant, from: also.variable }
  const member = file[name]
  if (member !== undefined) return { text: member, from: `"${name}" in ${sources.file?.path}` }
  const fallback = (sources.dev ? setting.devDefault : undefined) ?? setting.default
  return fallback === undefined ? undefined : { text: fallback, from: "the default" }
}

function complaint(name: SettingName, { text, from }: Given): string {
  const { expects, secret, unquotable }: Setting = settings[name]
  const value = secret || unquotable ? "the given value" : JSON.stringify(text)
  return `The setting ${name} cannot be ${value} (from ${from}); it must be ${expects}.`
}

const members = z.record(z.string(), z.union([z.string(), z.number(), z.boolean()]))

function readFile({ path, text }: { path: string; text: string }): Record<string, string> {
  let json: unknown
  try {
    json = JSON.parse(text)
  } catch (error) {
    throw configurationError(
      `The configuration file ${path} is not valid JSON (${(error as Error).message}); correct or omit it.`,
    )
  }
  const result = members.safeParse(json)
  if (!result.success) {
    throw configurationError(
      `The configuration file ${path} must be a JSON object whose members are strings, numbers or booleans.`,
    )
  }
  const known = settingNames.filter((name) => (settings[name] as Setting).secret !== true)
  const unknown = Object.keys(result.data).filter((name) => !(known as string[]).includes(name))
  if (unknown.length > 0) {
    throw configurationError(
      `The configuration file ${path} has ${unknown.map((name) => `"${name}"`).join(", ")}, which is not a setting; the settings are ${known.join(", ")}.`,
    )
  }
  return Object.fromEntries(Object.entries(result.data).map(([name, value]) => [name, String(value)]))
}
