/** Parses replies (RFC 5321 §4.2) from received bytes. All sizes are limited, because the peer may be hostile. */
import type { PeerReply } from '#core/delivery/transport.ts'

const maxLineOctets = 4096
const maxReplyOctets = 64 * 1024
const maxLines = 100

const lineFeed = 10
const carriageReturn = 13
const space = 32
const hyphen = 45
const dot = 46

/** Assembles lines to replies. Must not be used after it has reported a problem. */
export class ReplyParser {
  #partial: Buffer | undefined
  #code = 0
  #lines = 0
  #octets = 0
  #enhanced: string | undefined
  #text = ''

  /** True if there is no incomplete line or reply. */
  get empty(): boolean {
    return this.#partial === undefined && this.#lines === 0
  }

  /** Parses bytes and calls `onReply` for each complete reply. Returns the problem with the bytes, if any. */
  push(chunk: Buffer, onReply: (reply: PeerReply) => void): string | undefined {
    const data = this.#partial === undefined ? chunk : Buffer.concat([this.#partial, chunk])
    let start = 0
    for (let end = data.indexOf(lineFeed); end >= 0; end = data.indexOf(lineFeed, start)) {
      const problem = this.#line(data, start, end, onReply)
      if (problem !== undefined) return problem
      start = end + 1
    }
    this.#partial = start < data.length ? data.subarray(start) : undefined
    return data.length - start > maxLineOctets ? 'A reply line is too long.' : undefined
  }

  #line(data: Buffer, start: number, feed: number, onReply: (reply: PeerReply) => void): string | undefined {
    const end = feed > start && data[feed - 1] === carriageReturn ? feed - 1 : feed
    const code = readCode(data, start, end)
    const separator = end - start === 3 ? space : data[start + 3]
    if (code === 0 || (separator !== space && separator !== hyphen)) return 'A line does not start with a reply code.'
    if (this.#lines > 0 && code !== this.#code) return 'The lines of a reply have different codes.'
    this.#octets += end - start
    if (end - start > maxLineOctets || this.#octets > maxReplyOctets || this.#lines >= maxLines) return 'A reply is too long.'
    this.#code = code
    this.#addText(data, start + 4, end)
    this.#lines += 1
    if (separator === space) this.#complete(onReply)
    return undefined
  }

  #addText(data: Buffer, start: number, end: number): void {
    let text = start < end ? data.toString('utf8', start, end) : ''
    if (this.#lines === 0) this.#enhanced = readEnhanced(text, this.#code)
    if (this.#enhanced !== undefined) text = withoutPrefix(text, this.#enhanced)
    this.#text = this.#lines === 0 ? text : `${this.#text}\n${text}`
  }

  #complete(onReply: (reply: PeerReply) => void): void {
    const reply = { code: this.#code, enhanced: this.#enhanced, text: this.#text }
    this.#lines = 0
    this.#octets = 0
    this.#text = ''
    this.#enhanced = undefined
    onReply(reply)
  }
}

/** Returns the reply code, or 0 if there is no valid one. RFC 5321 §4.2.1 allows first digits from 2 to 5. */
function readCode(data: Buffer, start: number, end: number): number {
  if (end - start < 3) return 0
  const first = (data[start] ?? 0) - 48
  const second = (data[start + 1] ?? 0) - 48
  const third = (data[start + 2] ?? 0) - 48
  if (first < 2 || first > 5 || second < 0 || second > 9 || third < 0 || third > 9) return 0
  return first * 100 + second * 10 + third
}

/** Removes the enhanced code, which servers repeat on each line of a reply. */
function withoutPrefix(text: string, enhanced: string): string {
  if (text === enhanced) return ''
  return text.startsWith(enhanced) && text.charCodeAt(enhanced.length) === space ? text.slice(enhanced.length + 1) : text
}

const enhancedStart = /^[245]\.\d{1,3}\.\d{1,3}(?= |$)/

/** Returns the enhanced code (RFC 3463 §2) at the start of a text, if its class is that of the reply (RFC 2034 §4). */
function readEnhanced(text: string, code: number): string | undefined {
  if (text.charCodeAt(1) !== dot) return undefined
  const found = enhancedStart.exec(text)?.[0]
  return found !== undefined && found.charCodeAt(0) - 48 === Math.trunc(code / 100) ? found : undefined
}
