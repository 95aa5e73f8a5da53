import type { ValidatedAnswer, WrittenBatch } from "./batch.ts"
import type { Finding, Validator } from "./validator.ts"
import { type Outcome, run, runEach } from "./run.ts"

export function gnutlsValidator({
  certtool,
  ocsptool,
}: {
  readonly certtool: string
  readonly ocsptool: string
}): Validator {
  return {
    name: "gnutls",
    async validate(batch) {
      const findings = [
        await readAll(certtool, batch),
        await validateChains(certtool, batch),
        await validateCrls(certtool, batch),
        await validateAnswers(ocsptool, batch),
        await validateRequests(certtool, batch),
      ]
      return findings.flat().map((finding) => ({ validator: "gnutls", ...finding }))
    },
  }
}

type Found = Omit<Finding, "validator">

/** Prints every certificate; the output reports the parts that cannot be parsed. */
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

async function validateChains(certtool: string, { certificates, writePem }: WrittenBatch): Promise<Found[]> {
  const commands: string[][] = []
  for (const [index, { der, issuers }] of certificates.entries()) {
    const file = await writePem(`chain-${index}.pem`, "CERTIFICATE", [der, ...issuers])
    // Medium is 112 bits, the strength of RSA keys of 2048 bits.
    commands.push([certtool, "--verify-chain", "--verify-profile", "medium", "--infile", file])
  }
  const outcomes = await runEach(commands)
  return outcomes.flatMap(({ code, stdout }, index) =>
    code === 0 && /^Chain verification output: Verified\./m.test(stdout)
      ? []
      : refusals(certificates[index]!.name, stdout),
  )
}

async function validateCrls(certtool: string, { crls, writePem }: WrittenBatch): Promise<Found[]> {
  const reading: string[][] = []
  const verifying: string[][] = []
  for (const [index, { der, issuers }] of crls.entries()) {
    const file = await writePem(`crl-${index}.pem`, "X509 CRL", [der])
    const authority = await writePem(`crl-${index}-issuers.pem`, "CERTIFICATE", issuers)
    reading.push([certtool, "--crl-info", "--infile", file])
    verifying.push([certtool, "--verify-crl", "--load-ca-certificate", authority, "--infile", file])
  }
  const read = await runEach(reading)
  const verified = await runEach(verifying)
  return crls.flatMap(({ name }, index) => [
    ...readingFaults(name, read[index]!),
    ...(verified[index]!.code === 0 && /Verification output: Verified/.test(verified[index]!.stdout)
      ? []
      : refusals(name, verified[index]!.stdout)),
  ])
}

async function validateAnswers(ocsptool: string, { answers, path, writePem }: WrittenBatch): Promise<Found[]> {
  const verify = (answer: ValidatedAnswer, ...how: readonly string[]) => [
    ...[ocsptool, "--verify-response", ...how],
    ...["--load-response", path(answer.der)],
  ]
  const chains: string[] = []
  for (const [index, { issuers }] of answers.entries())
    chains.push(await writePem(`answer-${index}-issuers.pem`, "CERTIFICATE", issuers))
  const read = await runEach(answers.map(({ der }) => [ocsptool, "--response-info", "--load-response", path(der)]))
  const verified = [...(await runEach(answers.map((answer, index) => verify(answer, "--load-trust", chains[index]!))))]
  // An issuer that signs its own OCSP responses need not include its certificate, but ocsptool then requires it as an option.
  const signerless = [...answers.keys()].filter((index) => verified[index]!.stdout.includes("Signer cert not found"))
  const again = await runEach(signerless.map((index) => verify(answers[index]!, "--load-signer", chains[index]!)))
  for (const [at, index] of signerless.entries()) verified[index] = again[at]!
  return answers.flatMap(({ name, status }, index) => {
    const found = readingFaults(name, read[index]!)
    const [, answered] = /Certificate Status: (\w+)/.exec(read[index]!.stdout) ?? []
    if (answered !== status)
      found.push({ subject: name, code: "ocsp status", detail: `${answered} instead of ${status}` })
    const { code, stdout } = verified[index]!
    if (code !== 0 || !/Success\./.test(stdout))
      found.push({ subject: name, code: "ocsp", detail: stdout.slice(-300).trim() })
    return found
  })
}

async function validateRequests(certtool: string, { requests, path }: WrittenBatch): Promise<Found[]> {
  const outcomes = await runEach(requests.map(({ der }) => [certtool, "--crq-info", "--inder", "--infile", path(der)]))
  return outcomes.flatMap((outcome, index) => {
    const { name } = requests[index]!
    return [
      ...readingFaults(name, outcome),
      ...(/^Self signature: verified$/m.test(outcome.stdout)
        ? []
        : [{ subject: name, code: "request", detail: outcome.stdout.slice(-300).trim() }]),
    ]
  })
}

const readingFaults = (name: string, { code, stdout }: Outcome): Found[] =>
  code === 0 ? unreadable(name, stdout) : [{ subject: name, code: "unreadable", detail: stdout.trim() }]

/** Returns one finding for each sentence of the verdict. */
function refusals(subject: string, stdout: string): Found[] {
  const [verdict] = stdout.match(/(?<=erification output: Not verified\.).*$/m) ?? []
  const sentences = (verdict ?? "")
    .split(/(?<=\.) /)
    .map((sentence) => sentence.trim())
    .filter((sentence) => sentence !== "" && sentence !== "The certificate is NOT trusted.")
  if (sentences.length > 0) return sentences.map((code) => ({ subject, code, detail: "" }))
  return [{ subject, code: "refused", detail: stdout.trim().slice(-1_000) }]
}
