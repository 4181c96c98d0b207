/** A name server on the loopback that answers A and AAAA questions as a test tells it (RFC 1035 §4). */
import type { Socket } from 'node:dgram'
import { createSocket } from 'node:dgram'
import { once } from 'node:events'

export interface Zone {
  /** RFC 1035 §4.1.1 RCODE, 0 when not given. */
  readonly rcode?: number
  readonly ttl?: number
  readonly a?: readonly string[]
  readonly silent?: boolean
}

export class NameServer implements AsyncDisposable {
  /** `name type` of each question. */
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
    this.questions.push(`${name} ${type === 1 ? 'A' : 'AAAA'}`)
    const zone = this.zones.get(name) ?? { rcode: 3 }
    if (zone.silent) return undefined
    const addresses = type === 1 ? (zone.a ?? []) : []
    const header = Buffer.alloc(12)
    query.copy(header, 0, 0, 2)
    header.writeUInt16BE(0x8180 | (zone.rcode ?? 0), 2)
    header.writeUInt16BE(1, 4)
    header.writeUInt16BE(addresses.length, 6)
    return Buffer.concat([header, query.subarray(12, at + 5), ...addresses.map((address) => record(address, zone.ttl ?? 300))])
  }
}

function record(address: string, ttl: number): Buffer {
  const fixed = Buffer.from([0xc0, 0x0c, 0, 1, 0, 1, 0, 0, 0, 0, 0, 4])
  fixed.writeUInt32BE(ttl, 6)
  return Buffer.concat([fixed, Buffer.from(address.split('.').map(Number))])
}
