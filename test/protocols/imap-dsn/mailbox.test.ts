/** Servers that a mailbox must not be polled from, or that violate the protocol. */
import { once } from 'node:events'
import { createServer } from 'node:net'
import test, { type ExecutionContext } from '#test'
import { ImapFlow } from 'imapflow'
import { ResolveError } from '#core/outbound/resolver.ts'
import { ImapMailbox, limits, openMailbox, type ImapLogin, type ImapNetwork } from '../../../protocols/imap-dsn/mailbox.ts'
import { PollFailure } from '../../../protocols/imap-dsn/poll-failure.ts'
import { closedPort } from '../../support/network/held-port.ts'
import { waiting } from '../../support/waits.ts'
import { ImapScript, type Answer } from './imap-script.ts'
import { listenIn } from '../../support/web/listen.ts'

const network: ImapNetwork = {
  resolver: { resolve4: () => Promise.resolve(['127.0.0.1']), resolve6: () => Promise.resolve([]) },
  guard: () => true,
  trusted: null,
  stepMs: 300,
}
/** For answers that must arrive before the timeout, even on a slow machine. */
const patient = { stepMs: 60_000 }
const login: ImapLogin = {
  ...{ host: 'localhost', port: 0, security: 'starttls', username: 'bounces', password: 'correct-horse', mailbox: 'INBOX' },
}

async function problemWith(
  target: Partial<ImapLogin>,
  changes: Partial<ImapNetwork> = {},
  signal = new AbortController().signal,
): Promise<string> {
  const opened = openMailbox({ ...network, ...changes }, { ...login, ...target }, signal)
  return waiting(
    'an end',
    opened.then(
      () => 'open',
      (error: unknown) => (error instanceof PollFailure ? error.problem : String(error)),
    ),
  )
}

async function script(t: ExecutionContext, greeting: string, answer: Answer): Promise<ImapScript> {
  const server = await ImapScript.listen(greeting, answer)
  t.teardown(() => server[Symbol.asyncDispose]())
  return server
}

test('openMailbox(): never sends the password without TLS', async (t) => {
  const servers: readonly (readonly [string, Answer])[] = [
    ['* OK ready', (tag) => `* CAPABILITY IMAP4rev1 AUTH=PLAIN\r\n${tag} OK done\r\n`],
    ['* PREAUTH you are in already', (tag) => `* CAPABILITY IMAP4rev1 STARTTLS\r\n${tag} NO not any more\r\n`],
    ['* OK [CAPABILITY IMAP4rev1 STARTTLS] ready', (tag, command) => (command === 'STARTTLS' ? `${tag} BAD no\r\n` : `${tag} OK\r\n`)],
    ['* OK ready', (tag) => `* CAPABILITY IMAP4rev1 STARTTLS\r\n${tag} OK done\r\n* OK injected\r\n`],
  ]
  for (const [greeting, answer] of servers) {
    const server = await script(t, greeting, answer)
    const problem = await problemWith({ port: server.port })
    t.true(['tls', 'server', 'mailbox', 'time'].includes(problem), `${greeting}: ${problem}`)
    t.notRegex(server.said, /correct-horse|LOGIN|AUTHENTICATE|Y29ycmVjdC1ob3JzZQ|SELECT|EXAMINE/i, greeting)
  }
})

test('openMailbox(): every wait has a timeout', async (t) => {
  const silent = await script(t, '', () => '')
  t.is(await problemWith({ port: silent.port }), 'time', 'no greeting')
  const mute = await script(t, '* OK ready', () => '')
  t.true(['time', 'server'].includes(await problemWith({ port: mute.port })), 'no answer')
  t.true(['time', 'tls', 'server'].includes(await problemWith({ port: silent.port, security: 'tls' })), 'no handshake')
  const bye = await script(t, '* BYE overloaded', () => '')
  t.is(await problemWith({ port: bye.port }, patient), 'server')
})

