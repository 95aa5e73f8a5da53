// Finds the programs of a Kubernetes control plane, or builds them from pinned Go modules: no release, no container and no cluster is
// needed. `kubernetes/go.mod` names the versions; it must replace every staging module itself, because what a dependency's go.mod replaces
// does not count (golang/go#32776).
import { execFile } from "node:child_process"
import { existsSync } from "node:fs"
import { mkdir, readFile, rename, rm } from "node:fs/promises"
import { join } from "node:path"
import { promisify } from "node:util"
import { addressOf, goAnswers } from "./go-modules.ts"

const run = promisify(execFile)

const modules = join(import.meta.dirname, "kubernetes")
const packages = {
  "kube-apiserver": "k8s.io/kubernetes/cmd/kube-apiserver",
  kubectl: "k8s.io/kubernetes/cmd/kubectl",
  etcd: "go.etcd.io/etcd/server/v3",
}

/** Names a folder that holds the three programs; other tools that test operators read it too. */
const folderVariable = "KUBEBUILDER_ASSETS"

export const kubernetesInstallation =
  "No kube-apiserver, kubectl and etcd were found, so the suites of the Kubernetes operator do not run. Install Go 1.26 or " +
  `newer (https://go.dev/dl) and build them with \`npm run toolchain\`, or name a folder that holds them in ${folderVariable}.`

/** Returns the folder that holds the three programs; undefined if there is none. */
export async function findKubernetes(): Promise<string | undefined> {
  const folders = [process.env[folderVariable] ?? "", await addressOf(modules)]
  return folders.find((folder) => Object.keys(packages).every((name) => existsSync(join(folder, name))))
}

/** Takes a quarter of an hour on two processors the first time. */
export async function buildKubernetes(): Promise<void> {
  if (!(await goAnswers())) throw new Error(kubernetesInstallation)
  const folder = await addressOf(modules)
  // Renamed once complete: several test runs may build at once.
  const unfinished = `${folder}.${process.pid}`
  await mkdir(unfinished, { recursive: true })
  try {
    const flags = await linkerFlags()
    for (const [name, path] of Object.entries(packages)) {
      const target = ["-o", join(unfinished, name), path]
      await run("go", ["build", "-trimpath", "-buildvcs=false", "-mod=readonly", "-ldflags", flags, ...target], {
        cwd: modules,
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
async function linkerFlags(): Promise<string> {
  const text = await readFile(join(modules, "go.mod"), "utf8")
  const [, version, major, minor] = /k8s\.io\/kubernetes (v(\d+)\.(\d+)\.\d+)/.exec(text) ?? []
  const facts = { gitVersion: version, gitMajor: major, gitMinor: minor, gitTreeState: "clean" }
  const versionFlags = Object.entries(facts).map(([name, value]) => `-X k8s.io/component-base/version.${name}=${value}`)
  return ["-s", "-w", ...versionFlags].join(" ")
}
