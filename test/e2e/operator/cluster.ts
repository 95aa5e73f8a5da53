// The cluster that tests share: kubectl as its administrator, and service accounts with the operator's rights.
import { spawn } from "node:child_process"
import { readFile } from "node:fs/promises"
import { delimiter, dirname, join } from "node:path"
import { KubeConfig } from "@kubernetes/client-node"
import type { ControlPlane } from "./control-plane.ts"

type ClusterName = "plane" | "k3s"
/** Names the cluster of a project's suites: one project uses k3s, the others a control plane. */
const chosenVariable = "CHANCERY_TEST_CLUSTER"
const variable = (name: ClusterName, what: "KUBECONFIG" | "KUBECTL") => `CHANCERY_TEST_${name.toUpperCase()}_${what}`

/** Records the cluster in the environment, for the suites of this run in any process. */
export function rememberCluster(name: ClusterName, controlPlane: Pick<ControlPlane, "kubectl" | "kubeconfig">): void {
  process.env[variable(name, "KUBECONFIG")] = controlPlane.kubeconfig
  process.env[variable(name, "KUBECTL")] = controlPlane.kubectl
}

const root = join(import.meta.dirname, "../../..")

export interface Cluster {
  /** Environment for a shell in which `kubectl` uses this cluster. */
  readonly environment: Readonly<Record<string, string>>
  /** Returns the standard output. Throws the standard error if the command fails. */
  kubectl(args: readonly string[], input?: string): Promise<string>
  /** Returns the access of the cluster's administrator. */
  adminAccess(): KubeConfig
  installDefinitions(): Promise<void>
  /** Creates the namespace with the operator's ServiceAccount, and returns the account's access. */
  operatorAccess(namespace: string, options?: OperatorAccess): Promise<KubeConfig>
  /** Returns the access of an existing ServiceAccount. */
  accessOf(namespace: string, account: string): Promise<KubeConfig>
}

export interface OperatorAccess {
  /** With the permissions of `signing-rbac.yaml`. */
  readonly signs?: boolean
}

/** Returns undefined if the cluster could not be started. */
export function sharedCluster(): Cluster | undefined {
  const name = process.env[chosenVariable] === "k3s" ? "k3s" : "plane"
  const kubeconfig = process.env[variable(name, "KUBECONFIG")]
  const kubectl = process.env[variable(name, "KUBECTL")]
  return kubeconfig === undefined || kubectl === undefined ? undefined : openCluster({ kubectl, kubeconfig })
}

export function openCluster(controlPlane: Pick<ControlPlane, "kubectl" | "kubeconfig">): Cluster {
  const { kubeconfig } = controlPlane
  const kubectl: Cluster["kubectl"] = (args, input = "") =>
    run(controlPlane.kubectl, ["--kubeconfig", kubeconfig, ...args], input)
  const adminAccess = () => {
    const config = new KubeConfig()
    config.loadFromFile(kubeconfig)
    return config
  }
  const accessOf: Cluster["accessOf"] = async (namespace, account) => {
    const token = await kubectl(["create", "token", account, "--namespace", namespace])
    const config = adminAccess()
    const cluster = config.getCurrentCluster()
    if (cluster === null) throw new Error("the control plane has no address")
    config.loadFromClusterAndUser(cluster, { name: account, token: token.trim() })
    return config
  }
  return {
    environment: {
      KUBECONFIG: kubeconfig,
      PATH: `${dirname(controlPlane.kubectl)}${delimiter}${process.env["PATH"] ?? ""}`,
    },
    kubectl,
    adminAccess,
    async installDefinitions() {
      const folder = join(root, "crds")
      await kubectl(["apply", "--server-side", "-f", folder])
      await kubectl(["wait", "--for=condition=Established", "-f", folder, "--timeout=120s"])
    },
    async operatorAccess(namespace, { signs = false } = {}) {
      await kubectl(["create", "namespace", namespace])
      const rules = await readFile(join(root, "operator/deploy/rbac.yaml"), "utf8")
      const signing = await readFile(join(root, "operator/deploy/signing-rbac.yaml"), "utf8")
      if (signs)
        await kubectl(["apply", "-f", "-"], signing.replaceAll("namespace: chancery\n", `namespace: ${namespace}\n`))
      // Suites share the cluster, so each namespace gets a separate ClusterRoleBinding.
      const own = rules
        .replaceAll("namespace: chancery\n", `namespace: ${namespace}\n`)
        .replace(/(kind: ClusterRoleBinding\nmetadata:\n {2}name: )\S+/, `$1${namespace}`)
      await kubectl(["apply", "-f", "-"], own)
      return accessOf(namespace, "chancery-operator")
    },
    accessOf,
  }
}

function run(program: string, args: readonly string[], input: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const child = spawn(program, args)
    let output = ""
    let complaints = ""
    child.stdout.setEncoding("utf8").on("data", (text: string) => (output += text))
    child.stderr.setEncoding("utf8").on("data", (text: string) => (complaints += text))
    child.on("error", reject)
    child.on("close", (code) => (code === 0 ? resolve(output) : reject(new Error(complaints))))
    // A command that needs no input may have ended already.
    child.stdin.on("error", () => {})
    child.stdin.end(input)
  })
}