/** Scripted answers of a server whose mail 8 is this mail, followed by `after`. */
const mail = 'Subject: hello\r\n\r\nIt bounced.\r\n'
const withMail =
  (flags: string, after = ''): Answer =>
  (tag, command) => {
    const done = `${tag} OK done\r\n`
    if (command.startsWith('CAPABILITY')) return `* CAPABILITY IMAP4rev1\r\n${done}`
    if (command.startsWith('EXAMINE')) return `* 2 EXISTS\r\n* OK [UIDVALIDITY 7] ok\r\n${tag} OK [READ-ONLY] done\r\n`
    if (command.startsWith('UID FETCH 8 ')) return `${flags}* 2 FETCH (UID 8 BODY[]<0> {${mail.length}}\r\n${mail})\r\n${done}${after}`
    return command.startsWith('UID FETCH 9 ') ? `${flags}${done}` : done
  }

async function entered({ port }: ImapScript, options: object = {}): Promise<{ readonly mailbox: ImapMailbox; readonly client: ImapFlow }> {
  const auth = { user: 'bounces', pass: 'correct-horse' }
  const client = new ImapFlow({ host: '127.0.0.1', port, secure: false, doSTARTTLS: false, auth, logger: false, ...options })
  const mailbox = new ImapMailbox(client, new AbortController().signal)
  await mailbox.enter('INBOX')
  return { mailbox, client }
}

test('ImapMailbox.read(): skips flag updates of other mails', async (t) => {
  const flags = '* 1 FETCH (FLAGS (\\Seen))\r\n* 1 FETCH (UID 7 FLAGS (\\Seen))\r\n'
  const { mailbox } = await entered(await script(t, '* OK ready', withMail(flags)))
  t.is((await mailbox.read(8))?.toString(), mail)
  t.is(await mailbox.read(9), undefined)
  await mailbox.leave()
  await t.throwsAsync(mailbox.read(8), { instanceOf: PollFailure })
})

/** A mailbox of mails with these UIDs, which loses its first mails before it answers the nth search. */
const mailsWith =
  (uids: readonly number[], searches: string[] = [], [lostAt, lost] = [Infinity, 0]): Answer =>
  (tag, command) => {
    const done = `${tag} OK done\r\n`
    if (command.startsWith('CAPABILITY')) return `* CAPABILITY IMAP4rev1\r\n${done}`
    if (command.startsWith('EXAMINE')) return `* ${uids.length} EXISTS\r\n* OK [UIDVALIDITY 7] ok\r\n${tag} OK [READ-ONLY] done\r\n`
    const [, from, to = from, uidFrom, uidTo = uidFrom] = /^UID SEARCH (?:(\d+)(?::(\d+))? )?UID (\d+)(?::(\S+))?$/.exec(command) ?? []
    if (uidFrom === undefined) return done
    searches.push(command)
    const here = searches.length >= lostAt ? uids.slice(lost) : uids
    const top = uidTo === '*' ? Math.max(...here) : Number(uidTo)
    const [least, most] = [Math.min(Number(uidFrom), top), Math.max(Number(uidFrom), top)]
    const found = here.slice(from === undefined ? 0 : Number(from) - 1, to === undefined ? undefined : Number(to))
    return `* SEARCH ${found.filter((uid) => uid >= least && uid <= most).join(' ')}\r\n${done}`
  }

test('ImapMailbox.uidsAfter(): large mailbox needs only short answers', async (t) => {
  const uids = Array.from({ length: 100_000 }, (_, i) => 4_000_000 + 3 * i)
  for (const last of [0, 4_000_000, 4_000_001, 4_150_000, 4_299_994, 4_299_996, 4_299_997]) {
    const searches: string[] = []
    const { mailbox } = await entered(await script(t, '* OK ready', mailsWith(uids, searches)))
    const found = await mailbox.uidsAfter(last)
    const rest = uids.filter((uid) => uid > last)
    t.deepEqual(found, rest.slice(0, found.length), String(last))
    t.true(found.length <= 2000 && found.length >= Math.min(rest.length, 1000), `${last}: ${found.length}`)
    t.true(searches.length <= 10, `${last}: ${searches.length}`)
    mailbox.end()
  }
  const { mailbox } = await entered(await script(t, '* OK ready', mailsWith([])))
  t.deepEqual(await mailbox.uidsAfter(0), [])
  mailbox.end()
})

