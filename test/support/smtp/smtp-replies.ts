/** Reading SMTP replies from a byte stream (RFC 5321 §4.2), including replies that arrive in pieces. */

/** One reply: its code and its text lines, without the codes. */
export interface Reply {
  readonly code: number
  readonly lines: readonly string[]
}

/** The reply on one line, as in logs and traces. */
export const replyText = (reply: Reply): string => `${String(reply.code)} ${reply.lines.join(' ')}`

/** Returns the trace id in an acknowledgement, if there is one. */
export const traceIdOf = (reply: Reply): string | undefined =>
  /[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}/.exec(replyText(reply))?.[0]

/** Collects chunks and returns each complete reply. */
export class ReplyReader {
  #rest = ''
  #lines: string[] = []

  push(chunk: Buffer): readonly Reply[] {
    const complete: Reply[] = []
    this.#rest += chunk.toString('latin1')
    for (let end = this.#rest.indexOf('\r\n'); end >= 0; end = this.#rest.indexOf('\r\n')) {
      const line = this.#rest.slice(0, end)
      this.#rest = this.#rest.slice(end + 2)
      const parsed = /^(\d{3})([ -]?)(.*)$/s.exec(line)
      if (!parsed) throw new Error(`not an SMTP reply: ${JSON.stringify(line)}`)
      this.#lines.push(parsed[3] ?? '')
      if (parsed[2] === '-') continue
      complete.push({ code: Number(parsed[1]), lines: this.#lines })
      this.#lines = []
    }
    return complete
  }
}
