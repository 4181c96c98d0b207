/**
 * Dialogs as data. A `.smtp` file holds one connection, line by line:
 *
 *     # a comment
 *     @ limit maxRecipients 2       settings of the server, before other lines: limit, cleartext, inside-tls,
 *     @ door submit storage_full    answers of the core (submit, sender, open, login, outcome, maxMessageBytes)
 *     -> EHLO client.test           a line of the client
 *     -* A\r\n.\r\n                 octets of the client, with \r \n \0 \xHH \\, sent separately from earlier octets
 *     -x 100 NOOP\r\n               the same, many times at once
 *     <- 250 2.1.0                  the next whole reply begins with this, or matches /this/ over all its lines
 *     <! /AUTH/                     the same reply does not match this
 *     == session                    greeting to AUTH in one step; also starttls, tls (the handshake alone), auth, closed
 *     == taken 1                    at the end: number of accepted messages; others left no trace
 *     == content A\r\n              the last message, octet for octet; also mail-from, rcpt-to, eight-bit, protocol
 */
import type { ExecutionContext } from 'ava'
import { Refusal, type RefusalCode } from '#core/refusals.ts'
import type { SubmissionLimits, SubmissionOptions } from '../../../protocols/submission/submission-settings.ts'
import { plainToken, type DoorDouble } from '../submission/door-double.ts'
import type { LineClient } from '../submission/line-client.ts'
import { startFixture, type Fixture } from '../submission/submission-fixture.ts'

export interface Line {
  readonly number: number
  readonly mark: string
  readonly text: string
}

/** Returns the marked lines of a file, in order. */
export function parseDialog(text: string): Line[] {
  return text.split('\n').flatMap((line, index) => {
    if (line.trim() === '' || line.startsWith('#')) return []
    const [, mark, rest] = /^(->|-\*|-x|<-|<!|==|@)(?: (.*))?$/.exec(line) ?? []
    if (mark === undefined) throw new Error(`line ${index + 1} has no mark: ${line}`)
    return [{ number: index + 1, mark, text: rest ?? '' }]
  })
}

/** Plays a dialog against a separate server. */
export async function playDialog(t: ExecutionContext, text: string): Promise<void> {
  const lines = parseDialog(text)
  if (!lines.some((line) => line.mark === '==' && line.text.startsWith('taken '))) throw new Error('a dialog ends with "== taken"')
  const settings = lines.filter(({ mark }) => mark === '@').map((line) => line.text.split(' '))
  const fixture = await startFixture(t, limitsOf(settings), optionsOf(settings))
  for (const [what, name = '', value = ''] of settings) if (what === 'door') setDoor(fixture.door, name, value)
  const client = await fixture.connect(settings.some(([what]) => what === 'inside-tls'))
  await playLines(t, lines, client, (what, value, at) => checkDoor(t, fixture, what, value, at))
}

/** Checks the outcome of a dialog: a `==` step without client input. */
export type Check = (what: string, value: string, at: string) => void | Promise<void>

/** Plays the lines of a dialog on a connection. */
export async function playLines(t: ExecutionContext, lines: readonly Line[], client: LineClient, check: Check): Promise<void> {
  const player = new Player(t, client, check)
  for (const line of lines) await player.play(line)
}

class Player {
  readonly #t: ExecutionContext
  readonly #client: LineClient
  readonly #check: Check
  #last = ''

  constructor(t: ExecutionContext, client: LineClient, check: Check) {
    this.#t = t
    this.#client = client
    this.#check = check
  }

  async play({ mark, text, number }: Line): Promise<void> {
    const at = `line ${number}`
    if (mark === '->') this.#client.send(text)
    else if (mark === '-*') await this.#client.sendApart(unescape(text))
    else if (mark === '-x') this.#repeat(text)
    else if (mark === '<-') await this.#expect(text, at)
    else if (mark === '<!') this.#t.notRegex(this.#last, pattern(text), at)
    else if (mark === '==') await this.#step(text, at)
  }

