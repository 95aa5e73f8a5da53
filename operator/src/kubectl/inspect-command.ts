import { Command, CommandError, exitCodes, json, table, type Terminal } from "@chancery/engine/cli"
import type { InspectedCertificate, Inspection } from "./certificate-inspection.ts"
import { addClusterOptions, addOutputOption, type ClusterOptions, type OutputFormat } from "./cluster-options.ts"

interface Flags extends ClusterOptions {
  readonly output: OutputFormat
}

export function inspectCommand(terminal: Terminal): Command {
  const command = new Command("inspect")
    .description(
      "Show the certificate in the Secret of a Certificate, and its differences from the spec. Never prints keys.",
    )
    .argument("<name>", "name of the Certificate")
  addOutputOption(command)
  addClusterOptions(command)
  return command.action(async (name: string, flags: Flags) => {
    if (flags.allNamespaces === true)
      throw new CommandError(exitCodes.usage, "--all-namespaces is not possible; name the namespace with --namespace.")
    const { answered, openClusterAccess } = await import("./cluster-access.ts")
    const { certificate } = await import("../api/certificate.ts")
    const { inspectCertificate } = await import("./certificate-inspection.ts")
    const { secrets } = await import("../kube/kubernetes-object.ts")
    await using access = openClusterAccess(flags)
    const object = await answered(() => access.api.get(certificate, `${access.namespace}/${name}`))
    const { secretName = "" } = (object["spec"] ?? {}) as { readonly secretName?: string }
    const secret = await answered(() => access.cluster.get(secrets, `${access.namespace}/${secretName}`))
    const inspection = inspectCertificate(object, secret, access.runtime.clock.now())
    terminal.out(flags.output === "json" ? json(inspection) : textOf(inspection))
  })
}

function textOf({ secretName, certificate, chain, authorities, differences }: Inspection): string {
  const sections = [`Secret: ${secretName}`]
  if (certificate !== undefined) sections.push(factsOf(certificate))
  const further = { "Chain:": chain, "Authorities (ca.crt):": authorities }
  for (const [title, certificates] of Object.entries(further)) {
    if (certificates.length === 0) continue
    const rows = certificates.map(({ subject, notAfter, fingerprint }) => [subject, notAfter, fingerprint])
    sections.push(`${title}\n${table(["SUBJECT", "EXPIRES", "SHA-256"], rows)}`)
  }
  sections.push(
    differences.length === 0 ? "The Secret matches the spec." : `Differences from the spec:\n${differences.join("\n")}`,
  )
  return sections.join("\n\n")
}

function factsOf(certificate: InspectedCertificate): string {
  const rows = [
    ["Names:", certificate.names.join(", ") || "none"],
    ["Issuer:", certificate.issuer],
    ["Serial number:", certificate.serialNumber],
    ["Valid from:", certificate.notBefore],
    ["Valid until:", certificate.notAfter],
    ["Key:", certificate.key],
    ["SHA-256:", certificate.fingerprint],
  ]
  return table(["Subject:", certificate.subject || "empty"], rows)
}