test('ImapMailbox.uidsAfter(): deletions between searches lose no mail', async (t) => {
  const uids = Array.from({ length: 20_000 }, (_, i) => i + 1)
  for (let at = 1; at <= 8; at++) {
    const { mailbox } = await entered(await script(t, '* OK ready', mailsWith(uids, [], [at, 3000])))
    const [first] = await mailbox.uidsAfter(10_000)
    t.is(first, 10_001, `before search ${at}`)
    mailbox.end()
  }
})

test('openMailbox(): too long line of the server ends the connection', async (t) => {
  const many = `* SEARCH ${Array.from({ length: 20_000 }, (_, i) => i + 1).join(' ')}\r\n`
  const answer: Answer = (tag, command) => (command.startsWith('UID SEARCH') ? `${many}${tag} OK done\r\n` : mailsWith([1])(tag, command))
  const server = await script(t, '* OK ready', answer)
  const { mailbox } = await entered(server, limits)
  await t.throwsAsync(mailbox.uidsAfter(0), { instanceOf: PollFailure })
  mailbox.end()
})

/** Resolves when the client has read BYE, which causes no event. */
function farewell(client: ImapFlow): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>()
  let reason: string | undefined
  Object.defineProperty(client, 'byeReason', {
    get: () => reason,
    set(given: string) {
      reason = given
      resolve()
    },
  })
  return waiting('the BYE of the server', promise)
}

test('ImapMailbox.read(): BYE on an open connection is not a deleted mail', async (t) => {
  const { mailbox, client } = await entered(await script(t, '* OK ready', withMail('', '* BYE Server shutting down.\r\n')))
  const bye = farewell(client)
  t.is((await mailbox.read(8))?.toString(), mail)
  await bye
  t.true(client.usable)
  await t.throwsAsync(mailbox.read(9), { instanceOf: PollFailure })
  mailbox.end()
})

test('openMailbox(): abort ends the connection', async (t) => {
  const server = await script(t, '* OK ready', () => '')
  const abort = new AbortController()
  const said = once(server, 'said')
  const problem = problemWith({ port: server.port }, patient, abort.signal)
  await said
  abort.abort()
  t.is(await problem, 'server')
  t.is(await problemWith({ port: server.port }, {}, AbortSignal.abort()), 'server')
})

test('openMailbox(): skips forbidden addresses, tries the next after a failure', async (t) => {
  const server = createServer((socket) => socket.end('* BYE\r\n'))
  const port = await listenIn(t, server, '127.0.0.2', await closedPort(t)) // the port refuses connections at the first address
  let asked: string[] = []
  const guard = (address: string): boolean => {
    asked.push(address)
    return address !== '127.0.0.2'
  }
  const resolver = { resolve4: () => Promise.resolve(['127.0.0.1', '127.0.0.2']), resolve6: () => Promise.resolve([]) }
  t.is(await problemWith({ port }, { ...patient, resolver, guard }), 'connection')
  t.deepEqual(asked, ['127.0.0.1', '127.0.0.2'])
  t.is(await problemWith({ port }, { ...patient, resolver }), 'server', 'the second address answers')
  asked = []
  t.is(await problemWith({ port }, { resolver, guard: () => false }), 'address')
  const failing = { ...resolver, resolve4: () => Promise.reject(new ResolveError('timeout', 'no answer')) }
  t.is(await problemWith({ port }, { resolver: failing }), 'dns')
  const missing = { ...resolver, resolve4: () => Promise.reject(new ResolveError('not_found', 'no address')) }
  t.is(await problemWith({ port }, { resolver: missing }), 'name')
})
