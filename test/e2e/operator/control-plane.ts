// A real kube-apiserver and etcd without nodes: they store, admit and watch objects as a cluster does.
import { type ChildProcess, spawn } from "node:child_process"
import { generateKeyPairSync } from "node:crypto"
import { mkdtemp, rm, writeFile } from "node:fs/promises"
import { once } from "node:events"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { setTimeout as sleep } from "node:timers/promises"
import { Agent, request } from "undici"
import { freePort } from "../../free-port.ts"
import type { KubernetesPrograms } from "../../toolchain/kubernetes.ts"

export interface ControlPlane extends AsyncDisposable {
  /** Path of a kubeconfig with an administrator's access. */
  readonly kubeconfig: string
  readonly kubectl: string
  /** Kills the API server and starts it again, on the same port and the same etcd. */
  restartServer(): Promise<void>
}

const readyWithinMs = 180_000
const adminToken = "administrator-of-a-control-plane-that-is-thrown-away"

const maxStarts = 3

/**
 * Starts a control plane. Another process can take a port between the check that it is free and its use, so this retries with other ports.
 */
export async function startControlPlane(
  programs: KubernetesPrograms,
  options: ControlPlaneOptions = {},
): Promise<ControlPlane> {
  for (let start = 1; ; start += 1) {
    try {
      return await onFreePorts(programs, options)
    } catch (error) {
      if (start === maxStarts || !String(error).includes("address already in use")) throw error
    }
  }
}

interface ControlPlaneOptions {
  /** Flags of the API server in addition to the required ones. */
  readonly flags?: readonly string[]
  /** Serves PodCertificateRequest and ClusterTrustBundle, which Kubernetes 1.35 and 1.36 leave off. */
  readonly podCertificates?: boolean
  /** Lets clients stream lists, or forbids it. Default: that of the release. */
  readonly watchList?: boolean
}

/** Kubernetes 1.37 serves both kinds without these gates, and as `certificates.k8s.io/v1` too. */
const podCertificateGates = ["PodCertificateRequest", "ClusterTrustBundle", "ClusterTrustBundleProjection"]

function flagsOf({ flags = [], podCertificates = false, watchList }: ControlPlaneOptions): readonly string[] {
  const gates = [
    ...(podCertificates ? podCertificateGates.map((gate) => `${gate}=true`) : []),
    ...(watchList === undefined ? [] : [`WatchList=${watchList}`]),
  ]
  return [
    ...(gates.length === 0 ? [] : [`--feature-gates=${gates.join(",")}`]),
    ...(podCertificates ? ["--runtime-config=certificates.k8s.io/v1beta1=true"] : []),
    ...flags,
  ]
}

async function onFreePorts(programs: KubernetesPrograms, options: ControlPlaneOptions): Promise<ControlPlane> {
  await using opening = new AsyncDisposableStack()
  const folder = await mkdtemp(join(tmpdir(), "chancery-control-plane-"))
  opening.defer(() => rm(folder, { recursive: true, force: true }))
  const [etcdPort, serverPort] = [await freePort(), await freePort()]
  const etcdUrl = `http://127.0.0.1:${etcdPort}`
  const etcd = start(programs.etcd, folder, [
    `--data-dir=${join(folder, "etcd")}`,
    `--listen-client-urls=${etcdUrl}`,
    `--advertise-client-urls=${etcdUrl}`,
    "--listen-peer-urls=http://localhost:0",
    "--unsafe-no-fsync=true",
    "--log-level=error",
  ])
  opening.defer(() => stop(etcd))
  await answering("etcd", etcd, `${etcdUrl}/health`)

  const { publicKey, privateKey } = generateKeyPairSync("rsa", { modulusLength: 2048 })
  const file = (name: string) => join(folder, name)
  await writeFile(file("accounts.key"), privateKey.export({ type: "pkcs1", format: "pem" }))
  await writeFile(file("accounts.pub"), publicKey.export({ type: "spki", format: "pem" }))
  await writeFile(file("tokens.csv"), `${adminToken},administrator,administrator,"system:masters"\n`, { mode: 0o600 })

  const url = `https://127.0.0.1:${serverPort}`
  const startServer = async (): Promise<ChildProcess> => {
    const server = start(programs.apiServer, folder, [
      `--etcd-servers=${etcdUrl}`,
      "--bind-address=127.0.0.1",
      "--advertise-address=127.0.0.1",
      // From 1.37 on, a Service may not have an endpoint on the loopback interface, as that of the API server would.
      "--endpoint-reconciler-type=none",
      `--secure-port=${serverPort}`,
      // The API server generates its TLS certificate in this folder.
      `--cert-dir=${folder}`,
      `--token-auth-file=${file("tokens.csv")}`,
      `--service-account-issuer=${url}/`,
      `--service-account-key-file=${file("accounts.pub")}`,
      `--service-account-signing-key-file=${file("accounts.key")}`,
      "--authorization-mode=RBAC",
      "--service-cluster-ip-range=10.0.0.0/24",
      "--disable-admission-plugins=ServiceAccount",
      ...flagsOf(options),
    ])
    await answering("kube-apiserver", server, `${url}/readyz`)
    return server
  }
  let server = await startServer()
  opening.defer(() => stop(server))
  await writeFile(
    file("kubeconfig"),
    JSON.stringify({
      apiVersion: "v1",
      kind: "Config",
      clusters: [{ name: "test", cluster: { server: url, "certificate-authority": file("apiserver.crt") } }],
      users: [{ name: "administrator", user: { token: adminToken } }],
      contexts: [{ name: "test", context: { cluster: "test", user: "administrator" } }],
      "current-context": "test",
    }),
    { mode: 0o600 },
  )
  const closing = opening.move()
  return {
    kubeconfig: file("kubeconfig"),
    kubectl: programs.kubectl,
    async restartServer() {
      await stop(server)
      server = await startServer()
    },
    [Symbol.asyncDispose]: () => closing.disposeAsync(),
  }
}

const logs = new WeakMap<ChildProcess, string>()

function start(program: string, folder: string, args: readonly string[]): ChildProcess {
  const child = spawn(program, args, { cwd: folder, stdio: ["ignore", "ignore", "pipe"] })
  const keep = (text: string) => void logs.set(child, `${logs.get(child) ?? ""}${text}`.slice(-4_000))
  child.stderr?.setEncoding("utf8").on("data", keep)
  child.on("error", (error) => keep(String(error)))
  return child
}

async function stop(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const ended = once(child, "exit")
  child.kill("SIGKILL")
  await ended
}

/** Waits for an answer. The TLS certificate is not verified: it may not be written yet, and the server's data is temporary. */
async function answering(name: string, child: ChildProcess, url: string): Promise<void> {
  await using agent = disposing(new Agent({ connect: { rejectUnauthorized: false } }))
  const until = Date.now() + readyWithinMs
  for (;;) {
    const status = await request(url, {
      dispatcher: agent.value,
      headers: { authorization: `Bearer ${adminToken}` },
    }).then(
      async ({ statusCode, body }) => body.dump().then(() => statusCode),
      () => undefined,
    )
    if (status === 200) return
    if (child.exitCode !== null || Date.now() > until) {
      await stop(child)
      throw new Error(`${name} did not become ready:\n${logs.get(child) ?? ""}`)
    }
    await sleep(100)
  }
}

const disposing = (agent: Agent) => ({ value: agent, [Symbol.asyncDispose]: () => agent.destroy() })
