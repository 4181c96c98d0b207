/**
 * DKIM signatures (RFC 6376, RFC 8463), relaxed/relaxed. Reads the message once without holding it in memory. The signing operation runs
 * outside the main thread.
 */
import { hash, sign, type KeyObject } from 'node:crypto'
import { promisify } from 'node:util'
import { relaxedField, RelaxedBodyHash } from './relaxed.ts'
import type { KeyAlgorithm } from './sending-domain.ts'

/** A private key with the name of its public key record. */
export interface SigningKey {
  readonly domain: string
  readonly selector: string
  readonly algorithm: KeyAlgorithm
  readonly privateKey: KeyObject
}

/** Header fields and body hash of a message, the input of signatures. */
export interface MessageDigest {
  /** In order, with folds, without the last line break; octets as Latin-1. */
  readonly fields: readonly string[]
  readonly bodyHash: string
}

/** Fields that are signed for every occurrence (RFC 6376 §5.4.1). */
const signedFields = [
  ...[
    'From',
    'Sender',
    'Reply-To',
    'Subject',
    'Date',
    'Message-ID',
    'To',
    'Cc',
    'MIME-Version',
    'Content-Type',
    'Content-Transfer-Encoding',
  ],
  ...[
    'Content-ID',
    'Content-Description',
    'In-Reply-To',
    'References',
    'List-Id',
    'List-Unsubscribe',
    'List-Unsubscribe-Post',
    'Auto-Submitted',
  ],
]
/** Fields that are listed once more than they occur, so that no further field can be added (RFC 6376 §8.15). */
const closedFields = new Set(['From', 'Subject', 'Date', 'To'])

/** Messages with a larger header block are not signed. */
export const maxHeaderOctets = 256 * 1024

const signAsync = promisify(sign)

/** Reads the message once. Returns undefined if its header block is too large or has no From. */
export async function digestMessage(content: AsyncIterable<Uint8Array> | Iterable<Uint8Array>): Promise<MessageDigest | undefined> {
  const body = new RelaxedBodyHash()
  let head: Buffer = Buffer.alloc(0)
  let inBody = false
  for await (const chunk of content) {
    if (inBody) {
      body.update(chunk)
      continue
    }
    const from = Math.max(head.length - 3, 0)
    head = head.length === 0 ? Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength) : Buffer.concat([head, chunk])
    const end = head.indexOf('\r\n\r\n', from)
    if ((end < 0 ? head.length : end) > maxHeaderOctets) return undefined
    if (end < 0) continue
    inBody = true
    body.update(head.subarray(end + 4))
    head = head.subarray(0, end + 2)
  }
  const fields = fieldsOf(head.toString('latin1'))
  return fields.some((field) => nameOf(field) === 'from') ? { fields, bodyHash: body.digest() } : undefined
}

/** Returns the DKIM-Signature field with its line break, to be prepended to the message. */
export async function dkimSignature({ fields, bodyHash }: MessageDigest, key: SigningKey, nowMs: number): Promise<string> {
  const { names, canonical } = selectFields(fields)
  const unsigned =
    `DKIM-Signature: v=1; a=${key.algorithm}-sha256; c=relaxed/relaxed; d=${key.domain};\r\n` +
    `\ts=${key.selector}; t=${Math.floor(nowMs / 1000)};\r\n\th=${foldList(names)};\r\n\tbh=${bodyHash};\r\n\tb=`
  const input = Buffer.from(`${canonical.map((field) => `${field}\r\n`).join('')}${relaxedField(unsigned)}`, 'latin1')
  const signature =
    key.algorithm === 'rsa'
      ? await signAsync('sha256', input, key.privateKey)
      : await signAsync(null, hash('sha256', input, 'buffer'), key.privateKey) // RFC 8463 §3 signs the hash
  return `${unsigned}${signature.toString('base64').replaceAll(/(.{72})(?=.)/g, '$1\r\n\t')}\r\n`
}

/** Verifiers select repeated fields from the bottom up (RFC 6376 §5.4.2); a surplus name matches no field. */
function selectFields(fields: readonly string[]): { readonly names: readonly string[]; readonly canonical: readonly string[] } {
  const names: string[] = []
  const canonical: string[] = []
  for (const name of signedFields) {
    const present = fields.filter((field) => nameOf(field) === name.toLowerCase()).toReversed()
    canonical.push(...present.map(relaxedField))
    names.push(...present.map(() => name), ...(closedFields.has(name) ? [name] : []))
  }
  return { names, canonical }
}

const nameOf = (field: string): string =>
  field
    .slice(0, Math.max(field.indexOf(':'), 0))
    .trimEnd()
    .toLowerCase()

/** Splits a header block into fields with their continuation lines. */
const fieldsOf = (block: string): string[] => block.split(/\r\n(?![ \t])/).filter((field) => field !== '')

/** Joins names with colons, in lines of about 76 characters. */
function foldList(names: readonly string[]): string {
  let lines = ''
  let line = ''
  for (const name of names) {
    if (line.length + name.length > 70) {
      lines += `${line}:\r\n\t`
      line = name
    } else line += `${line === '' ? '' : ':'}${name}`
  }
  return lines + line
}
