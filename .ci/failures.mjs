// node .ci/failures.mjs REPORT LIST: counts of vitest's JSON report, "passed failed"; what failed is added to LIST.
import { appendFileSync, readFileSync } from "node:fs"
import { relative } from "node:path"

const [report, list] = process.argv.slice(2)
const linesOfMessage = 12
const { numPassedTests, numFailedTests, testResults } = JSON.parse(readFileSync(report, "utf8"))

function shortened(message) {
  return message
    .split("\n")
    .slice(0, linesOfMessage)
    .map((line) => `    ${line}`)
    .join("\n")
}

for (const file of testResults.filter(({ status }) => status === "failed")) {
  const name = relative(process.cwd(), file.name)
  const failed = file.assertionResults.filter(({ status }) => status === "failed")
  if (failed.length === 0) appendFileSync(list, `${name}\n${shortened(file.message)}\n`)
  for (const { fullName, failureMessages } of failed)
    appendFileSync(list, `${name} > ${fullName}\n${failureMessages.map(shortened).join("\n")}\n`)
}

process.stdout.write(`${numPassedTests} ${numFailedTests}\n`)
