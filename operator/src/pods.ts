// Pods for the runs of `chancery agent --isolation pod`, which imports this module by the package's name.
export { openPodExecutor } from "./agent-pods/pod-executor.ts"
