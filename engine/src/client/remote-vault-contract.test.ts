import { expect, test } from "vitest"
import { contract, nothing } from "../contracts/vault/endpoint.ts"
import { pkiCallsOver } from "./pki-calls.ts"
import { remote } from "./remote-vault-contract.ts"

test("remote sends requests with empty responses", async () => {
  const sent: string[] = []
  const pki = {
    send: async ({ method, path }: { readonly method: string; readonly path: string }) => {
      sent.push(`${method} ${path}`)
      return undefined
    },
    download: async () => new Uint8Array(),
    exchange: async () => new Uint8Array(),
  }
  const things = contract({
    delete: { operation: "delete", path: "/things/*path", summary: "Deletes.", rights: "delete", answers: nothing },
  })
  expect(await remote(things, pkiCallsOver({ pki })).delete("a/b c")).toBeUndefined()
  expect(sent).toEqual(["DELETE /things/a/b%20c"])
})
