import { authorities, type ValidatedCertificate, type ValidatedCrl, type WrittenBatch } from "./batch.ts"
import type { Finding, Validator } from "./validator.ts"
import { each, run, runEach } from "./run.ts"

/** X509_V_ERR_CERT_REVOKED */
const revoked = "error 23"

/** Keeps the list of files below the maximum length of a command line. */
const filesPerCall = 500

export function opensslValidator(openssl: string): Validator {
  return {
    name: "openssl",
    async validate(batch) {
      const { roots, intermediates } = authorities(batch)
      const requested = batch.crls.filter(({ isMadeUp }) => isMadeUp !== true)
      const complete = requested.filter(({ isDelta }) => isDelta !== true)
      const pemOf = (file: string, crls: readonly ValidatedCrl[]) =>
        batch.writePem(
          file,
          "X509 CRL",
          crls.map(({ der }) => der),
        )
      const files: Files = {
        roots: await batch.writePem("roots.pem", "CERTIFICATE", roots),
        // The file must not be empty.
        intermediates: await batch.writePem("intermediates.pem", "CERTIFICATE", [...intermediates, ...roots]),
        all: await batch.writePem("authorities.pem", "CERTIFICATE", [...roots, ...intermediates]),
        crls: await pemOf("crls.pem", complete),
        crlsAndDeltas: await pemOf("crls-and-deltas.pem", requested),
      }
      const findings = [
        await each(calls(batch.certificates), (call) => validateCertificates(openssl, call, files, batch)),
        await validateCrls(openssl, files, batch),
        await validateAnswers(openssl, files, batch),
        await validateRequests(openssl, batch),
      ]
      return findings.flat().map((finding) => ({ validator: "openssl", ...finding }))
    },
  }
}

interface Files {
  readonly roots: string
  readonly intermediates: string
  readonly all: string
  /** Without `-use_deltas`, OpenSSL takes a delta CRL that is newer than its base for a complete CRL. */
  readonly crls: string
  readonly crlsAndDeltas: string
}

type Found = Omit<Finding, "validator">

/** Groups certificates that one call can validate. */
function calls(certificates: readonly ValidatedCertificate[]): (readonly ValidatedCertificate[])[] {
  const groups = Map.groupBy(
    certificates,
    ({ purpose, status }) => `${purpose} ${status === "good" ? "revoked" : status}`,
  )
  return [...groups.values()].flatMap((group) =>
    Array.from({ length: Math.ceil(group.length / filesPerCall) }, (_, call) =>
      group.slice(call * filesPerCall, (call + 1) * filesPerCall),
    ),
  )
}

async function validateCertificates(
  openssl: string,
  certificates: readonly ValidatedCertificate[],
  files: Files,
  { path }: WrittenBatch,
): Promise<Found[]> {
  const [first] = certificates
  if (first === undefined) return []
  const { stdout, stderr } = await run(openssl, [
    "verify",
    "-x509_strict",
    "-check_ss_sig",
    // 112 bits: no SHA-1, no RSA key under 2048 bits.
    ...["-auth_level", "2"],
    ...["-purpose", first.purpose],
    // Without a file, OpenSSL would trust the system's roots.
    ...["-CAfile", files.roots, "-untrusted", files.intermediates],
    ...listOptions(first, files),
    ...certificates.map(({ der }) => path(der)),
  ])
  const good = new Set([...stdout.matchAll(/^(.+): OK$/gm)].map((match) => match[1]))
  const bad = readRefusals(stderr)
  return certificates.flatMap(({ name, der, status }) => {
    const faults = bad.get(path(der)) ?? []
    const isRevoked = status === "revoked" || status === "revoked by a delta"
    const found = faults.filter(({ code }) => !(isRevoked && code === revoked))
    if (good.has(path(der)) ? faults.length > 0 : faults.length === 0) {
      found.push({ code: "no verdict", detail: stderr.slice(-1_000) })
    }
    if (isRevoked && found.length === faults.length) {
      found.push({ code: "not revoked", detail: "the CRLs do not have it" })
    }
    return found.map((fault) => ({ subject: name, ...fault }))
  })
}

