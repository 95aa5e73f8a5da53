// Names the test that runs each example of a guide. Each fenced block must be listed here below its heading, or `guides.test.ts` fails. A
// test that is named here fails if it has not run one of its commands.

export interface DocExample {
  /** The test file that runs the blocks below the heading; `typedPage` checks it. */
  readonly test: string
  /** Commands that cannot run in tests, exactly as written, with the reason and the replacement. */
  readonly except?: Readonly<Record<string, string>>
}

const operations = { test: "test/cli/operations.test.ts" }
const logins = { test: "test/cli/logins.test.ts" }
const hardening = { test: "test/cli/hardening.test.ts" }
const moves = { test: "test/cli/moves.test.ts" }
const firstHour = { test: "test/cli/first-hour.test.ts" }

const isDone =
  "what runs this test has been installed and built by it, as .ci/run does, and is not to be taken away meanwhile"
const noInit =
  "systemd is not the first process where tests run: systemd-analyze verifies the unit, and systemctl enables it in a folder"

/** Keyed by document, then by heading. */
export const docExamples: Readonly<Record<string, Readonly<Record<string, DocExample>>>> = {
  "docs/first-hour.md": {
    "Install the command": {
      ...firstHour,
      except: {
        "npm ci": isDone,
        "npm run build": isDone,
        "npm pack --workspace engine": isDone,
        "npm install --global ./chancery-engine-*.tgz": isDone,
      },
    },
    "Start the server": firstHour,
    "Create an authority": firstHour,
    "Serve HTTPS": firstHour,
    "Add people": firstHour,
    "Give a team access to a workspace": firstHour,
    "Run Terraform": firstHour,
    "Issue a certificate": firstHour,
    "Read the audit log": firstHour,
    "Clean up": firstHour,
  },
  "docs/agents.md": {
    "Start an agent": { test: "test/e2e/agent/guide.test.ts" },
    "Run an agent as a service": { test: "test/e2e/agent/guide.test.ts" },
    "Run agents on demand": { test: "test/e2e/agent/guide.test.ts" },
    "In a cluster": {
      test: "test/e2e/operator/agent-installation.test.ts",
      except: {
        "docker build --target agent --tag registry.example/chancery-agent:0.1.0 .":
          "not every machine has a Docker engine, and the control plane of the test pulls no image",
      },
    },
    "Pods of runs": { test: "test/e2e/operator/agent-installation.test.ts" },
  },
  "docs/from-hcp-terraform.md": { "Move a workspace": moves },
  "docs/from-vault.md": {
    "Copy mounts and roles": moves,
    "Import an issuer with its key": moves,
    "Issue a new intermediate": moves,
    "Policies and logins": moves,
  },
  "docs/operations.md": {
    Install: { test: "test/long/package.test.ts", except: { "npm ci": isDone, "npm run build": isDone } },
    Configure: operations,
    "First start": operations,
    TLS: operations,
    systemd: {
      test: "test/cli/systemd.test.ts",
      except: { "systemctl daemon-reload": noInit, "systemctl enable --now chancery": noInit },
    },
    PostgreSQL: operations,
    "Read replicas": operations,
    Kubernetes: { test: "test/e2e/operator/server-installation.test.ts" },
    "Backup and restore": operations,
    "Move to another database": { test: "test/cli/storage-copy.test.ts" },
    "Rotate the seal key": operations,
    Tracing: { test: "test/cli/telemetry.test.ts" },
    "Audit log": operations,
    Doctor: operations,
  },
  "docs/authorities.md": {
    Access: operations,
    "Create authorities": operations,
    "Tidy expired records": operations,
    "Search certificates": operations,
  },
  "docs/migrate-authority.md": {
    "Move an authority to this server": { test: "test/cli/migrate-authority.test.ts" },
  },
  "docs/client-certificates.md": {
    "Device listener": { test: "test/cli/certificate-logins.test.ts" },
    "Declare roles with Pulumi": { test: "test/e2e/pulumi/auth.test.ts" },
  },
  "docs/logins.md": {
    "Enable a method": logins,
    AppRole: { test: "test/cli/approle-logins.test.ts" },
    "Client certificates": { test: "test/cli/certificate-logins.test.ts" },
    "Connect a cluster": { test: "test/e2e/operator/kubernetes-logins.test.ts" },
    "cert-manager": { test: "test/e2e/operator/kubernetes-logins.test.ts" },
    Userpass: logins,
    "Lockout of users": logins,
    "Declare methods with Pulumi": { test: "test/e2e/pulumi/auth.test.ts" },
    "Token roles": logins,
  },
  "docs/openapi.md": {
    "Generate a client": {
      test: "test/e2e/clients/openapi-client.test.ts",
      except: {
        "npm install --save-dev @hey-api/openapi-ts typescript":
          "both are dependencies of this repository, in the versions that the test runs",
      },
    },
    "Call the client": { test: "test/e2e/clients/openapi-client.test.ts" },
  },
  "docs/hardening.md": {
    Machine: hardening,
    "Seal key": hardening,
    "First tokens": hardening,
    TLS: hardening,
    "Verify the configuration": hardening,
  },
}
