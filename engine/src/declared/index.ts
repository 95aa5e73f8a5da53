// The kinds that programs and manifests declare: re-exports only.
export * from "./certificates.ts"
export * from "./shared.ts"
export * from "./workspaces.ts"
