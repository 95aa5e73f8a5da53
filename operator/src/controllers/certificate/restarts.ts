import { sha256 } from "@chancery/engine/x509"
import type { CertificateSpec } from "../../api/certificate.ts"
import type { Resource } from "../../kube/kubernetes-object.ts"
import { inNamespaceOf } from "../../kube/owned-objects.ts"
import { type CertificateContext, type CertificateParts } from "./certificate-context.ts"

type Workload = NonNullable<CertificateSpec["rolloutRestart"]>[number]

const plurals = { Deployment: "deployments", StatefulSet: "statefulsets", DaemonSet: "daemonsets" }
const maxManager = 128

/** Restarts a workload through an annotation of its pod template. The same annotation again restarts nothing. */
export async function restart(
  { cluster }: CertificateParts,
  { object, request }: CertificateContext,
  { kind, name }: Workload,
  serialNumber: string,
): Promise<void> {
  const resource: Resource = { group: "apps", version: "v1", plural: plurals[kind], kind }
  const present = await cluster.get(resource, inNamespaceOf(object, name))
  if (present === undefined) {
    const note = `There is no ${kind} ${name} to restart.`
    await request.record({ type: "Warning", reason: "WorkloadMissing", note })
    return
  }
  const { namespace, uid } = present.metadata
  const { name: certificateName } = object.metadata
  const annotation = `restarted-for.chancery.dev/${sha256(Buffer.from(certificateName)).slice(0, 16)}`
  const workload = {
    apiVersion: "apps/v1",
    kind,
    metadata: {
      name,
      ...(namespace === undefined ? {} : { namespace }),
      ...(uid === undefined ? {} : { uid }),
    },
    spec: { template: { metadata: { annotations: { [annotation]: serialNumber } } } },
  }
  // One field manager for each Certificate, so that each owns its own annotation.
  await cluster.apply(resource, workload, `chancery-restart-${certificateName}`.slice(0, maxManager))
}
