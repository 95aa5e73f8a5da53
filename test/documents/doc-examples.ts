// Which test types what a guide shows. Each fenced block of a guide stands here, below its heading; `guides.test.ts` fails for one that
// does not, and each test that is named here for one of its own commands that it has not typed.

export interface Typist {
  /** The test file that types what stands below the heading; `typedPage` sees to it. */
  readonly test: string
  /** What cannot be typed where tests run: the command as it is written, and why, with what is done in its place. */
  readonly except?: Readonly<Record<string, string>>
}

const operations = { test: "test/cli/operations.test.ts" }
const logins = { test: "test/cli/logins.test.ts" }
const hardening = { test: "test/cli/hardening.test.ts" }

const isDone =
  "what runs this test has been installed and built by it, as .ci/run does, and is not to be taken away meanwhile"
const noInit =
  "systemd is not the first process where tests run: systemd-analyze verifies the unit, and systemctl enables it in a folder"

/** By document, by heading. */
export const typists: Readonly<Record<string, Readonly<Record<string, Typist>>>> = {
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
    "A new seal key": operations,
    Tracing: { test: "test/cli/telemetry.test.ts" },
    "Audit log": operations,
    Doctor: operations,
  },
  "docs/authorities.md": {
    "Who may use them": operations,
    "Making authorities": operations,
    Tidying: operations,
    "Reading back": operations,
  },
  "docs/migrate-authority.md": {
    "Move an authority to this server": { test: "test/cli/migrate-authority.test.ts" },
  },
  "docs/logins.md": {
    "First method": logins,
    "Programs: AppRole": { test: "test/cli/approle-logins.test.ts" },
    "A cluster": { test: "test/e2e/operator/kubernetes-logins.test.ts" },
    "cert-manager": { test: "test/e2e/operator/kubernetes-logins.test.ts" },
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
    "Call it": { test: "test/e2e/clients/openapi-client.test.ts" },
  },
  "docs/hardening.md": {
    "The machine": hardening,
    "The seal key": hardening,
    "The first tokens": hardening,
    "TLS everywhere": hardening,
    Afterwards: hardening,
  },
}
