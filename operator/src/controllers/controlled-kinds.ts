import { certificateFigures } from "./certificate/certificate-metrics.ts"
import { certificateIndexes, reconcileCertificates } from "./certificate/certificates.ts"
import { passwordSecretsOf } from "./certificate/keystores.ts"
import { reconcileCertificateRoles } from "./certificate-role/certificate-roles.ts"
import { reconcileConnections } from "./connection/connections.ts"
import { connectionOf, connectionReferences, type ControlledKind, referencesTo } from "./controllers.ts"
import { certificateRole } from "../api/certificate-role.ts"
import { certificate } from "../api/certificate.ts"
import { clusterConnection } from "../api/cluster-connection.ts"
import { connection } from "../api/connection.ts"
import { clusterIssuer, issuer } from "../api/issuer.ts"
import { trustBundle } from "../api/trust-bundle.ts"
import { configMaps, namespaces, type ObjectKey, parseKey, secrets } from "../kube/kubernetes-object.ts"
import { clusterTrustBundleOf, eabSecretOf, reconcileIssuers } from "./issuer/issuers.ts"
import { managedSelector } from "../kube/owned-objects.ts"
import { clusterTrustBundles } from "../signing/trust-bundles/cluster-trust-bundle.ts"
import { workspace } from "../api/workspace.ts"
import {
  everyBundle,
  reconcileTrustBundles,
  sourceConfigMapsOf,
  trustBundleIndexes,
} from "./trust-bundle/trust-bundles.ts"
import { variableConfigMapsOf, variableSecretsOf } from "./workspace/variable-sources.ts"
import { workspaceFigures } from "./workspace/workspace-metrics.ts"
import { outputsConfigMapOf, outputsSecretOf } from "./workspace/output-publication.ts"
import { reconcileWorkspaces, workspaceIdOf, workspacesReferredTo } from "./workspace/workspaces.ts"

export const controlledKinds: readonly ControlledKind[] = [
  {
    kind: connection,
    reconciler: (parts) =>
      reconcileConnections({
        kind: "Connection",
        engines: parts.engines,
        log: parts.runtime.log,
        referencesTo: (key) => referencesTo(controlledKinds, parts, "Connection", key),
      }),
  },
  {
    kind: clusterConnection,
    reconciler: (parts) =>
      reconcileConnections({
        kind: "ClusterConnection",
        engines: parts.engines,
        log: parts.runtime.log,
        referencesTo: (key) => referencesTo(controlledKinds, parts, "ClusterConnection", key),
      }),
  },
  ...([issuer, clusterIssuer] as const).map((kind): ControlledKind => ({
    kind,
    indexes: { connection: connectionOf, eabSecret: eabSecretOf, trustBundle: clusterTrustBundleOf },
    refersTo: [
      ...connectionReferences,
      { resource: clusterTrustBundles, index: "trustBundle", isOptional: true },
      {
        resource: secrets,
        labelSelector: managedSelector,
        index: "eabSecret",
        // The Secret of a ClusterIssuer is in the operator's namespace, so the index has only its name.
        ...(kind === issuer ? {} : { valueFor: (key: ObjectKey) => parseKey(key).name }),
      },
    ],
    reconciler: ({ cluster, engines, namespace, storeOf, trustBundles }) =>
      reconcileIssuers({
        trustBundles,
        kind: kind === issuer ? "Issuer" : "ClusterIssuer",
        cluster,
        engines,
        namespace,
        storeOf,
      }),
  })),
  {
    kind: certificateRole,
    indexes: { connection: connectionOf },
    refersTo: connectionReferences,
    reconciler: ({ engines, storeOf }) => reconcileCertificateRoles({ engines, roles: storeOf(certificateRole) }),
  },
  {
    kind: certificate,
    indexes: certificateIndexes,
    refersTo: [
      { resource: secrets, labelSelector: managedSelector, index: "secret" },
      { resource: configMaps, labelSelector: managedSelector, index: "trust" },
      { resource: certificateRole, index: "role" },
      { resource: issuer, index: "issuer", valueFor: (key) => `Issuer/${key}` },
      { resource: clusterIssuer, index: "issuer", valueFor: (key) => `ClusterIssuer/${key}` },
      ...connectionReferences,
    ],
    names: [{ resource: secrets, keys: passwordSecretsOf }],
    reconciler: reconcileCertificates,
    figures: certificateFigures,
  },
  {
    kind: trustBundle,
    indexes: trustBundleIndexes,
    refersTo: [
      { resource: namespaces, index: "all", valueFor: () => everyBundle },
      {
        resource: configMaps,
        labelSelector: managedSelector,
        index: "configMap",
        valueFor: (key) => parseKey(key).name,
      },
      { resource: secrets, labelSelector: managedSelector, index: "secret", valueFor: (key) => parseKey(key).name },
      { resource: issuer, index: "issuer", valueFor: (key) => `Issuer/${key}` },
      { resource: clusterIssuer, index: "issuer", valueFor: (key) => `ClusterIssuer/${key}` },
    ],
    names: [{ resource: configMaps, keys: sourceConfigMapsOf }],
    reconciler: reconcileTrustBundles,
  },
  {
    kind: workspace,
    indexes: {
      connection: connectionOf,
      workspaceId: workspaceIdOf,
      workspaceRef: workspacesReferredTo,
      outputsConfigMap: outputsConfigMapOf,
      outputsSecret: outputsSecretOf,
    },
    refersTo: [
      ...connectionReferences,
      { resource: workspace, index: "workspaceRef" },
      { resource: configMaps, labelSelector: managedSelector, index: "outputsConfigMap" },
      { resource: secrets, labelSelector: managedSelector, index: "outputsSecret" },
    ],
    names: [
      { resource: secrets, keys: variableSecretsOf },
      { resource: configMaps, keys: variableConfigMapsOf },
    ],
    engineIds: "workspaceId",
    reconciler: (parts) => reconcileWorkspaces({ ...parts, workspaces: parts.storeOf(workspace) }),
    figures: workspaceFigures,
  },
]
