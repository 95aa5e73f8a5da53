// Path of each sealed value: the record that the value is bound to. Repositories seal and open values with these paths, and `rewrap` uses
// them for all columns of `sealed-columns.ts`.
export const sealPaths = {
  sshKey: (id: string): string => `ssh-keys/${id}`,
  oauthClientSecret: (id: string): string => `oauth-clients/${id}/secret`,
  oauthToken: (id: string): string => `oauth-tokens/${id}`,
  oauthTokenSshKey: (id: string): string => `oauth-tokens/${id}/ssh-key`,
  webhookSecret: (id: string): string => `webhooks/${id}/secret`,
  variable: (id: string): string => `variables/${id}`,
  stateDocument: (stateVersionId: string, document: string): string => `state-versions/${stateVersionId}/${document}`,
  /** Each attempt to upload a document has its own path. */
  sentDocument: (stateVersionId: string, document: string, id: string): string =>
    `state-versions/${stateVersionId}/${document}/${id}`,
  stateVersionOutput: (id: string): string => `state-version-outputs/${id}`,
  runVariables: (id: string): string => `runs/${id}/variables`,
  runLog: (runId: string, stage: string, start: number): string => `runs/${runId}/logs/${stage}/${start}`,
  runDocument: (runId: string, document: string): string => `runs/${runId}/documents/${document}`,
  configuration: (versionId: string): string => `configuration-versions/${versionId}`,
  caKey: (id: string): string => `ca-keys/${id}`,
  mountSecret: (mountId: string, name: string): string => `mount-secrets/${mountId}/${name}`,
  kubernetesReviewer: (methodId: string): string => `kubernetes-clusters/${methodId}/reviewer-token`,
  acmeBinding: (mountId: string, id: string): string => `acme-bindings/${mountId}/${id}`,
} as const
