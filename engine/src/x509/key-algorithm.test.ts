import { expect, test } from "vitest"
import { describeKeyAlgorithm, keyAlgorithm } from "./key-algorithm.ts"

test.each([
  { type: "rsa", bits: 0, made: { type: "rsa", bits: 2048 }, described: "RSA 2048" },
  { type: "rsa", bits: 2048, made: { type: "rsa", bits: 2048 }, described: "RSA 2048" },
  { type: "rsa", bits: 3072, made: { type: "rsa", bits: 3072 }, described: "RSA 3072" },
  { type: "rsa", bits: 4096, made: { type: "rsa", bits: 4096 }, described: "RSA 4096" },
  { type: "rsa", bits: 8192, made: { type: "rsa", bits: 8192 }, described: "RSA 8192" },
  { type: "ec", bits: 0, made: { type: "ec", bits: 256 }, described: "EC P-256" },
  { type: "ec", bits: 224, made: { type: "ec", bits: 224 }, described: "EC P-224" },
  { type: "ec", bits: 256, made: { type: "ec", bits: 256 }, described: "EC P-256" },
  { type: "ec", bits: 384, made: { type: "ec", bits: 384 }, described: "EC P-384" },
  { type: "ec", bits: 521, made: { type: "ec", bits: 521 }, described: "EC P-521" },
  { type: "ed25519", bits: 0, made: { type: "ed25519" }, described: "Ed25519" },
  { type: "ed25519", bits: 256, made: { type: "ed25519" }, described: "Ed25519" },
] as const)("a key of type $type with $bits bits is $described", ({ type, bits, made, described }) => {
  expect(keyAlgorithm(type, bits)).toEqual(made)
  expect(describeKeyAlgorithm(made)).toBe(described)
})

test.each([
  { type: "rsa", bits: 1024 },
  { type: "rsa", bits: 2049 },
  { type: "rsa", bits: 16_384 },
  { type: "rsa", bits: -2048 },
  { type: "ec", bits: 192 },
  { type: "ec", bits: 2048 },
  { type: "ec", bits: Number.NaN },
] as const)("no key of type $type is made with $bits bits", ({ type, bits }) => {
  expect(keyAlgorithm(type, bits)).toBeUndefined()
})
