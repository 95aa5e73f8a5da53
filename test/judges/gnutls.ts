import type { JudgedAnswer, JudgedCertificate, JudgedCrl, WrittenBatch } from "./batch.ts"
import type { Finding, Judge } from "./judge.ts"
import { each, run } from "./run.ts"

export function gnutlsJudge({ certtool, ocsptool }: { readonly certtool: string; readonly ocsptool: string }): Judge {
  return {
    name: "gnutls",
    async judge(batch) {
      const findings = [
        await readAll(certtool, batch),
        await each(batch.certificates, (certificate, index) => judgeChain(certtool, certificate, index, batch)),
        await each(batch.crls, (crl, index) => judgeCrl(certtool, crl, index, batch)),
        await each(batch.answers, (answer, index) => judgeAnswer(ocsptool, answer, index, batch)),
      ]
      return findings.flat().map((finding) => ({ judge: "gnutls", ...finding }))
    },
  }
}

type Found = Omit<Finding, "judge">

/** Prints every certificate, which says what in them cannot be read. */
async function readAll(certtool: string, { certificates, writePem }: WrittenBatch): Promise<Found[]> {
  if (certificates.length === 0) return []
  const file = await writePem(
    "all.pem",
    "CERTIFICATE",
    certificates.map(({ der }) => der),
  )
  const { code, stdout, stderr } = await run(certtool, ["--certificate-info", "--infile", file])
  const printed = stdout.split("X.509 Certificate Information:").slice(1)
  if (code !== 0 || printed.length !== certificates.length) {
    return [{ subject: "all certificates", code: "unreadable", detail: stderr.trim() }]
  }
  return certificates.flatMap(({ name }, index) => unreadable(name, printed[index] ?? ""))
}

const unreadable = (subject: string, text: string): Found[] =>
  [...text.matchAll(/^\s*error: (.*)$/gm)].map((match) => ({ subject, code: "unreadable", detail: match[1] ?? "" }))

async function judgeChain(
  certtool: string,
  { name, der, issuers }: JudgedCertificate,
  index: number,
  { writePem }: WrittenBatch,
): Promise<Found[]> {
  const file = await writePem(`chain-${index}.pem`, "CERTIFICATE", [der, ...issuers])
  // Medium is 112 bits, what RSA keys of 2048 bits give.
  const { code, stdout, stderr } = await run(certtool, [
    "--verify-chain",
    "--verify-profile",
    "medium",
    "--infile",
    file,
  ])
  if (code === 0 && /^Chain verification output: Verified\./m.test(stdout)) return []
  return refusals(name, stdout, stderr)
}

async function judgeCrl(
  certtool: string,
  { name, der, issuers }: JudgedCrl,
  index: number,
  { writePem }: WrittenBatch,
): Promise<Found[]> {
  const file = await writePem(`crl-${index}.pem`, "X509 CRL", [der])
  const authority = await writePem(`crl-${index}-issuers.pem`, "CERTIFICATE", issuers)
  const read = await run(certtool, ["--crl-info", "--infile", file])
  const found =
    read.code === 0
      ? unreadable(name, read.stdout)
      : [{ subject: name, code: "unreadable", detail: read.stderr.trim() }]
  const verified = await run(certtool, ["--verify-crl", "--load-ca-certificate", authority, "--infile", file])
  if (verified.code !== 0 || !/Verification output: Verified/.test(verified.stdout)) {
    found.push(...refusals(name, verified.stdout, verified.stderr))
  }
  return found
}

async function judgeAnswer(
  ocsptool: string,
  { name, der, issuers, status }: JudgedAnswer,
  index: number,
  { path, writePem }: WrittenBatch,
): Promise<Found[]> {
  const authority = await writePem(`answer-${index}-issuers.pem`, "CERTIFICATE", issuers)
  const read = await run(ocsptool, ["--response-info", "--load-response", path(der)])
  const found =
    read.code === 0
      ? unreadable(name, read.stdout)
      : [{ subject: name, code: "unreadable", detail: read.stderr.trim() }]
  const [, answered] = /Certificate Status: (\w+)/.exec(read.stdout) ?? []
  if (answered !== status) {
    found.push({ subject: name, code: "ocsp status", detail: `${answered} instead of ${status}` })
  }
  const verified = await run(ocsptool, ["--verify-response", "--load-trust", authority, "--load-response", path(der)])
  if (verified.code !== 0 || !/Success\./.test(verified.stdout)) {
    found.push({ subject: name, code: "ocsp", detail: `${verified.stdout}\n${verified.stderr}`.trim() })
  }
  return found
}

/** One finding for each sentence of its verdict. */
function refusals(subject: string, stdout: string, stderr: string): Found[] {
  const [verdict] = stdout.match(/(?<=erification output: Not verified\.).*$/m) ?? []
  const sentences = (verdict ?? "")
    .split(/(?<=\.) /)
    .map((sentence) => sentence.trim())
    .filter((sentence) => sentence !== "" && sentence !== "The certificate is NOT trusted.")
  if (sentences.length > 0) return sentences.map((code) => ({ subject, code, detail: "" }))
  return [{ subject, code: "refused", detail: `${stdout}\n${stderr}`.trim().slice(-1_000) }]
}
