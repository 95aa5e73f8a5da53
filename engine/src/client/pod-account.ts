import { readFile } from "node:fs/promises"
import { join } from "node:path"
import type { ReadPodAccount } from "../pki/logins/kubernetes/token-reviewer.ts"

/** Where Kubernetes mounts it in each container. */
const usualFolder = "/var/run/secrets/kubernetes.io/serviceaccount"

/** Read for each login: two small files, which the kubelet replaces before they run out. */
export const podAccount =
  (folder = usualFolder): ReadPodAccount =>
  async () => {
    try {
      const [certificates, token] = await Promise.all(
        ["ca.crt", "token"].map((name) => readFile(join(folder, name), "utf8")),
      )
      return certificates === undefined || token === undefined ? undefined : { certificates, token: token.trim() }
    } catch {
      // No pod, or one without an account (`automountServiceAccountToken: false`).
      return undefined
    }
  }
