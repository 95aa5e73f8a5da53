// Rules of the release script, and the files that a release distributes besides the packages.
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { describe, expect, test } from "vitest"
import { parse } from "yaml"
import { auditResult, licenseProblems, withNewSection } from "../../.ci/release-checks.ts"
import { configure } from "../../engine/src/cli/configuration.ts"
import { environmentNameOf, settingNames } from "../../engine/src/cli/settings.ts"

const root = join(import.meta.dirname, "../..")
const id = (license: string) => [{ license: { id: license } }]

describe("licenses of a release", () => {
  test.each([
    { licenses: id("MIT"), isAllowed: true },
    { licenses: [{ expression: "(MIT OR GPL-3.0-only)" }], isAllowed: true },
    { licenses: [{ expression: "MIT AND Apache-2.0" }], isAllowed: true },
    { licenses: id("GPL-3.0-only"), isAllowed: false },
    { licenses: [{ expression: "MIT AND GPL-3.0-only" }], isAllowed: false },
    { licenses: [{ license: { name: "Custom" } }], isAllowed: false },
    { licenses: [], isAllowed: false },
  ])("are allowed ($isAllowed) when a package has $licenses", ({ licenses, isAllowed }) => {
    expect(licenseProblems([{ name: "a", version: "1.0.0", licenses }]).length === 0).toBe(isAllowed)
  })

  test("are checked for bundled packages too, and name the package", () => {
    const bundled = { name: "inner", version: "2.0.0", licenses: id("AGPL-3.0-only") }
    expect(licenseProblems([{ name: "outer", licenses: id("MIT"), components: [bundled] }])).toEqual([
      "inner 2.0.0: AGPL-3.0-only",
    ])
  })
})

test.each([
  { report: { metadata: { vulnerabilities: { low: 3, moderate: 1, high: 0, critical: 0 } } }, result: "clean" },
  { report: { metadata: { vulnerabilities: { high: 1 } } }, result: "vulnerable" },
  { report: { message: "405 Method Not Allowed" }, result: "unknown" },
  { report: {}, result: "unknown" },
])("audit result is $result when npm reports $report", ({ report, result }) => {
  expect(auditResult(report)).toBe(result)
})

describe("the changelog", () => {
  const ofPackage =
    "# @chancery/engine\n\n## 0.2.0\n\n### Minor Changes\n\n- 1a2b3c4: Add EST\n\n### Patch Changes\n\n- Updated dependencies\n  - @chancery/pulumi@0.2.0\n\n## 0.1.0\n\n- old\n"

  test("gets the entries of the new version before those of older versions", () => {
    expect(withNewSection("# Changelog\n\nIntro.\n\n## 0.1.0\n\nFirst.\n", ofPackage, "0.2.0")).toBe(
      "# Changelog\n\nIntro.\n\n## 0.2.0\n\n- Add EST\n\n## 0.1.0\n\nFirst.\n",
    )
  })

  test("needs an entry", () => {
    expect(() => withNewSection("# Changelog\n", "# a\n\n## 0.2.0\n\n- Updated dependencies\n", "0.2.0")).toThrow(
      "no entry",
    )
  })
})

interface Service {
  readonly image: string
  readonly environment: Readonly<Record<string, string>>
  readonly ports?: readonly string[]
  readonly healthcheck: { readonly test: readonly string[] }
  readonly depends_on?: Readonly<Record<string, { readonly condition: string }>>
  readonly volumes?: readonly string[]
}

// No Compose here parses the file, so its members are checked against the Compose Specification's names by hand.
describe("compose.yaml", () => {
  const file = parse(readFileSync(join(root, "engine/deploy/compose.yaml"), "utf8")) as {
    readonly services: { readonly server: Service; readonly database: Service }
    readonly volumes: object
  }
  const { server, database } = file.services

  test("has only members of the Compose Specification", () => {
    const allowed = new Set(
      "image build command environment ports depends_on healthcheck read_only tmpfs cap_drop security_opt restart volumes".split(
        " ",
      ),
    )
    expect(Object.keys(file).toSorted()).toEqual(["name", "services", "volumes"])
    for (const service of [server, database])
      expect(Object.keys(service).filter((member) => !allowed.has(member))).toEqual([])
  })

  test("starts the version of the packages after the database", () => {
    const { version } = JSON.parse(readFileSync(join(root, "engine/package.json"), "utf8")) as {
      readonly version: string
    }
    expect(server.image).toBe(`chancery:${version}`)
    expect(Object.keys(server.depends_on ?? {})).toEqual(["database"])
    expect(server.depends_on?.["database"]).toEqual({ condition: "service_healthy" })
    expect(database.volumes).toEqual(Object.keys(file.volumes).map((name) => `${name}:/var/lib/postgresql`))
  })

  test("has settings that the server accepts, and secrets only from the environment", () => {
    const names = new Set(settingNames.map(environmentNameOf))
    expect(Object.keys(server.environment).filter((name) => !names.has(name))).toEqual([])
    const variables: Readonly<Record<string, string>> = {
      CHANCERY_DATABASE_PASSWORD: "0f".repeat(24),
      CHANCERY_SEAL_KEY: Buffer.alloc(32, 1).toString("base64"),
    }
    const filled = Object.fromEntries(
      Object.entries(server.environment).map(([name, value]) => [
        name,
        value.replaceAll(
          /\$\{(\w+):(?:\?|-([^}]*))\}/g,
          (_, variable: string, preset = "") => variables[variable] ?? preset,
        ),
      ]),
    )
    const settings = configure({ flags: {}, environment: filled, file: undefined, dev: false })
    expect(settings).toMatchObject({ listen: { host: "0.0.0.0", port: 8420 } })
    expect(server.ports).toEqual(["127.0.0.1:8420:8420"])
  })
})
