// Where a resource stands in the program. The SDK notes the whole stack of calls, and Pulumi writes it into the state of each
// resource, all of which it writes anew after each step. The outer end of it is the same in every program: what Node, the SDK or a
// compiler calls a program with.

/** Undoes what was set. */
type Restore = () => void

/** The hook of V8, as those who set it write it: a function that knows by itself what it needs. */
interface StackHooks {
  readonly stackTraceLimit: number
  readonly prepareStackTrace?: (this: void, error: Error, sites: NodeJS.CallSite[]) => unknown
}

/**
 * Until it is undone, the stacks of errors have no frames unless somebody sets a limit, as the SDK does, and none behind the
 * outermost of the program's own. What is installed as a package is a library to the program; where nothing else is on the
 * stack, nothing is left out.
 */
export function traceProgramOnly(): Restore {
  const before: StackHooks = Error
  const { stackTraceLimit, prepareStackTrace } = before
  // The SDK notes a stack with each of four promises of each output, which takes a program of many resources half of its time.
  Error.stackTraceLimit = 0
  // What was there finds the lines of what was compiled. A runtime that has nothing there does it out of reach.
  const prepareWithinProgram =
    prepareStackTrace &&
    ((error: Error, sites: NodeJS.CallSite[]): unknown => prepareStackTrace(error, withinProgram(sites)))
  if (prepareWithinProgram !== undefined) Error.prepareStackTrace = prepareWithinProgram
  return () => {
    Error.stackTraceLimit = stackTraceLimit
    // Somebody else may have put theirs there meanwhile.
    if (prepareStackTrace !== undefined && Error.prepareStackTrace === prepareWithinProgram)
      Error.prepareStackTrace = prepareStackTrace
  }
}

function withinProgram(sites: NodeJS.CallSite[]): NodeJS.CallSite[] {
  const outermost = sites.findLastIndex((site) => isProgram(site.getFileName()))
  return outermost === -1 ? sites : sites.slice(0, outermost + 1)
}

/** A file of the program, not of Node or of a package. */
const isProgram = (file: string | null | undefined): boolean =>
  file !== undefined && file !== null && !file.startsWith("node:") && !/[/\\]node_modules[/\\]/.test(file)
