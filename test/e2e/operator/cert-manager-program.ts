// cert-manager's controllers in a process of their own, with an administrator's access, and the definitions that they need.
import { spawn } from "node:child_process"
import { once } from "node:events"
import { join } from "node:path"
import { createInterface } from "node:readline"
import { certManagerFolder, goProgram, moduleFolder } from "../../toolchain/go-modules.ts"
import type { Cluster } from "./cluster.ts"

/** Controllers that turn Certificates into CertificateRequests and the answers into Secrets. */
export const certificateControllers = [
  "certificates-issuing",
  "certificates-key-manager",
  "certificates-readiness",
  "certificates-request-manager",
  "certificates-revision-manager",
  "certificates-trigger",
] as const

/** Controllers that create Certificates for Ingresses and Gateways. */
export const shimControllers = ["ingress-shim", "gateway-shim"] as const

/** Controller that approves every CertificateRequest. */
export const approver = "certificaterequests-approver"

export type CertManagerController =
  | (typeof certificateControllers)[number]
  | (typeof shimControllers)[number]
  | typeof approver

/** Returns the program; undefined if it cannot be built. */
export const findCertManager = (): Promise<string | undefined> => goProgram(certManagerFolder)

const gateways = "config/crd/standard/gateway.networking.k8s.io_gateways.yaml"

/** Installs the definitions of the releases that the program is built from. */
export async function installCertManagerDefinitions({ kubectl }: Cluster): Promise<void> {
  const paths = [
    join(await moduleFolder(certManagerFolder, "github.com/cert-manager/cert-manager"), "deploy/crds"),
    join(await moduleFolder(certManagerFolder, "sigs.k8s.io/gateway-api"), gateways),
  ]
  await kubectl(["apply", "--server-side", ...paths.flatMap((path) => ["-f", path])])
  await kubectl(["wait", "--for=condition=Established", "crds", "--all", "--timeout=120s"])
}

const startMs = 120_000

export async function startCertManager(
  program: string,
  { environment }: Cluster,
  controllers: readonly CertManagerController[],
  args: readonly string[] = [],
): Promise<AsyncDisposable> {
  const own = ["--kubeconfig", environment["KUBECONFIG"] ?? "", "--controllers", controllers.join(",")]
  const child = spawn(program, [...own, ...args], { stdio: ["ignore", "pipe", "pipe"] })
  const ended = once(child, "exit")
  let log = ""
  child.stderr.setEncoding("utf8").on("data", (text: string) => (log = `${log}${text}`.slice(-20_000)))
  await new Promise<void>((resolve, reject) => {
    const late = setTimeout(() => reject(new Error(`cert-manager does not start:\n${log}`)), startMs)
    createInterface({ input: child.stdout }).on("line", () => resolve())
    child.on("exit", (code) => reject(new Error(`cert-manager ended with ${code}:\n${log}`)))
    child.on("exit", () => clearTimeout(late))
    child.on("error", reject)
  })
  return {
    async [Symbol.asyncDispose]() {
      child.kill("SIGKILL")
      await ended
    },
  }
}
