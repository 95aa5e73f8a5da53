// Rules of this repository that the linter lacks; `.oxlintrc.json` loads this file as the plugin `house`.
interface Node {
  readonly type: string
  readonly name?: string
  readonly callee?: Node
  readonly arguments?: readonly Node[]
}

interface Context {
  report(finding: { readonly message: string; readonly node: Node }): void
}

const message = "Time is an argument: only core/runtime.ts reads the clock of the process."
const isDate = (node: Node) => node.callee?.type === "Identifier" && node.callee.name === "Date"

const noAmbientDate = {
  create: (context: Context) => ({
    NewExpression: (node: Node) => {
      if (isDate(node) && node.arguments?.length === 0) context.report({ message, node })
    },
    // Date called without `new` ignores its arguments and returns the current time.
    CallExpression: (node: Node) => {
      if (isDate(node)) context.report({ message, node })
    },
  }),
}

export default { meta: { name: "house" }, rules: { "no-ambient-date": noAmbientDate } }
