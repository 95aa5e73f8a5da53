// A reporter for vitest: "passed failed" go to the file that CI_COUNTS names, and what failed, with the difference between what was
// expected and what came, is added to the one that CI_FAILURES names.
import { appendFileSync, writeFileSync } from "node:fs"
import { stripVTControlCharacters } from "node:util"

const linesOfError = 40

export default class Reporter {
  onTestRunEnd(modules, unhandled) {
    let passed = 0
    let failed = 0
    for (const module of modules) {
      this.#tell(module.relativeModuleId, module.errors())
      for (const suite of module.children.allSuites())
        this.#tell(`${module.relativeModuleId} > ${suite.fullName}`, suite.errors())
      for (const test of module.children.allTests()) {
        const { state, errors = [] } = test.result()
        if (state === "passed") passed += 1
        if (state !== "failed") continue
        failed += 1
        this.#tell(`${module.relativeModuleId} > ${test.fullName}`, errors)
      }
    }
    this.#tell("outside any test", unhandled)
    writeFileSync(process.env.CI_COUNTS, `${passed} ${failed}\n`)
  }

  #tell(what, errors) {
    for (const { message = "", diff = "", stacks = [] } of errors) {
      const places = stacks.map(({ file, line }) => `at ${file}:${line}`)
      const lines = stripVTControlCharacters([message, diff, ...places].join("\n")).split("\n")
      const kept = lines.slice(0, linesOfError).map((line) => `    ${line}`)
      appendFileSync(process.env.CI_FAILURES, `${[what, ...kept].join("\n")}\n`)
    }
  }
}
