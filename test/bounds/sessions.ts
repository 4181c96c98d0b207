/** Attacking mail sessions: every command of submission and MX with lines, parameters, repetitions and messages at their limits. */
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { connect as connectTls } from 'node:tls'
import { filled } from './json-attacks.ts'

/** Protection of a session: none, TLS from the first octet, or STARTTLS. */
export type Security = 'none' | 'tls' | 'starttls'

/** A session: data sent at once, without waiting for replies, until the connection ends. */
export interface HostileSession {
  readonly door: 'submission' | 'mx'
  readonly security: Security
  /** The server and the kind of attack. */
  readonly title: string
  /** The session must reach the content of a message. If a recipient is refused, nothing was attacked. */
  readonly isMessage: boolean
  /** Threads that may start for it. */
  readonly threads: number
  readonly bytes: () => Promise<Buffer>
}

/** Sends the data and reads until the daemon closes the connection. */
export async function play(port: number, security: Security, bytes: Buffer): Promise<string> {
  const socket = await opened(port, security)
  let text = ''
  socket.setEncoding('latin1').on('data', (chunk: string) => {
    text = (text + chunk).slice(-2000)
  })
  socket.on('error', () => socket.destroy())
  const closed = once(socket, 'close')
  socket.write(bytes)
  await closed.catch(() => undefined)
  return text
}

async function opened(port: number, security: Security): Promise<Socket> {
  if (security === 'tls') return connectTls({ port, host: '127.0.0.1', rejectUnauthorized: false })
  const socket = connect(port, '127.0.0.1')
  if (security === 'none') return socket
  socket.write('EHLO walk\r\nSTARTTLS\r\n')
  for (let text = ''; !/^220 [^]*^220 /m.test(text);) {
    const [chunk] = (await once(socket, 'data')) as [Buffer]
    text += chunk.toString('latin1')
  }
  return connectTls({ socket, rejectUnauthorized: false })
}

interface Opening {
  readonly door: HostileSession['door']
  /** Owner of the address `to`, which gets only messages. */
  readonly whose?: string
  readonly threads?: number
  /** Commands before MAIL FROM. */
  readonly start: string
  readonly from: string
  /** Called for each session. */
  readonly to: () => string | Promise<string>
}

/** A recipient of mail from other servers. */
export interface Taker {
  readonly whose: string
  /** The address to send the next mail to. */
  readonly to: () => string | Promise<string>
  /** Threads that may start for a mail. */
  readonly threads: number
}

/** Opening of a session for each entry point. MX is attacked with the postmaster address, and its messages with all recipients. */
export const openings = (
  login: { readonly username: string; readonly password: string },
  postmaster: string,
  takers: readonly Taker[],
): readonly Opening[] => [
  {
    door: 'submission',
    start: `EHLO walk\r\nAUTH PLAIN ${Buffer.from(`\0${login.username}\0${login.password}`).toString('base64')}\r\n`,
    ...{ from: 'a@b.ch', to: () => 'ada@example.ch' },
  },
  { door: 'mx', start: 'EHLO walk.example.ch\r\n', from: '', to: () => postmaster },
  ...takers.map((taker) => ({ ...taker, door: 'mx' as const, start: 'EHLO walk.example.ch\r\n', from: '' })),
]

/** Attacks to repeat inside TLS: expensive ones with few octets, in lines, commands and octets. */
const insideTls =
  /^(?:EHLO again and again|NULs|many recipients|a line that does not end|a message of (?:many header fields|many parts|empty lines|one line|dots))$/

/** `bytes` is the size of each attack. */
export function* hostileSessions(all: readonly Opening[], bytes: number): Iterable<HostileSession> {
  for (const opening of all) {
    const plain = [...against(opening, bytes)]
    yield* plain
    if (opening.whose !== undefined) continue
    for (const security of ['starttls', 'tls'] as const) {
      if (security === 'tls' && opening.door === 'mx') continue
      for (const each of plain) if (insideTls.test(each.title)) yield { ...each, security, title: `${security}, ${each.title}` }
    }
  }
}

