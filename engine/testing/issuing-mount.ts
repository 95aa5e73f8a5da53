// A mount for tests of authorities, and an authority outside of the engine.
import { dayMs } from "../src/core/time.ts"
import type { Caller } from "../src/core/caller.ts"
import type { ServedPki } from "../src/pki/mounts/pki.ts"
import { openssl } from "./openssl.ts"
import { openTestEngine, type TestEngine, type TestEngineOptions } from "./test-engine.ts"

export interface IssuingMount extends AsyncDisposable {
  readonly world: TestEngine
  readonly pki: ServedPki
  /** Returns the mount for another caller. */
  as(caller: Caller): ServedPki
}

/** Creates the mount `pki`, whose certificates may be valid for ten years. */
export async function issuingMount(options: TestEngineOptions = {}): Promise<IssuingMount> {
  const testEngine = await openTestEngine(options)
  const { engine } = testEngine
  await engine.mounts.create({ path: "pki", config: { maxLeaseTtlMs: 3_650 * dayMs } })
  return {
    world: testEngine,
    pki: engine.pki("pki"),
    as: (caller) => engine.as(caller).pki("pki"),
    [Symbol.asyncDispose]: () => testEngine[Symbol.asyncDispose](),
  }
}

export interface ForeignRoot {
  /** Key in PEM, as is the certificate. */
  readonly key: string
  readonly certificate: string
  /** Signs a CSR and returns the certificate in PEM. `extensions` are in the format of an openssl extension file. */
  sign(csr: string, extensions?: string): string
}

const authorityExtensions = `basicConstraints=critical,CA:TRUE
keyUsage=critical,keyCertSign,cRLSign
subjectKeyIdentifier=hash
authorityKeyIdentifier=keyid`

/** Creates a root with openssl. */
export function foreignRoot(subject = "/CN=Elsewhere"): ForeignRoot {
  const key = openssl(["genpkey", "-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-256"])
  const args = ["-subj", subject, "-addext", "keyUsage=critical,keyCertSign,cRLSign"]
  const certificate = openssl(["req", "-x509", "-new", "-key", "key.pem", "-days", "30", ...args], { "key.pem": key })
  const signing = ["-CA", "ca.pem", "-CAkey", "key.pem", "-days", "10", "-extfile", "extensions"]
  return {
    key,
    certificate,
    sign: (csr, extensions = authorityExtensions) =>
      openssl(["x509", "-req", "-in", "csr.pem", ...signing], {
        "csr.pem": csr,
        "ca.pem": certificate,
        "key.pem": key,
        extensions,
      }),
  }
}
