// Tables of specs that the API server admits or rejects. Each rule is tested twice: in the API server, and in the TypeScript schema that
// applies without one.
import { beforeAll, describe, expect, test } from "vitest"
import type { Kind } from "../../../operator/src/api/definition.ts"
import { specFaults } from "../../../operator/src/api/rules.ts"
import { sharedCluster } from "./cluster.ts"

export interface Case {
  readonly why: string
  readonly spec: object
  /** Text in both the API server's error and ours, including the field; unset if the object is admitted. */
  readonly expected?: RegExp
  /** Text in our error, if the API server words a built-in rule differently. */
  readonly ours?: RegExp
}

export interface KindCases {
  readonly kind: Kind<unknown>
  readonly cases: readonly Case[]
}

export interface Change {
  readonly kind: Kind<unknown>
  readonly spec: object
  readonly change: object
  readonly expected: RegExp
}

export const cluster = sharedCluster()
export const { kubectl } = cluster ?? { kubectl: async () => "" }

const faultsOf = (...args: Parameters<typeof specFaults>): string =>
  specFaults(...args)
    .map(({ field, message }) => `${field}: ${message}`)
    .join("\n")

/** Returns tests of specs in a namespace. The first case of each kind has its required fields only. */
export function admissionCases(namespace: string) {
  const manifest = (kind: Kind<unknown>, name: string, spec: object) => ({
    apiVersion: "chancery.dev/v1alpha1",
    kind: kind.kind,
    metadata: { name, ...(kind.scope === "Cluster" ? {} : { namespace }) },
    spec,
  })

  /** Returns the API server's answers by name, from one command, because each command takes a while. */
  async function answers(kind: Kind<unknown>, cases: readonly Case[]): Promise<ReadonlyMap<string, string>> {
    const items = cases.map(({ spec }, index) => manifest(kind, `case-${index}`, spec))
    const list = JSON.stringify({ apiVersion: "v1", kind: "List", items })
    const output = await kubectl(
      ["create", "--dry-run=server", "--validate=false", "-o", "name", "-f", "-"],
      list,
    ).catch((error: Error) => error.message)
    const parts = output.split(/^(?=Error from server)/m)
    return new Map(
      parts.flatMap((part) => {
        const [, name] = / "(case-\d+)" is invalid: /.exec(part) ?? []
        return name === undefined ? [] : [[name, part]]
      }),
    )
  }

  const testAdmission = (kinds: readonly KindCases[]) =>
    describe.skipIf(cluster === undefined).each(kinds)("the kind $kind.kind", ({ kind, cases }) => {
      let refusals: ReadonlyMap<string, string>
      beforeAll(async () => {
        await kubectl(["create", "namespace", namespace]).catch(() => "")
        refusals = await answers(kind, cases)
      })

      test.each(
        cases.map((one, index) => ({ ...one, index, is: one.expected === undefined ? "admitted" : "refused" })),
      )(
        "is $is with $why, by the API server and by our validation",
        ({ index, spec, expected = /^$/, ours = expected }) => {
          expect(refusals.get(`case-${index}`) ?? "").toMatch(expected)
          expect(faultsOf(kind, JSON.parse(JSON.stringify(spec)))).toMatch(ours)
        },
      )

      test("rejects unknown fields, and has a description", async () => {
        const unknown = JSON.stringify(manifest(kind, "unknown", { ...cases[0]?.spec, everything: true }))
        await expect(kubectl(["create", "--dry-run=server", "--validate=strict", "-f", "-"], unknown)).rejects.toThrow(
          /unknown field "spec\.everything"/,
        )
        const explained = await kubectl(["explain", `${kind.plural}.chancery.dev`, "--recursive=false"])
        expect(explained).toContain(kind.description.slice(0, 40))
      })
    })

  const testChanges = (changes: readonly Change[]) =>
    test.each(changes)("a $kind.kind cannot have $change", async ({ kind, spec, change, expected }) => {
      const name = `kept-${Object.keys(change).join("").toLowerCase()}`
      await kubectl(["create", "namespace", namespace]).catch(() => "")
      // Paused, in case an operator reconciles the namespace.
      const made = manifest(kind, name, spec)
      const paused = { ...made, metadata: { ...made.metadata, annotations: { "chancery.dev/paused": "true" } } }
      await kubectl(["create", "-f", "-"], JSON.stringify(paused))
      const patch = JSON.stringify({ spec: change })
      const args = ["patch", `${kind.plural}.chancery.dev`, name, "-n", namespace, "--type=merge", "-p", patch]
      await expect(kubectl(args)).rejects.toThrow(expected)
      expect(faultsOf(kind, { ...spec, ...change }, spec)).toMatch(expected)
    })

  return { manifest, testAdmission, testChanges }
}
