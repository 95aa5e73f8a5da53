import { expect, test } from "vitest"
import { formatAuditTarget, parseAuditTarget } from "./audit-target.ts"

test.each([
  { text: "audit.log", target: { kind: "file", path: "audit.log" } },
  { text: "/var/log/chancery/audit.log", target: { kind: "file", path: "/var/log/chancery/audit.log" } },
  { text: "stdout", target: { kind: "stdout" } },
  { text: "syslog+udp://logs.example", target: { kind: "syslog", transport: "udp", host: "logs.example", port: 514 } },
  { text: "syslog+tcp://10.0.0.1:80", target: { kind: "syslog", transport: "tcp", host: "10.0.0.1", port: 80 } },
  { text: "syslog+tcp://logs.example", target: { kind: "syslog", transport: "tcp", host: "logs.example", port: 601 } },
  {
    text: "syslog+tls://[2001:db8::1]:7000/",
    target: { kind: "syslog", transport: "tls", host: "2001:db8::1", port: 7000 },
  },
  { text: "syslog+tls://logs.example", target: { kind: "syslog", transport: "tls", host: "logs.example", port: 6514 } },
  { text: "syslog+unix:/run/syslog.sock", target: { kind: "syslog", transport: "unix", path: "/run/syslog.sock" } },
])("$text", ({ text, target }) => {
  const parsed = parseAuditTarget(text)
  expect(parsed).toEqual(target)
  expect(parsed && parseAuditTarget(formatAuditTarget(parsed))).toEqual(target)
})

test.each([
  "",
  "syslog:",
  "syslog://logs.example",
  "syslog+http://logs.example",
  "syslog+tcp://",
  "syslog+tcp://logs.example:0",
  "syslog+tcp://logs.example:99999",
  "syslog+tcp://user:secret@logs.example",
  "syslog+tcp://logs.example/path",
  "syslog+unix:relative",
])("%j is not an audit target", (text) => {
  expect(parseAuditTarget(text)).toBeUndefined()
})