function listOptions({ status }: ValidatedCertificate, { crls, crlsAndDeltas }: Files): readonly string[] {
  if (status === undefined) return []
  return status === "revoked by a delta"
    ? ["-crl_check_all", "-CRLfile", crlsAndDeltas, "-extended_crl", "-use_deltas"]
    : ["-crl_check_all", "-CRLfile", crls]
}

/** Parses the errors of OpenSSL: lines with the faults of a file, after their subject, and then a line that names the file. */
function readRefusals(text: string): Map<string, { code: string; detail: string }[]> {
  const refusals = new Map<string, { code: string; detail: string }[]>()
  let faults: { code: string; detail: string }[] = []
  for (const line of text.split("\n")) {
    const [, code, detail] = /^(error \d+) (at \d+ depth lookup: .*)$/.exec(line) ?? []
    if (code !== undefined && detail !== undefined) faults.push({ code, detail })
    const [, file] = /^error (.+): verification failed$/.exec(line) ?? []
    if (file === undefined) continue
    refusals.set(file, faults)
    faults = []
  }
  return refusals
}

async function validateCrls(openssl: string, files: Files, { crls, path }: WrittenBatch): Promise<Found[]> {
  const outcomes = await runEach(
    crls.map(({ der }) => [
      openssl,
      "crl",
      ...["-inform", "DER", "-in", path(der)],
      ...["-noout", "-verify", "-CAfile", files.all],
    ]),
  )
  return outcomes.flatMap(({ code, stdout }, index) =>
    code === 0 && stdout.includes("verify OK")
      ? []
      : [{ subject: crls[index]!.name, code: "crl", detail: stdout.trim() }],
  )
}

async function validateAnswers(openssl: string, files: Files, { answers, path }: WrittenBatch): Promise<Found[]> {
  const verified = await runEach(
    answers.map(({ der, serialNumber, issuers, digest }) => [
      openssl,
      "ocsp",
      ...["-no_nonce", "-resp_text", "-respin", path(der)],
      `-${digest}`,
      ...["-issuer", path(issuers[0]!), "-serial", `0x${serialNumber.toString(16)}`],
      ...["-CAfile", files.roots, "-verify_other", files.all],
    ]),
  )
  // OpenSSL compares the nonce only with that of a request it has sent, not with that of one read from a file.
  const sent = await runEach(
    answers.map(({ request }) => [openssl, "ocsp", "-no_nonce", "-req_text", "-reqin", path(request)]),
  )
  return answers.flatMap(({ name, status }, index) => {
    const { code, stdout } = verified[index]!
    const found: Found[] = []
    if (code !== 0 || !stdout.includes("Response verify OK"))
      found.push({ subject: name, code: "ocsp", detail: stdout.slice(-1_000).trim() })
    const [requested, returned] = [sent[index]!.stdout, stdout].map((text) => /OCSP Nonce:\s*(\w+)/.exec(text)?.[1])
    if (requested !== returned)
      found.push({ subject: name, code: "ocsp nonce", detail: `${returned} instead of ${requested}` })
    const [, answered] = /^0x[0-9a-f]+: (\w+)/im.exec(stdout) ?? []
    if (answered !== status)
      found.push({ subject: name, code: "ocsp status", detail: `${answered} instead of ${status}` })
    return found
  })
}

async function validateRequests(openssl: string, { requests, path }: WrittenBatch): Promise<Found[]> {
  const outcomes = await runEach(
    requests.map(({ der }) => [openssl, "req", "-inform", "DER", "-in", path(der), "-noout", "-text", "-verify"]),
  )
  return outcomes.flatMap(({ code, stdout }, index) =>
    code === 0 && stdout.includes("self-signature verify OK")
      ? []
      : [{ subject: requests[index]!.name, code: "req", detail: stdout.slice(-1_000).trim() }],
  )
}
