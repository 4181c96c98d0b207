/** A loopback name server that answers A, AAAA, TXT and MX queries as configured by the test (RFC 1035 §4). */
import type { Socket } from 'node:dgram'
import { createSocket } from 'node:dgram'
import { once } from 'node:events'

export interface Zone {
  /** RFC 1035 §4.1.1 RCODE, default 0. */
  readonly rcode?: number
  readonly ttl?: number
  readonly a?: readonly string[]
  /** Records, each as its strings of at most 255 octets. */
  readonly txt?: readonly (readonly string[])[]
  readonly mx?: readonly { readonly priority: number; readonly exchange: string }[]
  /** Canonical name, whose records are in the same response. */
  readonly cname?: string
  readonly silent?: boolean
}

export class NameServer implements AsyncDisposable {
  /** `name type` of each query. */
  readonly questions: string[] = []
  readonly zones = new Map<string, Zone>()
  readonly #socket: Socket = createSocket('udp4')

  async listen(): Promise<string> {
    this.#socket.on('message', (query, from) => {
      const answer = this.#answer(query)
      if (answer) this.#socket.send(answer, from.port, from.address)
    })
    this.#socket.bind(0, '127.0.0.1')
    await once(this.#socket, 'listening')
    return `127.0.0.1:${this.#socket.address().port}`
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#socket.close()
    await once(this.#socket, 'close')
  }

  #answer(query: Buffer): Buffer | undefined {
    const labels: string[] = []
    let at = 12
    for (let length = query[at] ?? 0; length > 0; length = query[at] ?? 0) {
      labels.push(query.toString('latin1', at + 1, at + 1 + length))
      at += length + 1
    }
    const type = query.readUInt16BE(at + 1)
    const name = labels.join('.')
    this.questions.push(`${name} ${typeNames[type] ?? type}`)
    const zone = this.zones.get(name.toLowerCase()) ?? { rcode: 3 }
    if (zone.silent) return undefined
    const end = zone.cname === undefined ? zone : (this.zones.get(zone.cname) ?? { rcode: 3 })
    const owner = zone.cname === undefined ? Buffer.from([0xc0, 0x0c]) : nameOf(zone.cname)
    const records = dataOf(end, type).map((data) => record(owner, type, data, end.ttl ?? 300))
    if (zone.cname !== undefined) records.unshift(record(Buffer.from([0xc0, 0x0c]), 5, nameOf(zone.cname), 300))
    const header = Buffer.alloc(12)
    query.copy(header, 0, 0, 2)
    header.writeUInt16BE(0x8180 | (end.rcode ?? 0), 2)
    header.writeUInt16BE(1, 4)
    header.writeUInt16BE(records.length, 6)
    return Buffer.concat([header, query.subarray(12, at + 5), ...records])
  }
}

const typeNames: Readonly<Record<number, string>> = { 1: 'A', 15: 'MX', 16: 'TXT', 28: 'AAAA' }

/** The data of all records of a type. */
function dataOf(zone: Zone, type: number): Buffer[] {
  if (type === 1) return (zone.a ?? []).map((address) => Buffer.from(address.split('.').map(Number)))
  if (type === 15) return (zone.mx ?? []).map(({ priority, exchange }) => Buffer.concat([Buffer.of(0, priority), nameOf(exchange)]))
  if (type !== 16) return []
  return (zone.txt ?? []).map((strings) =>
    Buffer.concat(strings.map((text) => Buffer.from(`${String.fromCharCode(text.length)}${text}`, 'latin1'))),
  )
}

const nameOf = (name: string): Buffer =>
  Buffer.concat([...name.split('.').map((label) => Buffer.from(`${String.fromCharCode(label.length)}${label}`, 'latin1')), Buffer.of(0)])

function record(owner: Buffer, type: number, data: Buffer, ttl: number): Buffer {
  const fixed = Buffer.alloc(10)
  fixed.writeUInt16BE(type, 0)
  fixed.writeUInt16BE(1, 2)
  fixed.writeUInt32BE(ttl, 4)
  fixed.writeUInt16BE(data.length, 8)
  return Buffer.concat([owner, fixed, data])
}
