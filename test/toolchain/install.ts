// Finds or installs the real programs that tests use, and prints which were chosen. Fails if one is still missing at the end.
import { apache, caddy, certbot, challengeResponder, dehydrated, lego, newerCertbot } from "./acme.ts"
import {
  acmeGoFolder,
  buildGoProgram,
  certManagerFolder,
  consulTemplateFolder,
  crlsFolder,
  findGoProgram,
  goInstallation,
  goTfeFolder,
  helmFolder,
  kstatusFolder,
  openTofuFolder,
  pulumiFolder,
  vaultGoFolder,
  zlintFolder,
} from "./go-modules.ts"
import { bouncyCastle } from "./bouncy-castle.ts"
import { bubblewrap } from "./bubblewrap.ts"
import { buildGoTfeTests, findGoTfeTests } from "../e2e/clients/go-tfe-suite/build.ts"
import { pythonWithHvac } from "./hvac.ts"
import { installPostgres } from "./install-postgres.ts"
import { certtool, java, openssl } from "./validators.ts"
import { buildKubernetes, findKubernetes, kubernetesInstallation, type KubernetesVersions } from "./kubernetes.ts"
import { dockerAnswers, findPostgresBinaries, postgresInstallation, postgresVariable } from "./postgres.ts"
import { chromium } from "./chromium.ts"
import { promtool } from "./promtool.ts"
import { findPulumi, pulumiInstallation } from "./pulumi.ts"
import { findOpenTofu, findTerraform, openTofuInstallation } from "./terraform.ts"

interface Tool {
  readonly name: string
  /** Returns a description of the program that the tests will use. */
  find(): Promise<string | undefined>
  install(): Promise<unknown>
  readonly advice: string
}

const tools: readonly Tool[] = [
  { name: "PostgreSQL", find: findPostgres, install: installPostgres, advice: postgresInstallation },
  goProgram("go-tfe client", goTfeFolder),
  {
    name: "go-tfe's integration tests",
    find: async () => (await findGoTfeTests())?.binary,
    install: buildGoTfeTests,
    advice: goInstallation,
  },
  goProgram("Go clients of the certificate API", vaultGoFolder),
  { name: "hvac", ...pythonWithHvac },
  goProgram("consul-template", consulTemplateFolder),
  { name: "OpenSSL", ...openssl },
  { name: "GnuTLS", ...certtool },
  { name: "Java", ...java },
  { name: "Bouncy Castle", ...bouncyCastle },
  { name: "certbot", ...certbot },
  { name: "certbot 5", ...newerCertbot },
  { name: "lego", ...lego },
  { name: "dehydrated", ...dehydrated },
  { name: "Caddy", ...caddy },
  { name: "Apache", ...apache },
  goProgram("ACME code of Caddy and cert-manager", acmeGoFolder),
  { name: "pebble-challtestsrv", ...challengeResponder },
  goProgram("zlint", zlintFolder),
  goProgram("Go's own lists", crlsFolder),
  goProgram("kstatus", kstatusFolder),
  { name: "promtool", ...promtool },
  { name: "bubblewrap", ...bubblewrap },
  { name: "Chromium", ...chromium },
  { name: "Pulumi", find: findPulumi, install: () => buildGoProgram(pulumiFolder), advice: pulumiInstallation },
  goProgram("Helm", helmFolder),
  { name: "OpenTofu", find: openTofu, install: () => buildGoProgram(openTofuFolder), advice: openTofuInstallation },
  goProgram("controllers of cert-manager", certManagerFolder),
  kubernetes("Kubernetes"),
]

for (const tool of tools) {
  const chosen = (await tool.find()) ?? (await installed(tool))
  console.log(`${tool.name}: ${chosen ?? `missing. ${tool.advice}`}`)
  if (chosen === undefined) process.exitCode = 1
}

function goProgram(name: string, folder: string): Tool {
  return { name, find: () => findGoProgram(folder), install: () => buildGoProgram(folder), advice: goInstallation }
}

function kubernetes(name: string, versions?: KubernetesVersions): Tool {
  return {
    name,
    find: async () => (await findKubernetes(versions))?.apiServer,
    install: () => buildKubernetes(versions),
    advice: kubernetesInstallation,
  }
}

async function openTofu(): Promise<string | undefined> {
  const programs = [await findOpenTofu(), await findTerraform()]
  if (programs[0] === undefined) return undefined
  return programs
    .flatMap((found) => (found === undefined ? [] : [`${found.program} (${found.kind} ${found.version})`]))
    .join(", and ")
}

async function installed(tool: Tool): Promise<string | undefined> {
  console.log(`${tool.name}: not found, installing`)
  try {
    await tool.install()
  } catch (error) {
    console.error(`${tool.name}: ${error instanceof Error ? error.message : String(error)}`)
  }
  return tool.find()
}

async function findPostgres(): Promise<string | undefined> {
  if (process.env[postgresVariable]) return `the server that ${postgresVariable} names`
  const binaries = await findPostgresBinaries()
  if (binaries !== undefined) return `binaries in ${binaries}`
  return (await dockerAnswers()) ? "a container" : undefined
}
