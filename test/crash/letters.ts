/** Messages of a crash test. Marker and size determine the content, so any copy can be checked without the original. */
import { Seeded } from '../support/seeded.ts'

/** Data to recognize a message. */
export interface Mark {
  readonly marker: string
  /** Approximate size of the body in octets. */
  readonly size: number
}

const pool = makePool()

/** Creates an Internet message with 8-bit text, dots at line starts, empty lines, and an end that shows truncation. */
export function letterOf({ marker, size }: Mark, from: string, to: readonly string[]): Buffer {
  const head = [
    `From: <${from}>`,
    `To: ${to.map((address) => `<${address}>`).join(',\r\n ')}`,
    `Subject: ${marker}`,
    `Message-ID: <${marker}@${from.slice(from.indexOf('@') + 1)}>`,
    'Date: Sat, 21 Nov 2026 12:00:00 +0000',
    'MIME-Version: 1.0',
    'Content-Type: text/plain; charset=utf-8',
    'Content-Transfer-Encoding: 8bit',
  ]
  return Buffer.concat([Buffer.from(`${head.join('\r\n')}\r\n\r\n`), cut({ marker, size }), Buffer.from(`end of ${marker}\r\n`)])
}

/** Creates a body for REST with short ASCII lines, so that it needs no encoding. */
export function textOf({ marker, size }: Mark): string {
  const random = new Seeded(marker)
  const lines: string[] = []
  for (let length = 0; length < size; length += 61) lines.push(`${random.fraction().toString(36).slice(2).padEnd(12, 'x').repeat(5)}`)
  return [...lines, `end of ${marker}`].join('\n')
}

/** Returns the marker in a received message; undefined if it is not a message of this test. */
export const markerOf = (content: Buffer): string | undefined =>
  /^subject: (mk-[\w-]+)\r$/im.exec(content.toString('latin1', 0, 16_384))?.[1]

/** Returns true if a received message is a notice to the author of a test message. A notice repeats its header fields. */
export function isNotice(content: Buffer): boolean {
  const end = content.indexOf('\r\n\r\n')
  return /^content-type: multipart\/report\b/im.test(content.toString('latin1', 0, end < 0 ? content.length : end))
}

/** Returns true if `received` is `sent` unchanged after header fields that servers added at the top. */
export function isWholeLetter(received: Buffer, sent: Buffer): boolean {
  const start = received.length - sent.length
  if (start < 0 || !received.subarray(start).equals(sent)) return false
  return /^(?:[!-9;-~]+:[^\r\n]*\r\n(?:[ \t][^\r\n]*\r\n)*)*$/.test(received.toString('latin1', 0, start))
}

/** Returns true if a composed message contains the complete text of the REST request. */
export function carriesText(received: Buffer, text: string): boolean {
  const wire = received.toString('latin1')
  const body = wire.slice(wire.indexOf('\r\n\r\n') + 4)
  return body.includes(text.replaceAll('\n', '\r\n'))
}

/** Returns a part of the pool that begins and ends with whole lines. */
function cut({ marker, size }: Mark): Buffer {
  const start = pool.indexOf('\n', new Seeded(marker).between(0, 100_000)) + 1
  const end = pool.indexOf('\n', start + size) + 1
  return pool.subarray(start, end)
}

function makePool(): Buffer {
  const random = new Seeded(7)
  const lines: string[] = []
  for (let length = 0; length < 700_000;) {
    const line = random.pick(['', '.', '..', '. ', 'zürich ']) + random.fraction().toString(36).slice(2).repeat(random.between(0, 7))
    lines.push(line)
    length += line.length + 2
  }
  return Buffer.from(`${lines.join('\r\n')}\r\n`)
}
