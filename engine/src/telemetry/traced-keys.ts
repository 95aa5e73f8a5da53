// Spans of key operations: the operation, the algorithm, and where the key is. Never the data.
import type { Sealer } from "../core/sealing.ts"
import { during, recordedSpan, type Span, type Tracer } from "../core/tracing.ts"
import type { SigningKeys } from "../pki/keys/signing-keys.ts"
import { describeKeyAlgorithm } from "../x509/key-algorithm.ts"
import type { KeyGenerator } from "../x509/key-generation.ts"
import type { SigningKey } from "../x509/signing-key.ts"

type KeyOperation = "sign" | "generate" | "seal" | "open"

const begin = (parent: Span, operation: KeyOperation, algorithm: string): Span =>
  parent.child(`key ${operation}`, {
    attributes: {
      "chancery.key.operation": operation,
      "chancery.key.algorithm": algorithm,
      // In this process, possibly on a worker thread.
      "chancery.key.place": "process",
    },
  })

export const tracedKeyGenerator = (generator: KeyGenerator, tracer: Tracer): KeyGenerator => ({
  generate(algorithm) {
    const parent = recordedSpan(tracer)
    if (parent === undefined) return generator.generate(algorithm)
    return during(tracer, begin(parent, "generate", describeKeyAlgorithm(algorithm)), () =>
      generator.generate(algorithm),
    )
  },
})

export const tracedSigningKeys = (keys: SigningKeys, tracer: Tracer): SigningKeys => ({
  open: async (id) => tracedSigningKey(await keys.open(id), tracer),
  fromPrivateKey: (privateKey) => tracedSigningKey(keys.fromPrivateKey(privateKey), tracer),
})

const tracedSigningKey = (key: SigningKey, tracer: Tracer): SigningKey => ({
  ...key,
  sign(data, algorithm) {
    const parent = recordedSpan(tracer)
    if (parent === undefined) return key.sign(data, algorithm)
    const span = begin(parent, "sign", describeKeyAlgorithm(key.algorithm))
    span.set({ "chancery.key.signature_algorithm": algorithm })
    return during(tracer, span, () => key.sign(data, algorithm))
  },
})

export function tracedSealer(sealer: Sealer, tracer: Tracer): Sealer {
  const traced = (operation: "seal" | "open", work: () => Uint8Array): Uint8Array => {
    const parent = recordedSpan(tracer)
    if (parent === undefined) return work()
    const span = begin(parent, operation, "AES-256-GCM")
    try {
      return work()
    } catch (error) {
      span.fail(error)
      throw error
    } finally {
      span.end()
    }
  }
  return {
    seal: (path, plain) => traced("seal", () => sealer.seal(path, plain)),
    open: (path, sealed) => traced("open", () => sealer.open(path, sealed)),
  }
}
