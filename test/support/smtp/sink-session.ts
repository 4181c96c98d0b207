/** One connection to the sink: the receiving side of RFC 5321 with PIPELINING, STARTTLS and AUTH, as a relay needs it. */
import type { Socket } from 'node:net'
import { TLSSocket } from 'node:tls'
import { goodCertificate } from '../../protocols/relay/certificates.ts'
import type { SinkAnswer, SinkHost, SinkSide, SinkStep } from './sink-script.ts'

const usualOffers = ['PIPELINING', 'SIZE 52428800', '8BITMIME', 'SMTPUTF8', 'ENHANCEDSTATUSCODES']
const endOfData = Buffer.from('\r\n.\r\n')

export class SinkSession implements SinkSide {
  readonly number: number
  socket: Socket
  open = true
  secured: boolean
  /** Received commands and content. */
  readonly pieces: string[] = []
  readonly #sink: SinkHost
  #pending: Buffer[] = []
  #held: (() => void) | undefined
  #mode: 'command' | 'content' | 'secret' = 'command'
  #secrets: string[] = []
  /** Undefined outside a transaction. */
  #from: string | undefined
  #to: string[] = []
  #bodyNoted = false

  constructor(sink: SinkHost, socket: Socket, number: number) {
    this.#sink = sink
    this.socket = socket
    this.number = number
    this.secured = socket instanceof TLSSocket
    this.#listen(socket)
    sink.note()
    this.#answer('greeting', '', '220 sink.test ESMTP')
  }

  release(): void {
    const held = this.#held
    this.#held = undefined
    held?.()
    this.#work()
  }

