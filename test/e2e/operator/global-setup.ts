// Starts one control plane for all suites of a run that need one.
import { findKubernetes, kubernetesInstallation } from "../../toolchain/kubernetes.ts"
import { sayLoudly, sayMissing } from "../../toolchain/missing.ts"
import { dockerAnswers } from "../../toolchain/postgres.ts"
import { openCluster, rememberCluster } from "./cluster.ts"
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
  rememberCluster("plane", plane)
  if (!(await dockerAnswers()))
    sayLoudly("No Docker engine answers, so the operator's suites do not run on k3s besides.")
  const closing = opening.move()
  return () => closing.disposeAsync()
}
