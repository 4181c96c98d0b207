/** What time it is elsewhere: one question to a time server (SNTP, RFC 4330 §5), one answer. */
import { randomBytes } from 'node:crypto'
import { createSocket } from 'node:dgram'

export interface TimeQuestion {
  /** An IP address. */
  readonly address: string
  readonly port: number
  readonly timeoutMs: number
}

const packetBytes = 48
/** No leap is announced, version 4, client (RFC 4330 §4). */
const asks = 0x23
const server = 4
const unsynchronized = 3
const maxStratum = 15
/** Where the four times of a packet stand. */
const place = { originate: 24, receive: 32, transmit: 40 } as const
/** From 1900, where the protocol counts from, to 1970, in seconds. */
const before1970 = 2_208_988_800
const era = 2 ** 32

/**
 * By how many milliseconds the clock of this machine is behind that of the server; below zero when it is ahead. Undefined when no answer
 * came in time, or only one of a server that does not know the time itself.
 */
export async function clockLag({ address, port, timeoutMs }: TimeQuestion): Promise<number | undefined> {
  const { promise, resolve } = Promise.withResolvers<number | undefined>()
  const socket = createSocket(address.includes(':') ? 'udp6' : 'udp4')
  // what only the server that was asked can send back, in place of our time, which is not its business
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

/** In milliseconds since 1970. Seconds begin anew in 2036: the lower half of them is meant as later (RFC 4330 §3). */
function timeIn(packet: Buffer, offset: number): number {
  const seconds = packet.readUInt32BE(offset)
  const whole = seconds < era / 2 ? seconds + era : seconds
  return (whole - before1970 + packet.readUInt32BE(offset + 4) / era) * 1000
}
