/** Digest of a request, to detect that a known idempotency key is reused for a different request. */
import { createHash } from 'node:crypto'
import { runInSteps, type Steps } from '../../event-loop.ts'
import type { UncheckedAttachment } from '../compose/attachments.ts'

interface Fields {
  readonly idempotencyKey: string | undefined
  readonly attachments: readonly UncheckedAttachment[]
  readonly text?: string | undefined
  readonly html?: string | undefined
}

interface Whole {
  readonly idempotencyKey: string | undefined
  readonly mime: Buffer | { readonly base64: string }
}

/** Characters or octets per step; a step takes about a millisecond. */
const stepUnits = 524_288

/** Resolves with the hexadecimal SHA-256 of all fields of an order except its idempotency key. */
export const requestDigest = (order: Fields | Whole): Promise<string> => runInSteps(digesting(order))

function* digesting(order: Fields | Whole): Steps<string> {
  const parts = 'mime' in order ? partsOfWhole(order) : partsOf(order)
  const digest = createHash('sha256')
  for (const part of parts) {
    for (let at = 0; at < part.length;) {
      const piece = typeof part === 'string' ? textFrom(part, at) : part.subarray(at, at + stepUnits)
      digest.update(piece)
      at += piece.length
      if (at < part.length) yield
    }
  }
  return digest.digest('hex')
}

function partsOfWhole({ idempotencyKey: _, mime, ...asked }: Whole): readonly (string | Uint8Array)[] {
  return [JSON.stringify(asked), 'base64' in mime ? mime.base64 : mime]
}

/** Hashes the lengths first, so that the boundary between parts is unambiguous. */
function partsOf({ idempotencyKey: _, attachments, text, html, ...rest }: Fields): readonly (string | Uint8Array)[] {
  const digits = attachments.map(({ content }) => ('unchecked' in content ? content.unchecked : content.digits))
  const files = attachments.map(({ content: _content, ...facts }, i) => ({ ...facts, length: digits[i]?.length }))
  return [JSON.stringify([rest, files, text?.length ?? null, html?.length ?? null]), text ?? '', html ?? '', ...digits]
}

/** Returns the next piece, which never ends inside a surrogate pair. UTF-8 encodes a pair as one character. */
function textFrom(text: string, at: number): string {
  const end = at + stepUnits
  const code = text.charCodeAt(end - 1)
  return text.slice(at, code >= 0xd800 && code < 0xdc00 && end < text.length ? end - 1 : end)
}
