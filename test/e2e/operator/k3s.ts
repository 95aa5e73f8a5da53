// A cluster with nodes, by k3s in a container. It has the garbage collection, admission and controllers that a control plane alone lacks.
import { mkdtemp, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import type { KubernetesPrograms } from "../../toolchain/kubernetes.ts"
import type { ControlPlane } from "./control-plane.ts"

const image = "rancher/k3s:v1.36.4-k3s1"
const port = 6443
const startMs = 180_000

/** Throws if the image cannot be pulled. */
export async function startK3s({
  kubectl,
}: KubernetesPrograms): Promise<Pick<ControlPlane, "kubeconfig" | "kubectl"> & AsyncDisposable> {
  const { GenericContainer, Wait } = await import("testcontainers")
  await using opening = new AsyncDisposableStack()
  const folder = await mkdtemp(join(tmpdir(), "chancery-k3s-"))
  opening.defer(() => rm(folder, { recursive: true, force: true }))
  const container = await new GenericContainer(image)
    .withPrivilegedMode()
    .withCommand([
      "server",
      "--disable=traefik,servicelb,metrics-server,local-storage",
      "--tls-san=localhost,127.0.0.1",
    ])
    .withTmpFs({ "/run": "rw", "/var/run": "rw" })
    .withExposedPorts(port)
    .withWaitStrategy(Wait.forLogMessage(/Node controller sync successful/))
    .withStartupTimeout(startMs)
    .start()
  opening.defer(async () => void (await container.stop()))
  const { output, exitCode } = await container.exec(["cat", "/etc/rancher/k3s/k3s.yaml"])
  if (exitCode !== 0) throw new Error(`k3s wrote no configuration: ${output}`)
  const kubeconfig = join(folder, "kubeconfig")
  const url = `https://${container.getHost()}:${container.getMappedPort(port)}`
  await writeFile(kubeconfig, output.replace(/server: \S+/, `server: ${url}`), { mode: 0o600 })
  const closing = opening.move()
  return { kubeconfig, kubectl, [Symbol.asyncDispose]: () => closing.disposeAsync() }
}