function* against(opening: Opening, bytes: number): Iterable<HostileSession> {
  const { door, whose, start, from, to, threads = 0 } = opening
  const common = { door, threads, security: 'none' } as const
  if (whose === undefined) {
    for (const [title, text] of [...commands(opening, bytes), ...beforeLogin(bytes)]) {
      const script = async (): Promise<Buffer> => Buffer.from(`${await text()}\r\nQUIT\r\n`, 'latin1')
      yield { ...common, title, isMessage: false, bytes: script }
    }
  }
  for (const [title, text] of messages(bytes)) {
    const script = async (): Promise<Buffer> => {
      const envelope = `${start}MAIL FROM:<${from}>\r\nRCPT TO:<${await to()}>\r\n`
      return Buffer.from(`${envelope}DATA\r\n${await text()}\r\n.\r\nQUIT\r\n`, 'latin1')
    }
    yield { ...common, title: `a message of ${title}${whose === undefined ? '' : ` to ${whose}`}`, isMessage: true, bytes: script }
  }
}

type Script = readonly [title: string, text: () => string | Promise<string>]

const verbs = [
  'HELO',
  'EHLO',
  'AUTH',
  'MAIL',
  'RCPT',
  'DATA',
  'BDAT',
  'RSET',
  'NOOP',
  'VRFY',
  'EXPN',
  'HELP',
  'STARTTLS',
  'XCLIENT',
  'LHLO',
  'FOO',
]

function* beforeLogin(bytes: number): Iterable<Script> {
  for (const verb of verbs) {
    yield [`${verb} again and again, before anything`, () => filled(`${verb}\r\n`, bytes)]
    yield [`${verb} with a line that does not end`, () => `${verb} ${filled('x', bytes)}`]
  }
}

function* commands({ start, from, to }: Opening, bytes: number): Iterable<Script> {
  const mail = `MAIL FROM:<${from}>`
  for (const verb of verbs) yield [`${verb} again and again`, () => start + filled(`${verb} x\r\n`, bytes)]
  yield ['a line that does not end', () => start + filled('x', bytes)]
  yield ['empty lines', () => start + filled('\r\n', bytes)]
  yield ['NULs', () => start + filled('\0', bytes)]
  yield ['EHLO and RSET in turns', () => start + filled('EHLO a\r\nRSET\r\n', bytes)]
  yield ['MAIL and RSET in turns', () => start + filled(`${mail}\r\nRSET\r\n`, bytes)]
  yield ['MAIL with many parameters', () => `${start}${mail}${filled(' A=B', bytes)}`]
  yield ['MAIL with a long parameter', () => `${start}${mail} ENVID=${filled('+41', bytes)}`]
  yield ['MAIL with a long address', () => `${start}MAIL FROM:<${filled('a.', bytes)}@b.ch>`]
  yield ['MAIL with a long domain', () => `${start}MAIL FROM:<a@${filled('a.', bytes)}ch>`]
  yield ['MAIL with a source route', () => `${start}MAIL FROM:<${filled('@a,', bytes)}:a@b.ch>`]
  yield ['MAIL of many lines, each nearly too long', () => start + filled(`MAIL FROM:<${'a'.repeat(900)}@b.ch>\r\n`, bytes)]
  yield ['MAIL with many parameters, again and again', () => start + filled(`${mail}${' A=B'.repeat(100)}\r\nRSET\r\n`, bytes)]
  yield ['many recipients', () => `${start}${mail}\r\n${manyRecipients(bytes)}`]
  yield ['one recipient again and again', async () => `${start}${mail}\r\n${filled(`RCPT TO:<${await to()}>\r\n`, bytes)}`]
  yield [
    'recipients with parameters',
    async () => `${start}${mail}\r\n${filled(`RCPT TO:<${await to()}> NOTIFY=SUCCESS ORCPT=rfc822;${'+41'.repeat(100)}\r\n`, bytes)}`,
  ]
  yield ['quoted recipients', () => `${start}${mail}\r\n${filled(`RCPT TO:<"${'\\a'.repeat(200)}"@b.ch>\r\n`, bytes)}`]
  yield ['logins', () => `EHLO a\r\n${filled('AUTH PLAIN AGEAYg==\r\n', bytes)}`]
  yield ['a login that does not end', () => `EHLO a\r\nAUTH PLAIN ${filled('QUFB', bytes)}`]
  yield ['aborted logins', () => `EHLO a\r\n${filled('AUTH LOGIN\r\n*\r\n', bytes)}`]
}

