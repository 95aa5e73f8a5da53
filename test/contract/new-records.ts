// Inputs for records whose content does not matter to a case.
import { createHash } from "node:crypto"
import { tarball } from "../../engine/testing/tar-archive.ts"

export const newVariable = {
  key: "region",
  value: "eu",
  description: "",
  category: "terraform",
  hcl: false,
  sensitive: false,
} as const
export const newAssessment = { drifted: true, succeeded: true, errorMessage: null }
export const newOauthClient = {
  name: "forge",
  serviceProvider: "github",
  httpUrl: "https://forge.example.com",
  apiUrl: "https://forge.example.com/api",
  token: "written once",
} as const
export const newSshKey = {
  name: "deploy",
  value: `-----BEGIN PRIVATE KEY-----\n${createHash("sha512").update("key").digest("base64")}\n-----END PRIVATE KEY-----\n`,
}
export const newTerraformVersion = {
  url: "https://releases.example.com/terraform_linux_amd64.zip",
  sha: createHash("sha256").update("terraform").digest("hex"),
}
export const newArchive = tarball({ "main.tf": "", "README.md": "# Archive" })
export const newConfiguration = {
  speculative: false,
  provisional: false,
  autoQueueRuns: true,
  ingressAttributes: {
    branch: "main",
    cloneUrl: "https://forge.example.com/acme/net.git",
    commitSha: "0123456789abcdef",
    commitMessage: null,
    commitUrl: null,
    compareUrl: null,
    identifier: "acme/net",
    isPullRequest: false,
    onDefaultBranch: true,
    pullRequestNumber: null,
    pullRequestTitle: null,
    pullRequestUrl: null,
    tag: null,
    senderUsername: "ada",
    senderAvatarUrl: null,
    senderHtmlUrl: null,
  },
  readme: "# Network",
}

/** Disabled, because no server listens at the address. */
export const newWebhook = { name: "hook", url: "http://127.0.0.1:1/hooks", enabled: false } as const
