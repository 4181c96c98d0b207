/** A name server on loopback that answers from a table (RFC 1035). Every other name does not exist. */
import { createSocket, type Socket } from 'node:dgram'
import { once } from 'node:events'

/** Texts by `name type` with the name in lower case: `mx.test A`: `192.0.2.1`; MX as `10 mx.test`. Texts of TXT are split automatically. */
export type Records = Readonly<Record<string, readonly string[]>>

const types: Readonly<Record<number, string>> = { 1: 'A', 5: 'CNAME', 6: 'SOA', 12: 'PTR', 15: 'MX', 16: 'TXT', 28: 'AAAA', 52: 'TLSA' }

export class NameServer implements AsyncDisposable {
  /** The queries, as `name type`. */
  readonly questions: string[] = []
  readonly #socket: Socket
  readonly #records: Records

  private constructor(socket: Socket, records: Records) {
    this.#socket = socket
    this.#records = records
    socket.on('message', (query, { port, address }) => socket.send(this.#answer(query), port, address))
  }

  static async start(records: Records): Promise<NameServer> {
    const socket = createSocket('udp4')
    socket.bind(0, '127.0.0.1')
    await once(socket, 'listening')
    return new NameServer(socket, records)
  }

  get address(): string {
    return `127.0.0.1:${this.#socket.address().port}`
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const closed = once(this.#socket, 'close')
    this.#socket.close()
    await closed
  }

  #answer(query: Buffer): Buffer {
    const labels: string[] = []
    let at = 12
    for (let length = query[at] ?? 0; length > 0; length = query[at] ?? 0) {
      labels.push(query.toString('latin1', at + 1, at + 1 + length))
      at += 1 + length
    }
    const name = labels.join('.').toLowerCase()
    const type = types[query.readUInt16BE(at + 1)] ?? 'other'
    this.questions.push(`${name} ${type}`)
    const found = this.#records[`${name} ${type}`] ?? []
    const exists = Object.keys(this.#records).some((key) => key.startsWith(`${name} `))
    const head = Buffer.alloc(12)
    head.writeUInt16BE(query.readUInt16BE(0), 0)
    head.writeUInt16BE(0x8180 | (exists ? 0 : 3), 2)
    head.writeUInt16BE(1, 4)
    head.writeUInt16BE(found.length, 6)
    return Buffer.concat([head, query.subarray(12, at + 5), ...found.map((text) => record(query.subarray(at + 1, at + 3), type, text))])
  }
}

/** Returns a record with the name of the question and a TTL of a minute. */
function record(typeOctets: Buffer, type: string, text: string): Buffer {
  const data = dataOf(type, text)
  const length = Buffer.alloc(2)
  length.writeUInt16BE(data.length)
  return Buffer.concat([Buffer.of(0xc0, 12), typeOctets, Buffer.of(0, 1, 0, 0, 0, 60), length, data])
}

function dataOf(type: string, text: string): Buffer {
  if (type === 'A') return Buffer.from(text.split('.').map(Number))
  if (type === 'TXT')
    return Buffer.concat((text.match(/[^]{1,255}/g) ?? []).map((part) => Buffer.concat([Buffer.of(part.length), Buffer.from(part)])))
  if (type === 'MX') {
    const [priority = '', exchange = ''] = text.split(' ')
    return Buffer.concat([Buffer.of(0, Number(priority)), nameOf(exchange)])
  }
  if (type === 'SOA') return Buffer.concat([nameOf(text), nameOf(text), Buffer.alloc(20)])
  if (type === 'TLSA') return Buffer.from(text, 'hex')
  return nameOf(text)
}

const nameOf = (name: string): Buffer =>
  Buffer.concat([...name.split('.').map((label) => Buffer.concat([Buffer.of(label.length), Buffer.from(label)])), Buffer.of(0)])
