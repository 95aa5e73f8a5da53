// Finds the programs of a Kubernetes control plane, or builds them from pinned Go modules: no release, no container and no cluster is
// needed. `kubernetes/go.mod` names the versions of the usual one; `kubernetes-*` and `etcd-*` are those of other releases. Each must
// replace every staging module itself, because what a dependency's go.mod replaces does not count (golang/go#32776).
import { execFile } from "node:child_process"
import { existsSync } from "node:fs"
import { mkdir, readFile, rename, rm } from "node:fs/promises"
import { join } from "node:path"
import { promisify } from "node:util"
import { addressOf, goAnswers } from "./go-modules.ts"

const run = promisify(execFile)

/** Paths of the programs of a control plane. */
export interface KubernetesPrograms {
  readonly apiServer: string
  readonly etcd: string
  readonly kubectl: string
}

const kubernetesReleases = ["1.32", "1.33", "1.34", "1.35", "1.36", "1.37"] as const
/** Before 3.5.13, etcd does not report the progress of watches, so that streamed lists do not end. */
const etcdReleases = ["3.5.12", "3.5", "3.6"] as const

export interface KubernetesVersions {
  readonly kubernetes: (typeof kubernetesReleases)[number]
  readonly etcd: (typeof etcdReleases)[number]
}

/** Releases in `kubernetes/go.mod`, which has kubectl too. */
export const usualVersions: KubernetesVersions = { kubernetes: "1.36", etcd: "3.6" }

/** Other releases that the operator is tested with, the oldest first. Each API server has the etcd of its own release. */
export const testedVersions: readonly KubernetesVersions[] = [
  { kubernetes: "1.32", etcd: "3.5" },
  { kubernetes: "1.33", etcd: "3.5" },
  { kubernetes: "1.34", etcd: "3.6" },
  { kubernetes: "1.35", etcd: "3.6" },
  { kubernetes: "1.37", etcd: "3.6" },
]

/** Names a release of Kubernetes, or of etcd, that replaces the usual one in all suites. */
export const kubernetesVariable = "CHANCERY_TEST_KUBERNETES"
export const etcdVariable = "CHANCERY_TEST_ETCD"
/** Names a folder that holds the usual programs; other tools that test operators read it too. */
const folderVariable = "KUBEBUILDER_ASSETS"

const packages = {
  "kube-apiserver": "k8s.io/kubernetes/cmd/kube-apiserver",
  kubectl: "k8s.io/kubernetes/cmd/kubectl",
  etcd: "go.etcd.io/etcd/server/v3",
} as const
type Program = keyof typeof packages

const usualModule = join(import.meta.dirname, "kubernetes")
const moduleOf = (name: "kubernetes" | "etcd", release: string): string =>
  release === usualVersions[name] ? usualModule : join(import.meta.dirname, `${name}-${release}`)

export const kubernetesInstallation =
  "No kube-apiserver, kubectl and etcd were found, so the suites of the Kubernetes operator do not run. Install Go 1.26 or " +
  `newer (https://go.dev/dl) and build them with \`npm run toolchain\`, or name a folder that holds them in ${folderVariable}.`

/** Returns the releases that the environment chooses. Throws if it names one that is not pinned. */
function chosenVersions(): KubernetesVersions {
  const chosen = <Release extends string>(variable: string, releases: readonly Release[], otherwise: Release) => {
    const value = process.env[variable] || otherwise
    const release = releases.find((one) => one === value)
    if (release === undefined) throw new Error(`${variable} must be one of ${releases.join(", ")}`)
    return release
  }
  return {
    kubernetes: chosen(kubernetesVariable, kubernetesReleases, usualVersions.kubernetes),
    etcd: chosen(etcdVariable, etcdReleases, usualVersions.etcd),
  }
}

/** Returns the programs of these releases; undefined if one is missing. */
export async function findKubernetes(versions = chosenVersions()): Promise<KubernetesPrograms | undefined> {
  const kubernetes = await folderOf(moduleOf("kubernetes", versions.kubernetes))
  const programs = {
    apiServer: join(kubernetes, "kube-apiserver"),
    etcd: join(await folderOf(moduleOf("etcd", versions.etcd)), "etcd"),
    kubectl: join(await folderOf(usualModule), "kubectl"),
  }
  return Object.values(programs).every((path) => existsSync(path)) ? programs : undefined
}

/** Builds what is missing. Takes a quarter of an hour on two processors the first time, and half of it for another release. */
export async function buildKubernetes(versions = chosenVersions()): Promise<void> {
  if (!(await goAnswers())) throw new Error(kubernetesInstallation)
  await buildModule(usualModule, ["kube-apiserver", "kubectl", "etcd"])
  await buildModule(moduleOf("kubernetes", versions.kubernetes), ["kube-apiserver"])
  await buildModule(moduleOf("etcd", versions.etcd), ["etcd"])
}

/** Returns the folder of the module's programs. It may not exist yet. */
async function folderOf(module: string): Promise<string> {
  const given = process.env[folderVariable]
  const holds = (name: string) => existsSync(join(given ?? "", name))
  if (module === usualModule && given !== undefined && Object.keys(packages).every(holds)) return given
  return addressOf(module)
}

async function buildModule(module: string, programs: readonly Program[]): Promise<void> {
  const folder = await folderOf(module)
  if (existsSync(folder)) return
  // Renamed once complete: several test runs may build at once.
  const unfinished = `${folder}.${process.pid}`
  await mkdir(unfinished, { recursive: true })
  try {
    const flags = await linkerFlags(module)
    for (const name of programs) {
      const target = ["-o", join(unfinished, name), packages[name]]
      await run("go", ["build", "-trimpath", "-buildvcs=false", "-mod=readonly", "-ldflags", flags, ...target], {
        cwd: module,
        env: { ...process.env, CGO_ENABLED: "0" },
        maxBuffer: 64 * 1024 * 1024,
      })
    }
    await rename(unfinished, folder)
  } finally {
    await rm(unfinished, { recursive: true, force: true })
  }
}

/** Returns flags that set the version, as Kubernetes' own builds do. The default `v0.0.0-master` is not comparable for clients. */
async function linkerFlags(module: string): Promise<string> {
  const text = await readFile(join(module, "go.mod"), "utf8")
  const [, version, major, minor] = /k8s\.io\/kubernetes (v(\d+)\.(\d+)\.\d+)/.exec(text) ?? []
  if (version === undefined) return "-s -w"
  const facts = { gitVersion: version, gitMajor: major, gitMinor: minor, gitTreeState: "clean" }
  const versionFlags = Object.entries(facts).map(([name, value]) => `-X k8s.io/component-base/version.${name}=${value}`)
  return ["-s", "-w", ...versionFlags].join(" ")
}