function manyRecipients(bytes: number): string {
  return Array.from({ length: Math.floor(bytes / 40) }, (_, i) => `RCPT TO:<a${i}@example.ch>\r\n`).join('')
}

const mixed = 'Content-Type: multipart/mixed; boundary=b\r\n\r\n'

/** Content after DATA, with dot-stuffing. */
function* messages(bytes: number): Iterable<Script> {
  const filling = (title: string, head: string, unit: string, most = bytes): Script => [title, () => head + filled(unit, most)]
  yield filling('many header fields', '', 'A: 1\r\n')
  yield filling('many header fields of a known name', '', 'To: a@b.ch\r\n')
  yield filling('one long header field', 'Subject: ', 'x')
  yield filling('a header field of many lines', 'Subject: x', '\r\n y')
  yield filling('many addresses', 'To: ', 'a@b.ch,\r\n ')
  yield filling('open parentheses', 'From: ', '((((\r\n ')
  yield filling('groups', 'From: ', 'a:\r\n ')
  yield filling('encoded words', 'Subject: ', '=?utf-8?q?a?=\r\n ')
  yield filling('Received fields', '', 'Received: from a by b; Sun, 22 Nov 2026 10:00:00 +0000\r\n')
  yield filling('signatures', '', 'DKIM-Signature: v=1; a=rsa-sha256; d=b.ch; s=x; h=from; bh=AAAA; b=AAAA\r\n')
  yield filling('a header without an end', '', 'x'.repeat(990) + '\r\n')
  yield filling('parameters', 'Content-Type: text/plain', ';\r\n a*0*=b')
  yield filling('many parts', mixed, '--b\r\n\r\nx\r\n')
  yield filling('parts with header fields', mixed, '--b\r\nContent-Type: text/html\r\nX: y\r\n\r\n<b>x\r\n')
  yield ['parts in parts', () => nested(Math.floor(bytes / 70))]
  yield filling('messages in messages', '', 'Content-Type: message/rfc822\r\n\r\n')
  yield filling('empty lines', '\r\n', '\r\n')
  yield filling('lone line feeds', '\r\n', '\n')
  yield filling('lone carriage returns', '\r\n', '\r')
  yield filling('dots', '\r\n', '..\r\n')
  yield filling('one line', '\r\n', 'x')
  yield filling('NULs', '\r\n', '\0')
  yield filling('tags', 'Content-Type: text/html\r\n\r\n', '<b><i></b>\r\n')
  yield filling('open tags', 'Content-Type: text/html\r\n\r\n', '<b>\r\n')
  yield filling('links', 'Content-Type: text/html\r\n\r\n', '<a href="http://a.ch/">\r\n')
  yield filling('styles', 'Content-Type: text/html\r\n\r\n<style>', 'a{b:c}\r\n')
  yield filling('bad quoted-printable', 'Content-Transfer-Encoding: quoted-printable\r\n\r\n', '=ZZ=\r\n')
  yield filling('bad base64', 'Content-Transfer-Encoding: base64\r\n\r\n', '=A=!\r\n')
  yield ['reports', () => report(bytes)]
}

function nested(depth: number): string {
  return Array.from({ length: depth }, (_, at) => `Content-Type: multipart/mixed; boundary=b${at}\r\n\r\n--b${at}\r\n`).join('')
}

function report(bytes: number): string {
  const head = 'From: mailer-daemon@b.ch\r\nContent-Type: multipart/report; report-type=delivery-status; boundary=b\r\n\r\n'
  const status = '--b\r\nContent-Type: message/delivery-status\r\n\r\nReporting-MTA: dns; b.ch\r\n\r\n'
  return head + status + filled('Final-Recipient: rfc822; a@b.ch\r\nAction: failed\r\nStatus: 5.1.1\r\n\r\n', bytes)
}
