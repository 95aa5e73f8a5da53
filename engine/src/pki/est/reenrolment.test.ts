import { expect, test } from "vitest"
import { oids } from "../../x509/asn1/oids.ts"
import type { GeneralName } from "../../x509/general-name.ts"
import { parseName, encodeName } from "../../x509/name.ts"
import { reenrolmentProblem } from "./reenrolment.ts"

const named = (commonName: string, ...subjectAltName: readonly GeneralName[]) => ({
  subjectName: parseName(encodeName([[{ type: oids.commonName, value: commonName }]])),
  extensionValues: subjectAltName.length === 0 ? {} : { subjectAltName },
})
const dns = (value: string): GeneralName => ({ kind: "dns", value })
const before = named("printer", dns("a.example"), dns("b.example"))

test.each([
  { what: "the same names", csr: before, problem: undefined },
  { what: "the names in another order", csr: named("printer", dns("b.example"), dns("a.example")), problem: undefined },
  { what: "another subject", csr: named("other", dns("a.example"), dns("b.example")), problem: /subject of/ },
  { what: "fewer names", csr: named("printer", dns("a.example")), problem: /subjectAltName of/ },
  { what: "no names", csr: named("printer"), problem: /subjectAltName of/ },
  {
    what: "another name",
    csr: named("printer", dns("a.example"), dns("b.example"), dns("c.example")),
    problem: /subjectAltName of/,
  },
  {
    what: "a name of another kind",
    csr: named("printer", dns("a.example"), { kind: "uri", value: "b.example" }),
    problem: /subjectAltName of/,
  },
])("reenrolmentProblem returns $problem when the CSR has $what", ({ csr, problem }) => {
  const found = reenrolmentProblem(before, csr)
  expect(found === undefined ? undefined : new RegExp(problem ?? "^$").test(found)).toBe(
    problem === undefined ? undefined : true,
  )
})
