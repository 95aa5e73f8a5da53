// The evaluation profile of the server's chart: one replica with an embedded database and its own seal key.
import { describe, expect, test } from "vitest"
import { configure } from "../../../engine/src/cli/configuration.ts"
import { sharedCluster } from "./cluster.ts"
import { findHelm, type Helm, type Manifest, manifestsIn, serverChartFolder } from "./helm.ts"

const cluster = sharedCluster()
const found = await findHelm(serverChartFolder)

describe.skipIf(found === undefined)("the evaluation profile of the server's chart", () => {
  const helm = found as Helm
  const template = (...values: string[]) =>
    helm.template({ name: "chancery", values: ["evaluation.enabled=true", ...values] })
  const ofKind = (manifests: readonly Manifest[], kind: string) => manifests.filter((each) => each.kind === kind)
  const memberOf = <T>(manifests: readonly Manifest[], kind: string, member: string) =>
    ofKind(manifests, kind).map((manifest) => manifest[member])[0] as T

  test("needs no other value and passes Helm's lint", async () => {
    expect(await helm.lint(["evaluation.enabled=true"])).toContain("0 chart(s) failed")
    expect(ofKind(manifestsIn(await template()), "Secret")).toEqual([])
  })

  test("runs one replica that stores database and seal key on a claim which outlives the release", async () => {
    const manifests = manifestsIn(
      await template("evaluation.size=5Gi", "evaluation.storageClassName=local", "replicas=3"),
    )
    expect(ofKind(manifests, "PersistentVolumeClaim")).toMatchObject([
      {
        metadata: { name: "chancery-data", annotations: { "helm.sh/resource-policy": "keep" } },
        spec: {
          accessModes: ["ReadWriteOnce"],
          storageClassName: "local",
          resources: { requests: { storage: "5Gi" } },
        },
      },
    ])
    const deployment = memberOf<{ template: { spec: Record<string, unknown[]> } }>(manifests, "Deployment", "spec")
    expect(deployment).toMatchObject({ replicas: 1, strategy: { type: "Recreate" } })
    const { containers, volumes } = deployment.template.spec
    expect(volumes).toContainEqual({ name: "data", persistentVolumeClaim: { claimName: "chancery-data" } })
    expect(JSON.stringify(volumes)).not.toContain("seal")
    expect(containers?.[0]).toMatchObject({
      volumeMounts: expect.arrayContaining([{ name: "data", mountPath: "/data" }]),
    })
    expect(JSON.stringify(containers)).not.toContain("CHANCERY_STORAGE")
  })

  test("has settings of an embedded database in the claim", async () => {
    const data = memberOf<Readonly<Record<string, string>>>(manifestsIn(await template()), "ConfigMap", "data")
    const { "chancery.json": text = "" } = data
    const settings = configure({ flags: {}, environment: {}, file: { path: "chancery.json", text }, dev: false })
    expect(settings).toMatchObject({ data: "/data" })
    expect(settings.storage ?? "").not.toContain("postgres")
    expect(text).not.toContain("sealKeyFile")
  })

  test.each([
    { values: "storage.existingSecret=database", error: /storage\.existingSecret empty/ },
    { values: "autoscaling.enabled=true", error: /disable autoscaling/ },
    { values: "evaluation.size=large", error: /evaluation/ },
  ])("rejects $values", async ({ values, error }) => {
    await expect(template(values)).rejects.toThrow(error)
  })

  test.skipIf(cluster === undefined)("is accepted by the API server", async () => {
    const yaml = await template()
    const output = await cluster?.kubectl(
      ["apply", "--server-side", "--dry-run=server", "--validate=strict", "--namespace=default", "-f", "-"],
      yaml.replaceAll(/^( *namespace:) chancery$/gm, "$1 default"),
    )
    for (const { kind } of manifestsIn(yaml)) expect(output).toMatch(new RegExp(`^${kind.toLowerCase()}[./]`, "m"))
  })
})
