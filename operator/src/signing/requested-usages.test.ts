import { oids } from "@chancery/engine/x509"
import { expect, test } from "vitest"
import { type GrantedUsages, usagesBeyond } from "./requested-usages.ts"

const server: GrantedUsages = {
  keyUsages: ["digitalSignature", "keyEncipherment"],
  extendedKeyUsages: [oids.serverAuth],
}

test.each<{ requested: readonly string[]; beyond: readonly string[] }>([
  { requested: [], beyond: [] },
  { requested: ["signing"], beyond: [] },
  { requested: ["digital signature", "key encipherment", "server auth"], beyond: [] },
  { requested: ["server auth", "client auth", "client auth"], beyond: ["client auth"] },
  { requested: ["any"], beyond: ["any"] },
  { requested: ["cert sign", "crl sign"], beyond: ["cert sign", "crl sign"] },
  { requested: ["Server Auth"], beyond: ["Server Auth"] },
  { requested: ["toString", "constructor"], beyond: ["toString", "constructor"] },
])("usagesBeyond returns $beyond when $requested are requested of a role for servers", ({ requested, beyond }) => {
  expect(usagesBeyond(requested, server)).toEqual(beyond)
})

test.each([
  ["s/mime", oids.emailProtection],
  ["email protection", oids.emailProtection],
  ["timestamping", oids.timeStamping],
  ["ocsp signing", oids.ocspSigning],
  ["ipsec user", oids.ipsecUser],
])("usagesBeyond grants %s when the role gives %s", (name, oid) => {
  expect(usagesBeyond([name], { keyUsages: [], extendedKeyUsages: [oid] })).toEqual([])
})