  #listen(socket: Socket): void {
    socket.setNoDelay(true)
    socket.on('error', () => undefined)
    socket.on('data', (chunk: Buffer) => {
      this.pieces.push(chunk.toString('latin1'))
      this.#pending.push(chunk)
      this.#work()
    })
    socket.on('close', () => {
      this.open = false
      this.#sink.note()
    })
  }

  #work(): void {
    while (this.open && this.#held === undefined && this.#pending.length > 0) {
      if (!(this.#mode === 'content' ? this.#takeContent() : this.#takeLine())) return
    }
  }

  #takeLine(): boolean {
    const line = this.#take((all) => all.indexOf('\n') + 1)
      ?.toString()
      .replace(/\r?\n$/, '')
    if (line === undefined) return false
    if (this.#mode === 'secret') this.#onSecret(line)
    else this.#onCommand(line)
    return true
  }

  #onCommand(line: string): void {
    this.#sink.lines.push(line)
    const verb = line.split(' ')[0]?.toUpperCase()
    if (verb === 'EHLO') return this.#answer('ehlo', line, this.#ehlo())
    if (verb === 'HELO') return this.#answer('helo', line, '250 sink.test')
    if (verb === 'STARTTLS') return this.#answer('starttls', line, '220 2.0.0 Go on')
    if (verb === 'AUTH') return this.#onAuth(line)
    if (verb === 'RSET') return this.#answer('reset', line, '250 2.0.0 Flushed')
    if (verb === 'MAIL') return this.#answer('mail', line, '250 2.1.0 Sender ok')
    if (verb === 'RCPT') return this.#answer('rcpt', line, this.#from === undefined ? '503 5.5.1 MAIL first' : '250 2.1.5 Recipient ok')
    if (verb === 'DATA') return this.#answer('data', line, this.#to.length === 0 ? '554 5.5.1 No valid recipients' : '354 Go on')
    if (verb === 'NOOP') return this.#answer('noop', line, '250 2.0.0 Ok')
    if (verb === 'QUIT') return this.#answer('quit', line, { act: 'last-words', text: '221 2.0.0 Bye' })
    this.#send('500 5.5.2 Not known')
  }

  #ehlo(): string {
    const { offers = usualOffers, security, users } = this.#sink.options
    const all = ['sink.test', ...offers]
    if (security === 'starttls' && !this.secured) all.push('STARTTLS')
    if (users && !all.some((offer) => offer.startsWith('AUTH'))) all.push('AUTH PLAIN LOGIN')
    return all.map((offer, at) => `250${at === all.length - 1 ? ' ' : '-'}${offer}`).join('\r\n')
  }

  #onAuth(line: string): void {
    const [, mechanism, initial] = line.split(' ')
    this.#secrets = [mechanism ?? '']
    if (initial !== undefined) return this.#onSecret(initial)
    this.#mode = 'secret'
    this.#answer('auth', line, mechanism === 'LOGIN' ? '334 VXNlcm5hbWU6' : '334 ')
  }

  #onSecret(line: string): void {
    this.#secrets.push(Buffer.from(line, 'base64').toString())
    if (this.#secrets[0] === 'LOGIN' && this.#secrets.length === 2) return this.#answer('auth', line, '334 UGFzc3dvcmQ6')
    if (this.#secrets[0] === 'XOAUTH2') return this.#onToken(line)
    this.#mode = 'command'
    const [, user = '', password = ''] = this.#secrets[0] === 'LOGIN' ? this.#secrets : (this.#secrets[1] ?? '').split('\0')
    const good = this.#sink.options.users?.[user] === password
    this.#answer('auth', line, good ? '235 2.7.0 Welcome' : `535 5.7.8 Wrong: ${line} ${password}`)
  }

  /** The challenge contains the error; the refusal follows after the empty response. */
  #onToken(line: string): void {
    const [, response = '', after] = this.#secrets
    const token = /^user=me\x01auth=Bearer ([^\x01]+)\x01\x01$/.exec(response)?.[1] ?? ''
    const good = this.#sink.options.tokens?.has(token) === true
    this.#mode = good || after === '' ? 'command' : 'secret'
    if (good) return this.#answer('auth', line, '235 2.7.0 Welcome')
    if (after !== undefined) return this.#answer('auth', line, after === '' ? `535 5.7.8 Wrong: ${token}` : '501 5.5.2 Answer with nothing')
    this.#answer('auth', line, `334 ${Buffer.from('{"status":"401","schemes":"bearer"}').toString('base64')}`)
  }

  #takeContent(): boolean {
    if (!this.#bodyNoted) {
      this.#bodyNoted = true
      const { script } = this.#sink
      const early = typeof script === 'function' ? script('body', '', this) : undefined
      this.#sink.note('body')
      if (early !== undefined) {
        this.#perform('body', '', early)
        return true
      }
    }
    if (!this.#sink.options.lenient && !this.#endsData()) return false
    const ending = this.#sink.options.lenient ? /(?:^|[\r\n])\.(?:\r\n|\r|\n)/ : /(?:^|\r\n)\.\r\n/
    const content = this.#take((all) => {
      const end = ending.exec(all.toString('latin1'))
      return end === null ? 0 : end.index + end[0].length
    })
    if (!content) return false
    const text = content.toString('latin1')
    this.#mode = 'command'
    this.#answer('dot', text.slice(0, text.lastIndexOf('.')).replaceAll(/(^|\r\n)\./g, '$1'), '250 2.0.0 Queued')
    return true
  }

  /** Removes the part that `endOf` finds from the start; undefined while it is incomplete. */
  #take(endOf: (all: Buffer) => number): Buffer | undefined {
    const all = this.#pending.length === 1 ? (this.#pending[0] as Buffer) : Buffer.concat(this.#pending)
    const end = endOf(all)
    this.#pending = end < all.length ? [all.subarray(end)] : []
    return end > 0 ? all.subarray(0, end) : undefined
  }

  /** Checks only the newest bytes, so that a long content is not joined for every chunk. */
  #endsData(): boolean {
    const last = this.#pending.at(-1) as Buffer
    if (last.includes(endOfData) || (this.#pending.length === 1 && last.subarray(0, 3).equals(endOfData.subarray(2)))) return true
    return this.#pending.length > 1 && Buffer.concat(this.#pending.slice(-8)).includes(endOfData)
  }

  /** Returns the action of the script. */
  #decide(step: SinkStep, line: string): SinkAnswer | undefined | Promise<SinkAnswer | undefined> {
    const { script } = this.#sink
    if (typeof script === 'function') return script(step, line, this)
    if (step === 'mail') return script.sender?.(path(line))
    if (step === 'rcpt') return this.#from === undefined ? undefined : script.recipient?.(path(line))
    return step === 'dot' ? script.message?.(this.#from ?? '', this.#to, Buffer.from(line, 'latin1')) : undefined
  }

  #answer(step: SinkStep, line: string, standard: SinkAnswer): void {
    const decided = this.#decide(step, line)
    if (!(decided instanceof Promise)) return this.#say(step, line, standard, decided)
    this.#held = () => undefined
    void decided.then((later) => {
      this.#held = undefined
      this.#say(step, line, standard, later)
      this.#work()
    })
  }

  #say(step: SinkStep, line: string, standard: SinkAnswer, scripted: SinkAnswer | undefined): void {
    const answer = scripted ?? standard
    if (!this.open) return
    if (typeof answer === 'object' && answer.act === 'hold') this.#held = () => this.#perform(step, line, standard)
    else this.#perform(step, line, answer)
    this.#sink.note(step)
  }

  #perform(step: SinkStep, line: string, answer: SinkAnswer): void {
    if (typeof answer === 'string') {
      this.#follow(step, line, answer)
      return
    }
    if (answer.act === 'reset') this.socket.resetAndDestroy()
    else if (answer.act === 'last-words') this.socket.end(`${answer.text}\r\n`)
    else if (answer.act === 'endless') this.#babble()
    else if (answer.act === 'only-words') this.#fallSilent(answer.text)
    else this.socket.destroySoon() // sends pending data first
    if (answer.act !== 'endless' && answer.act !== 'only-words') this.open = false
  }

  /** Sends a reply and applies its effects. */
  #follow(step: SinkStep, line: string, text: string): void {
    const good = text.startsWith('2')
    if (step === 'mail') this.#clear()
    if (step === 'mail' && good) [this.#from, this.#to] = [path(line), []]
    if (step === 'rcpt' && good) this.#to.push(path(line))
    if (step === 'reset' || step === 'ehlo') this.#clear()
    if (step === 'data' && text.startsWith('354')) [this.#mode, this.#bodyNoted] = ['content', false]
    if (step === 'dot') return this.#end(line, text, good)
    this.#send(text)
    if (step === 'starttls' && good) this.#secure()
  }

  #end(content: string, reply: string, good: boolean): void {
    const { secured, number } = this
    const [from = '', to] = [this.#from, this.#to]
    this.#clear()
    this.#send(reply)
    const bytes = Buffer.from(content, 'latin1')
    if (good) this.#sink.keep({ from, to, content: bytes, text: content, secured, connection: number, answeredAt: performance.now() })
  }

  #clear(): void {
    this.#from = undefined
    this.#to = []
  }

  #send(text: string): void {
    const bytes = Buffer.from(`${text}\r\n`)
    if (!this.#sink.options.split) return void this.socket.write(bytes)
    for (const byte of bytes) this.socket.write(Buffer.of(byte))
  }

  #fallSilent(text: string): void {
    this.#send(text)
    this.#held = () => undefined
  }

  #babble(): void {
    const more = (error?: Error | null): void => {
      if (!error && this.open) this.socket.write('250-and so on\r\n'.repeat(20), more)
    }
    more()
  }

  #secure(): void {
    this.socket.removeAllListeners('data')
    this.socket = new TLSSocket(this.socket, { isServer: true, ...(this.#sink.options.certificate ?? goodCertificate) })
    this.secured = true
    this.#listen(this.socket)
  }
}

/** The address without its brackets. */
const path = (line: string): string => /<(.*)>/.exec(line)?.[1] ?? ''
