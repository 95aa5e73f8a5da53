import { certificateFigures } from "./certificate/certificate-metrics.ts"
import { certificateIndexes, reconcileCertificates, recordsConnection } from "./certificate/certificates.ts"
import { passwordSecretsOf } from "./certificate/keystores.ts"
import { reconcileCertificateRoles } from "./certificate-role/certificate-roles.ts"
import { reconcileAuthorities } from "./certificate-authority/authorities.ts"
import { parentOf } from "./certificate-authority/parent.ts"
import { reconcileConnections } from "./connection/connections.ts"
import { connectionOf, connectionReferences, type ControlledKind, referencesTo } from "./controllers.ts"
import { certificateAuthority } from "../api/certificate-authority.ts"
import { certificateRole } from "../api/certificate-role.ts"
import { certificate } from "../api/certificate.ts"
import { clusterConnection } from "../api/cluster-connection.ts"
import { connection } from "../api/connection.ts"
import { clusterIssuer, issuer } from "../api/issuer.ts"
import { mount } from "../api/mount.ts"
import { project } from "../api/project.ts"
import { trustBundle } from "../api/trust-bundle.ts"
import { configMaps, namespaces, type ObjectKey, parseKey, secrets } from "../kube/kubernetes-object.ts"
import { clusterTrustBundleOf, eabSecretOf, reconcileIssuers } from "./issuer/issuers.ts"
import { mountOf, sameMount } from "./mount/mount-references.ts"
import { reconcileMounts } from "./mount/mounts.ts"
import { managedSelector } from "../kube/owned-objects.ts"
import { projectOf, projectsUsedBy } from "./project/project-references.ts"
import { reconcileProjects } from "./project/projects.ts"
import { clusterTrustBundles } from "./issuer/cluster-trust-bundle.ts"
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
        mayHaveRecorded: () => parts.behind(certificate).some(recordsConnection),
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
        mayHaveRecorded: () => parts.behind(certificate).some(recordsConnection),
      }),
  },
  {
    kind: mount,
    indexes: { connection: connectionOf, mount: mountOf },
    refersTo: [...connectionReferences, sameMount(certificateRole), sameMount(certificateAuthority)],
    reconciler: ({ engines, storeOf }) =>
      reconcileMounts({
        engines,
        mounts: storeOf(mount),
        roles: storeOf(certificateRole),
        authorities: storeOf(certificateAuthority),
      }),
  },
  {
    kind: certificateAuthority,
    indexes: { connection: connectionOf, mount: mountOf, parent: parentOf },
    refersTo: [...connectionReferences, sameMount(mount), { resource: certificateAuthority, index: "parent" }],
    reconciler: ({ cluster, engines, storeOf }) =>
      reconcileAuthorities({
        cluster,
        engines,
        storeOf,
        authorities: storeOf(certificateAuthority),
        mounts: storeOf(mount),
      }),
  },
  ...([issuer, clusterIssuer] as const).map((kind): ControlledKind => ({
    kind,
    indexes: { connection: connectionOf, eabSecret: eabSecretOf, mount: mountOf, trustBundle: clusterTrustBundleOf },
    refersTo: [
      ...connectionReferences,
      sameMount(mount),
      sameMount(certificateAuthority),
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
    indexes: { connection: connectionOf, mount: mountOf },
    refersTo: [...connectionReferences, sameMount(mount)],
    reconciler: ({ engines, storeOf }) =>
      reconcileCertificateRoles({ engines, roles: storeOf(certificateRole), mounts: storeOf(mount) }),
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
    kind: project,
    indexes: { connection: connectionOf, project: projectOf },
    refersTo: [
      ...connectionReferences,
      { resource: workspace, index: "project", valueFor: (_key, object) => projectsUsedBy(object)[0] ?? "" },
    ],
    reconciler: (parts) => reconcileProjects({ ...parts, projects: parts.storeOf(project) }),
  },
  {
    kind: workspace,
    indexes: {
      connection: connectionOf,
      workspaceId: workspaceIdOf,
      workspaceRef: workspacesReferredTo,
      project: projectsUsedBy,
      outputsConfigMap: outputsConfigMapOf,
      outputsSecret: outputsSecretOf,
    },
    refersTo: [
      ...connectionReferences,
      { resource: workspace, index: "workspaceRef" },
      { resource: project, index: "project", valueFor: (_key, object) => projectOf(object)[0] ?? "" },
      { resource: configMaps, labelSelector: managedSelector, index: "outputsConfigMap" },
      { resource: secrets, labelSelector: managedSelector, index: "outputsSecret" },
    ],
    names: [
      { resource: secrets, keys: variableSecretsOf },
      { resource: configMaps, keys: variableConfigMapsOf },
    ],
    engineIds: "workspaceId",
    reconciler: (parts) =>
      reconcileWorkspaces({ ...parts, workspaces: parts.storeOf(workspace), projects: parts.storeOf(project) }),
    figures: workspaceFigures,
  },
]