  #repeat(text: string): void {
    const [count = '', octets = ''] = text.split(/ (.*)/)
    this.#client.send(Buffer.concat(Array.from({ length: Number(count) }, () => unescape(octets))))
  }

  async #expect(text: string, at: string): Promise<void> {
    this.#last = await this.#client.reply()
    if (text.startsWith('/')) this.#t.regex(this.#last, pattern(text), at)
    else this.#t.true(this.#last.startsWith(text), `${at}: wanted ${text}, got ${this.#last}`)
    for (const line of this.#last.split('\n')) this.#t.true(onlyOneCode(line), `${at}: ${line}`)
  }

  async #step(text: string, at: string): Promise<void> {
    const [step = '', rest = ''] = text.split(/ (.*)/)
    if (step === 'session') this.#t.regex(await this.#client.logIn(), /^235 2\.7\.0 /, at)
    else if (step === 'starttls') this.#t.regex(await this.#client.startTls(), /^220 /, at)
    else if (step === 'tls') await this.#client.upgrade()
    else if (step === 'auth') this.#t.regex(await this.#client.command(`AUTH PLAIN ${plainToken}`), /^235 2\.7\.0 /, at)
    else if (step === 'closed') this.#t.is(await this.#client.closed(), '', at)
    else await this.#check(step, rest, at)
  }
}

function checkDoor(t: ExecutionContext, { door }: Fixture, what: string, value: string, at: string): void {
  const { taken, drafts } = door
  const last = taken.at(-1)
  const found: Record<string, unknown> = {
    'mail-from': last?.mailFrom,
    'rcpt-to': last?.rcptTo.join(' '),
    'eight-bit': String(last?.eightBit),
    protocol: last?.protocol,
    content: last?.content.toString('latin1'),
  }
  if (what === 'taken') {
    t.is(taken.length, Number(value), at)
    t.is(drafts.filter((draft) => !draft.discarded).length, Number(value), `${at}: drafts that remain`)
  } else {
    if (!(what in found)) throw new Error(`${at}: unknown step ${what}`)
    t.is(found[what], what === 'content' ? unescape(value).toString('latin1') : value, at)
  }
}

const escapes: Readonly<Record<string, string>> = { r: '\r', n: '\n', '0': '\0', '\\': '\\' }

function unescape(text: string): Buffer {
  const octets = Buffer.from(text).toString('latin1')
  const plain = octets.replaceAll(/\\(?:x([0-9a-f]{2})|(.))/gi, (_, hex: string | undefined, letter: string) =>
    hex ? String.fromCharCode(Number.parseInt(hex, 16)) : (escapes[letter] ?? letter),
  )
  return Buffer.from(plain, 'latin1')
}

const pattern = (text: string): RegExp => {
  const [, source = '', flags] = /^\/(.*)\/(\w*)$/.exec(text) ?? []
  return new RegExp(source, flags)
}

/** Checks that 4xx and 5xx replies, and 2xx after the greetings, have one enhanced code of their class. */
function onlyOneCode(line: string): boolean {
  const [, code = '', rest = ''] = /^(\d{3})[- ](.*)$/.exec(line) ?? []
  if (/^[45]/.test(code)) return new RegExp(String.raw`^${code[0]}\.\d+\.\d+ (?!\d\.\d+\.\d+)`).test(rest)
  return !/\d\.\d+\.\d+ .*\d\.\d+\.\d+/.test(rest)
}

type Settings = readonly (readonly string[])[]

const limitsOf = (settings: Settings): Partial<SubmissionLimits> =>
  Object.fromEntries(settings.filter(([what]) => what === 'limit').map(([, name, value]) => [name, Number(value)]))

const optionsOf = (settings: Settings): Partial<SubmissionOptions> =>
  settings.some(([what, value]) => what === 'cleartext' && value === 'loopback') ? { cleartextAuth: 'loopback' } : {}

function setDoor(door: DoorDouble, name: string, value: string): void {
  const refusal = (): Refusal => new Refusal(value as RefusalCode, 'The double says no.')
  if (name === 'maxMessageBytes') door.maxMessageBytes = Number(value)
  else if (name === 'outcome') door.outcome = value as DoorDouble['outcome']
  else if (name === 'submit') door.submitFails = value === 'defect' ? new Error('secret detail') : refusal()
  else if (name === 'login') door.loginFails = value === 'defect' ? new Error('secret detail') : refusal()
  else if (name === 'sender') door.senderFails = refusal()
  else if (name === 'turn') door.turnFails = refusal()
  else if (name === 'open') door.notOpen = refusal()
  else throw new Error(`unknown door setting ${name}`)
}
