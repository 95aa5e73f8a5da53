// Prepares and builds a release; docs/release.md explains it.
//   node .ci/release.ts --prepare                       applies the changesets: versions, changelog, charts
//   node .ci/release.ts --bom FILE                      writes the bill of materials alone
//   node .ci/release.ts [--output FOLDER] [--allow-unaudited] [--no-image] [--publish]
import { execFileSync, spawnSync } from "node:child_process"
import { createHash } from "node:crypto"
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { join, resolve } from "node:path"
import { parseArgs } from "node:util"
import { type AuditReport, auditResult, type Component, licenseProblems, withNewSection } from "./release-checks.ts"

const root = join(import.meta.dirname, "..")
const packages = ["engine", "provider", "operator"]
/** Files besides package.json that contain the version. */
const versionedFiles = [
  "Dockerfile",
  "engine/deploy/agent-chart/Chart.yaml",
  "engine/deploy/chart/Chart.yaml",
  "engine/deploy/compose.yaml",
  "operator/README.md",
  "operator/deploy/chart/Chart.yaml",
  "operator/deploy/kustomization.yaml",
]
const bomTool = "@cyclonedx/cyclonedx-npm@6.0.1"

const { values: options } = parseArgs({
  options: {
    prepare: { type: "boolean", default: false },
    bom: { type: "string" },
    output: { type: "string", default: "release" },
    "allow-unaudited": { type: "boolean", default: false },
    "no-image": { type: "boolean", default: false },
    publish: { type: "boolean", default: false },
  },
})

try {
  if (options.prepare) prepare()
  else if (options.bom === undefined) release(resolve(options.output))
  else writeBom(resolve(options.bom))
} catch (error) {
  process.stderr.write(`release: ${error instanceof Error ? error.message : String(error)}\n`)
  process.exitCode = 1
}

function prepare(): void {
  const before = currentVersion()
  run("npm", ["exec", "--", "changeset", "version"])
  const version = currentVersion()
  if (version === before) throw new Error("there is no changeset; add one with: npx changeset")
  const changelog = join(root, "CHANGELOG.md")
  const ofPackages = packages.map((name) => join(root, name, "CHANGELOG.md")).filter((file) => existsSync(file))
  const text = ofPackages.map((file) => readFileSync(file, "utf8")).find((each) => each.includes("\n- ")) ?? ""
  writeFileSync(changelog, withNewSection(readFileSync(changelog, "utf8"), text, version))
  for (const file of ofPackages) rmSync(file)
  for (const file of versionedFiles) {
    const path = join(root, file)
    writeFileSync(path, readFileSync(path, "utf8").replaceAll(before, version))
  }
  run("npm", ["install", "--package-lock-only", "--no-audit", "--no-fund"])
  run("npm", ["run", "--silent", "docs:openapi"])
  say(`Prepared ${version}. Check the changes, then commit and tag them: git commit -am "release: ${version}"`)
}

function release(output: string): void {
  const version = currentVersion()
  assertSameVersions(version)
  audit()
  rmSync(output, { recursive: true, force: true })
  mkdirSync(output, { recursive: true })
  const bom = join(output, `chancery-${version}.cdx.json`)
  writeBom(bom)
  const problems = licenseProblems(
    (JSON.parse(readFileSync(bom, "utf8")) as { components: readonly Component[] }).components,
  )
  if (problems.length > 0) throw new Error(`licenses that are not allowed:\n${problems.join("\n")}`)
  run("npm", ["run", "--silent", "build"])
  for (const name of packages) run("npm", ["pack", "--silent", "--workspace", name, "--pack-destination", output])
  if (options["no-image"]) say("The images were not built (--no-image).")
  else {
    run("docker", ["build", "--tag", `chancery:${version}`, "."])
    run("docker", ["build", "--target", "agent", "--tag", `chancery-agent:${version}`, "."])
  }
  writeChecksums(output)
  if (options.publish) publish(output)
  say(`Release ${version} is in ${output}: ${readdirSync(output).join(", ")}`)
}

/** Fails if a package has a known vulnerability, and if the registry cannot tell, unless `--allow-unaudited` is set. */
function audit(): void {
  const { stdout } = spawnSync("npm", ["audit", "--omit=dev", "--json"], { cwd: root, encoding: "utf8" })
  const result = auditResult(JSON.parse(stdout || "{}") as AuditReport)
  if (result === "vulnerable")
    throw new Error("a production dependency has a known vulnerability; list them with: npm audit --omit=dev")
  if (result === "clean") return
  if (!options["allow-unaudited"])
    throw new Error(
      "known vulnerabilities cannot be checked, because the registry has no audit service; to release anyway, add --allow-unaudited",
    )
  say("Known vulnerabilities were not checked (--allow-unaudited): the registry has no audit service.")
}

/** Writes a CycloneDX bill of materials of the packages that the lockfile installs for users of the three packages. */
function writeBom(file: string): void {
  const workspaces = packages.flatMap((name) => ["--workspace", name])
  const shape = ["--spec-version", "1.6", "--output-reproducible", "--validate", "--output-file", file]
  run("npm", [
    ...["exec", "--yes", `--package=${bomTool}`, "--"],
    ...["cyclonedx-npm", "--package-lock-only", "--omit", "dev", ...workspaces, ...shape],
  ])
}

function writeChecksums(output: string): void {
  const lines = readdirSync(output)
    .toSorted()
    .map(
      (name) =>
        `${createHash("sha256")
          .update(readFileSync(join(output, name)))
          .digest("hex")}  ${name}\n`,
    )
  writeFileSync(join(output, "SHA256SUMS"), lines.join(""))
}

/** Publishes with provenance on hosts that npm supports: GitHub Actions and GitLab CI, with an identity token. */
function publish(output: string): void {
  const isAttested =
    process.env["ACTIONS_ID_TOKEN_REQUEST_URL"] !== undefined || process.env["SIGSTORE_ID_TOKEN"] !== undefined
  if (!isAttested) say("The packages are published without provenance: this host offers no identity token.")
  for (const archive of readdirSync(output).filter((name) => name.endsWith(".tgz")))
    run("npm", ["publish", join(output, archive), "--access", "public", ...(isAttested ? ["--provenance"] : [])])
}

const versionOf = (name: string): string =>
  (JSON.parse(readFileSync(join(root, name, "package.json"), "utf8")) as { readonly version: string }).version

const currentVersion = (): string => versionOf("engine")

function assertSameVersions(version: string): void {
  const others = packages.filter((name) => versionOf(name) !== version)
  if (others.length > 0) throw new Error(`${others.join(" and ")} must have the version ${version} of engine`)
  const files = versionedFiles.filter((file) => !readFileSync(join(root, file), "utf8").includes(version))
  if (files.length > 0) throw new Error(`${files.join(", ")} must name the version ${version}`)
}

function run(command: string, args: readonly string[]): void {
  execFileSync(command, args, { cwd: root, stdio: ["ignore", "inherit", "inherit"] })
}

function say(text: string): void {
  process.stdout.write(`${text}\n`)
}
