// The cluster that tests share: kubectl as its administrator, and accounts that may do what the operator may.
import { spawn } from "node:child_process"
import { readFile } from "node:fs/promises"
import { delimiter, dirname, join } from "node:path"
import { KubeConfig } from "@kubernetes/client-node"
import type { ControlPlane } from "./control-plane.ts"

type ClusterName = "plane" | "k3s"
/** Says which of them a project's suites act on: one of its own on k3s, the others on a control plane. */
const chosenVariable = "CHANCERY_TEST_CLUSTER"
const variable = (name: ClusterName, what: "KUBECONFIG" | "KUBECTL") => `CHANCERY_TEST_${name.toUpperCase()}_${what}`

/** For the suites of this run, in whatever process they are. */
export function rememberCluster(name: ClusterName, plane: Pick<ControlPlane, "kubectl" | "kubeconfig">): void {
  process.env[variable(name, "KUBECONFIG")] = plane.kubeconfig
  process.env[variable(name, "KUBECTL")] = plane.kubectl
}

const root = join(import.meta.dirname, "../../..")

export interface Cluster {
  /** Of a shell in which `kubectl` speaks to this cluster. */
  readonly environment: Readonly<Record<string, string>>
  /** What it prints. Fails, with what it says, when the command does. */
  kubectl(args: readonly string[], input?: string): Promise<string>
  /** Access of its administrator. */
  adminAccess(): KubeConfig
  installDefinitions(): Promise<void>
  /** Access of the operator's ServiceAccount in this namespace, which it makes. */
  operatorAccess(namespace: string): Promise<KubeConfig>
  /** Access of a ServiceAccount that is there. */
  accessOf(namespace: string, account: string): Promise<KubeConfig>
}

/** Undefined where it could not be started. */
export function sharedCluster(): Cluster | undefined {
  const name = process.env[chosenVariable] === "k3s" ? "k3s" : "plane"
  const kubeconfig = process.env[variable(name, "KUBECONFIG")]
  const kubectl = process.env[variable(name, "KUBECTL")]
  return kubeconfig === undefined || kubectl === undefined ? undefined : openCluster({ kubectl, kubeconfig })
}

export function openCluster(plane: Pick<ControlPlane, "kubectl" | "kubeconfig">): Cluster {
  const { kubeconfig } = plane
  const kubectl: Cluster["kubectl"] = (args, input = "") =>
    run(plane.kubectl, ["--kubeconfig", kubeconfig, ...args], input)
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
    environment: { KUBECONFIG: kubeconfig, PATH: `${dirname(plane.kubectl)}${delimiter}${process.env["PATH"] ?? ""}` },
    kubectl,
    adminAccess,
    async installDefinitions() {
      const folder = join(root, "crds")
      await kubectl(["apply", "--server-side", "-f", folder])
      await kubectl(["wait", "--for=condition=Established", "-f", folder, "--timeout=120s"])
    },
    async operatorAccess(namespace) {
      await kubectl(["create", "namespace", namespace])
      const rules = await readFile(join(root, "operator/deploy/rbac.yaml"), "utf8")
      // Namespaces share the cluster: each account has a binding of its own.
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
    // Whoever needs no input may have ended already.
    child.stdin.on("error", () => {})
    child.stdin.end(input)
  })
}
