// One control plane for all suites of a run that need one.
import { findKubernetes, kubernetesInstallation } from "../toolchain/kubernetes.ts"
import { sayMissing } from "../toolchain/missing.ts"
import { kubeconfigVariable, kubectlVariable, openCluster } from "./cluster.ts"
import { startControlPlane } from "./control-plane.ts"

export default async function setup(): Promise<() => Promise<void>> {
  const programs = await findKubernetes()
  if (programs === undefined) {
    sayMissing(kubernetesInstallation)
    return async () => {}
  }
  await using opening = new AsyncDisposableStack()
  const plane = opening.use(await startControlPlane(programs))
  await openCluster(plane).installDefinitions()
  process.env[kubeconfigVariable] = plane.kubeconfig
  process.env[kubectlVariable] = plane.kubectl
  const closing = opening.move()
  return () => closing.disposeAsync()
}
