// A DNS server on this machine, which logs every query.
import { createSocket, type RemoteInfo } from "node:dgram"
import { onTestFinished } from "vitest"
import { parseIpAddress } from "../src/pki/names/ip-address.ts"

const types = { A: 1, CNAME: 5, TXT: 16, AAAA: 28, CAA: 257 } as const
export type RecordType = keyof typeof types

export interface NameServer {
  readonly port: number
  /** Queries as `TYPE name`, in order of arrival. */
  readonly questions: string[]
  /** Source ports of the queries. */
  readonly ports: Set<number>
}

const serverFailure = 2

type Response = readonly string[] | "failure"

/** Answers each query with the values that `answer` returns; for CAA a tag and a value. "failure" answers SERVFAIL. */
export async function openNameServer(
  answer: (type: RecordType, name: string) => Response | Promise<Response>,
): Promise<NameServer> {
  const questions: string[] = []
  const ports = new Set<number>()
  const socket = createSocket("udp4")
  const reply = async (message: Buffer, { port, address }: RemoteInfo) => {
    const { name, type, end } = questionIn(message)
    questions.push(`${type ?? "other"} ${name}`)
    ports.add(port)
    const response = type === undefined ? [] : await answer(type, name)
    const values = response === "failure" ? [] : response
    const records = values.map((value) => recordOf(type ?? "A", value))
    const header = Buffer.from(message.subarray(0, 12))
    header.writeUInt16BE(0x8580 | (response === "failure" ? serverFailure : 0), 2)
    header.writeUInt16BE(records.length, 6)
    header.fill(0, 8)
    socket.send(Buffer.concat([header, message.subarray(12, end), ...records]), port, address)
  }
  socket.on("message", (message, from) => void reply(message, from))
  await new Promise<void>((resolve) => socket.bind(0, "127.0.0.1", resolve))
  onTestFinished(() => void socket.close())
  return { port: socket.address().port, questions, ports }
}

function questionIn(message: Buffer) {
  const labels: string[] = []
  let at = 12
  for (let length = message.readUInt8(at); length > 0; length = message.readUInt8(at)) {
    labels.push(message.toString("latin1", at + 1, at + 1 + length))
    at += 1 + length
  }
  const number = message.readUInt16BE(at + 1)
  const [type] = (Object.keys(types) as RecordType[]).filter((one) => types[one] === number)
  return { name: labels.join(".").toLowerCase(), type, end: at + 5 }
}

/** Encodes a record of the queried name with a TTL of 0. */
function recordOf(type: RecordType, value: string): Buffer {
  const data = dataOf[type](value)
  const head = Buffer.from([0xc0, 12, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0])
  head.writeUInt16BE(types[type], 2)
  head.writeUInt16BE(data.length, 10)
  return Buffer.concat([head, data])
}

const dataOf: Readonly<Record<RecordType, (value: string) => Uint8Array>> = {
  A: (value) => octetsOf(value, "A"),
  AAAA: (value) => octetsOf(value, "AAAA"),
  CNAME: (value) => Buffer.concat([...value.split(".").map(text), Buffer.alloc(1)]),
  TXT: (value) => text(value),
  CAA(value) {
    const [tag = "", ...words] = value.split(" ")
    return Buffer.concat([Buffer.alloc(1), text(tag), Buffer.from(words.join(" "))])
  },
}

const text = (value: string): Buffer => Buffer.concat([Buffer.from([value.length]), Buffer.from(value)])

/** Encodes an address. An IPv4-mapped address keeps 16 bytes in its AAAA record. */
function octetsOf(address: string, type: RecordType): Uint8Array {
  const octets = parseIpAddress(address) ?? new Uint8Array()
  return type === "AAAA" && octets.length === 4
    ? Buffer.concat([Buffer.from(`${"00".repeat(10)}ffff`, "hex"), octets])
    : octets
}
