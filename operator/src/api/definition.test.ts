import { expect, test } from "vitest"
import { definitionOf } from "./definition.ts"
import { kinds } from "./kinds.ts"

interface Columns {
  readonly spec: {
    readonly versions: readonly [
      { readonly additionalPrinterColumns: readonly { name: string; type: string; priority?: number }[] },
    ]
  }
}

const columnsOf = (kind: (typeof kinds)[number]) =>
  (definitionOf(kind) as unknown as Columns).spec.versions[0].additionalPrinterColumns

test.each(kinds)(
  "[F-K13] no column of a $kind is a date but its age: kubectl writes <invalid> for those to come",
  (kind) => {
    expect(columnsOf(kind).filter(({ type }) => type === "date")).toMatchObject([{ name: "Age" }])
  },
)

test("[F-K10] kubectl get shows the issuer and the expiry of a Certificate", () => {
  const shown = kinds
    .filter(({ kind }) => kind === "Certificate")
    .flatMap(columnsOf)
    .filter(({ priority = 0 }) => priority === 0)
  expect(shown.map(({ name }) => name)).toEqual(["Secret", "Issuer", "Expires", "Ready", "Reason", "Age"])
})
