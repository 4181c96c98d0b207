/** One connection to the sink: the receiving side of RFC 5321 with PIPELINING, as far as a relay needs it. */
import type { Socket } from 'node:net'
import type { Delivery, SinkScript } from './sink-script.ts'

interface Host {
  readonly script: () => SinkScript
  readonly delivered: (delivery: Delivery) => void
}

const endOfData = Buffer.from('\r\n.\r\n')
const usualExtensions = ['PIPELINING', '8BITMIME', 'SMTPUTF8', 'ENHANCEDSTATUSCODES', 'SIZE 52428800']

/** Reads commands and content from the socket, in order, one at a time. */
export class SinkSession {
  #socket: Socket
  #host: Host
  #pending: Buffer[] = []
  #pendingLength = 0
  #inData = false
  #busy = false
  /** Undefined outside a transaction. */
  #from: string | undefined
  #to: string[] = []

  constructor(socket: Socket, host: Host) {
    this.#socket = socket
    this.#host = host
    this.#say('220 sink.test ESMTP')
    socket.on('data', (chunk: Buffer) => {
      this.#pending.push(chunk)
      this.#pendingLength += chunk.length
      void this.#work()
    })
  }

  /** Takes whole commands and whole messages off the front until something is missing. */
  async #work(): Promise<void> {
    if (this.#busy) return
    this.#busy = true
    for (let taken = this.#take(); taken; taken = this.#take()) {
      if (this.#inData) await this.#content(taken)
      else this.#command(taken.toString('utf8').trimEnd())
    }
    this.#busy = false
  }

  /** The next line or, in DATA, the next content with its ending; undefined while it is incomplete. */
  #take(): Buffer | undefined {
    if (this.#pendingLength === 0 || (this.#inData && !this.#endsData())) return undefined
    const all = this.#pending.length === 1 ? (this.#pending[0] as Buffer) : Buffer.concat(this.#pending)
    const end = this.#inData ? contentEnd(all) : all.indexOf('\n') + 1
    this.#pending = [all.subarray(end)]
    this.#pendingLength = all.length - end
    return end > 0 ? all.subarray(0, end) : undefined
  }

  /** A cheap look at the newest bytes, so that a long content is not joined for every chunk of it. */
  #endsData(): boolean {
    const [last, before] = [this.#pending.at(-1) as Buffer, this.#pending.at(-2)]
    if (last.includes(endOfData) || (this.#pending.length === 1 && last.subarray(0, 3).equals(endOfData.subarray(2)))) return true
    return before !== undefined && Buffer.concat(this.#pending.slice(-8)).includes(endOfData)
  }

  #command(line: string): void {
    const verb = line.slice(0, 4).toUpperCase()
    const script = this.#host.script()
    if (verb === 'EHLO') this.#say(hello(script.extensions ?? usualExtensions))
    else if (verb === 'MAIL') this.#mail(line, script)
    else if (verb === 'RCPT') this.#recipient(line, script)
    else if (verb === 'DATA') this.#data()
    else if (verb === 'QUIT') this.#socket.end('221 2.0.0 bye\r\n')
    else if (verb === 'RSET') this.#reset('250 2.0.0 reset')
    else this.#say(verb === 'NOOP' || verb === 'HELO' ? '250 2.0.0 ok' : '502 5.5.1 unknown')
  }

  #mail(line: string, script: SinkScript): void {
    const address = path(line)
    const refusal = script.sender?.(address)
    this.#from = refusal === undefined ? address : undefined
    this.#to = []
    this.#say(refusal ?? '250 2.1.0 ok')
  }

  #recipient(line: string, script: SinkScript): void {
    const address = path(line)
    const refusal = this.#from === undefined ? '503 5.5.1 need MAIL before RCPT' : script.recipient?.(address)
    if (refusal === undefined) this.#to.push(address)
    this.#say(refusal ?? '250 2.1.5 ok')
  }

  #data(): void {
    if (this.#to.length === 0) {
      this.#say('554 5.5.1 no valid recipients')
      return
    }
    this.#inData = true
    this.#say('354 go on')
  }

  async #content(wire: Buffer): Promise<void> {
    const content = unstuffed(wire.subarray(0, -3))
    const [from = '', to] = [this.#from, this.#to]
    const verdict = (await this.#host.script().message?.(from, to, content)) ?? { reply: '250 2.0.0 kept' }
    this.#inData = false
    if (this.#socket.destroyed) return
    if (verdict === 'drop') {
      this.#socket.destroy()
      return
    }
    this.#reset(verdict.reply)
    if (verdict.reply.startsWith('250')) this.#host.delivered({ from, to, content, answeredAt: performance.now() })
  }

  #reset(reply: string): void {
    this.#from = undefined
    this.#to = []
    this.#say(reply)
  }

  #say(reply: string): void {
    if (!this.#socket.destroyed) this.#socket.write(`${reply}\r\n`)
  }
}

const hello = (extensions: readonly string[]): string =>
  ['sink.test', ...extensions].map((line, i) => `250${i === extensions.length ? ' ' : '-'}${line}`).join('\r\n')

const path = (line: string): string => /<([^>]*)>/.exec(line)?.[1] ?? ''

/** Where the content ends, its ending included; 0 when it does not end yet. An empty content is the dot alone. */
function contentEnd(all: Buffer): number {
  if (all.subarray(0, 3).equals(endOfData.subarray(2))) return 3
  const at = all.indexOf(endOfData)
  return at < 0 ? 0 : at + endOfData.length
}

/** Removes the doubled dots at line starts (RFC 5321 §4.5.2). */
function unstuffed(content: Buffer): Buffer {
  const text = content.toString('latin1').replaceAll('\r\n..', '\r\n.')
  return Buffer.from(text.startsWith('..') ? text.slice(1) : text, 'latin1')
}
