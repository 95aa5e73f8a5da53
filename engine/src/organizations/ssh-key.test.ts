import { expect, test } from "vitest"
import { isPrivateKey, sshKeyFaults } from "./ssh-key.ts"

const pem = (label: string, body = "c2VjcmV0\nc2VjcmV0\n") => `-----BEGIN ${label}-----\n${body}-----END ${label}-----`

test.each([
  { value: pem("OPENSSH PRIVATE KEY") },
  { value: pem("RSA PRIVATE KEY", "Proc-Type: 4,ENCRYPTED\n\nc2VjcmV0\n") },
  { value: pem("EC PRIVATE KEY") },
  { value: `${pem("PRIVATE KEY")}\n` },
  { value: pem("PRIVATE KEY").replaceAll("\n", "\r\n") },
])("a private key in PEM format is accepted", ({ value }) => {
  expect(sshKeyFaults({ name: "deploy", value })).toEqual([])
  expect(isPrivateKey(value)).toBe(true)
})

test.each([
  { value: "hunter2" },
  { value: pem("CERTIFICATE") },
  { value: pem("RSA PRIVATE KEY").replace("END RSA", "END EC") },
  { value: pem("PUBLIC KEY") },
  { value: "ssh-ed25519 AAAA me" },
])("[F-W5] a value that is not a private key is accepted and recognized", ({ value }) => {
  expect(sshKeyFaults({ name: "deploy", value })).toEqual([])
  expect(isPrivateKey(value)).toBe(false)
})

test.each([
  { value: "", detail: "Value can't be blank" },
  { value: "  \n", detail: "Value can't be blank" },
  { value: pem("PRIVATE KEY", `${"A".repeat(65_536)}\n`), detail: "Value is too long (maximum is 65536 characters)" },
])("a value is rejected: $detail", ({ value, detail }) => {
  expect(sshKeyFaults({ value })).toEqual([{ field: ["value"], detail }])
})

test.each([
  { name: "a\0b", detail: "Name can't contain control characters" },
  { name: " ", detail: "Name can't be blank" },
  { name: "n".repeat(256), detail: "Name is too long (maximum is 255 characters)" },
])("a name is rejected: $detail", ({ name, detail }) => {
  expect(sshKeyFaults({ name })).toEqual([{ field: ["name"], detail }])
})
