/** Compares the clock with a time server, with one request (SNTP, RFC 4330 §5). */
import { randomBytes } from 'node:crypto'
import { createSocket } from 'node:dgram'

export interface TimeQuestion {
  /** An IP address. */
  readonly address: string
  readonly port: number
  readonly timeoutMs: number
}

const packetBytes = 48
/** First octet of a request: no leap warning, version 4, client mode (RFC 4330 §4). */
const asks = 0x23
const server = 4
const unsynchronized = 3
const maxStratum = 15
/** Offsets of the timestamps in a packet. */
const place = { originate: 24, receive: 32, transmit: 40 } as const
/** Seconds from 1900, the epoch of the protocol, to 1970. */
const before1970 = 2_208_988_800
const era = 2 ** 32

/**
 * Returns the milliseconds that the clock of this machine is behind the server's; negative if it is ahead. Returns undefined without a
 * valid answer in time, or if the server is not synchronized.
 */
export async function clockLag({ address, port, timeoutMs }: TimeQuestion): Promise<number | undefined> {
  const { promise, resolve } = Promise.withResolvers<number | undefined>()
  const socket = createSocket(address.includes(':') ? 'udp6' : 'udp4')
  // random value in place of our time: it identifies the answer of this server, and does not reveal our clock
  const cookie = randomBytes(8)
  const question = Buffer.alloc(packetBytes)
  question[0] = asks
  cookie.copy(question, place.transmit)
  const timer = setTimeout(() => resolve(undefined), timeoutMs)
  let sentAt = Date.now()
  let begun = performance.now()
  socket.on('error', () => resolve(undefined))
  socket.on('message', (answer) => {
    if (!answers(answer, cookie)) return
    const inFlight = performance.now() - begun
    const theirs = timeIn(answer, place.receive) + timeIn(answer, place.transmit)
    resolve((theirs - sentAt - (sentAt + inFlight)) / 2)
  })
  socket.connect(port, address, () => {
    sentAt = Date.now()
    begun = performance.now()
    socket.send(question)
  })
  return promise.finally(() => {
    clearTimeout(timer)
    socket.close()
  })
}

function answers(packet: Buffer, cookie: Buffer): boolean {
  if (packet.length < packetBytes || !packet.subarray(place.originate, place.receive).equals(cookie)) return false
  const [first = 0, stratum = 0] = packet
  return (first & 7) === server && first >> 6 !== unsynchronized && stratum > 0 && stratum <= maxStratum
}

/** Returns milliseconds since 1970. The seconds wrap in 2036; values in the lower half belong to the next era (RFC 4330 §3). */
function timeIn(packet: Buffer, offset: number): number {
  const seconds = packet.readUInt32BE(offset)
  const whole = seconds < era / 2 ? seconds + era : seconds
  return (whole - before1970 + packet.readUInt32BE(offset + 4) / era) * 1000
}
