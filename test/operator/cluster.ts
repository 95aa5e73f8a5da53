// The cluster that tests share: kubectl as its administrator, and accounts that may do what the operator may.
import { spawn } from "node:child_process"
import { readFile } from "node:fs/promises"
import { join } from "node:path"
import { KubeConfig } from "@kubernetes/client-node"
import type { ControlPlane } from "./control-plane.ts"

export const kubeconfigVariable = "CHANCERY_TEST_KUBECONFIG"
export const kubectlVariable = "CHANCERY_TEST_KUBECTL"

const root = join(import.meta.dirname, "../..")

export interface Cluster {
  /** What it prints. Fails, with what it says, when the command does. */
  kubectl(args: readonly string[], input?: string): Promise<string>
  installDefinitions(): Promise<void>
  /** Access of the operator's ServiceAccount in this namespace, which it makes. */
  operatorAccess(namespace: string): Promise<KubeConfig>
}

/** Undefined where no control plane could be started. */
export function sharedCluster(): Cluster | undefined {
  const kubeconfig = process.env[kubeconfigVariable]
  const kubectl = process.env[kubectlVariable]
  return kubeconfig === undefined || kubectl === undefined ? undefined : openCluster({ kubectl, kubeconfig })
}

export function openCluster(plane: Pick<ControlPlane, "kubectl" | "kubeconfig">): Cluster {
  const { kubeconfig } = plane
  const kubectl: Cluster["kubectl"] = (args, input = "") =>
    run(plane.kubectl, ["--kubeconfig", kubeconfig, ...args], input)
  return {
    kubectl,
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
      const token = await kubectl(["create", "token", "chancery-operator", "--namespace", namespace])
      const config = new KubeConfig()
      config.loadFromFile(kubeconfig)
      const cluster = config.getCurrentCluster()
      if (cluster === null) throw new Error("the control plane has no address")
      config.loadFromClusterAndUser(cluster, { name: "chancery-operator", token: token.trim() })
      return config
    },
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
