/** Store writes of a message in rows, commits and octets, without counters, which add up in memory and are written once per group. */
import test, { type ExecutionContext } from '#test'
import { lengthOf, type Write } from '#store/kv.ts'
import { describeKey } from '#store/tuple.ts'
import { makeDestination, makeLogin } from '../../support/daemon/provision.ts'
import { startDaemon, type StartedDaemon } from '../../support/daemon/start-daemon.ts'
import { Sink } from '../../support/smtp/sink.ts'
import { SmtpClient } from '../../support/smtp/smtp-client.ts'

const content = Buffer.from('From: shop@site.test\r\nTo: anna@peer.test\r\nSubject: Your order\r\n\r\nThank you.\r\n')

interface Commit {
  readonly rows: readonly string[]
  readonly octets: number
}

interface Service {
  readonly daemon: StartedDaemon
  readonly sink: Sink
  /** A session that is logged in. */
  readonly client: SmtpClient
}

/** Costs of messages after their acceptance. */
interface Cost {
  /** For each message, in order, its commits until now. */
  readonly messages: () => readonly (readonly Commit[])[]
  /** Keys read after the acceptance of the last message. */
  readonly looks: readonly string[]
}

/** A daemon that has already processed a message, so that caches are warm. */
async function warmService(t: ExecutionContext, mode: 'live' | 'sandbox'): Promise<Service> {
  const sink = await Sink.listen()
  t.teardown(() => sink[Symbol.asyncDispose]())
  const env = { POSTERN_OUTBOUND_ALLOW: 'destinations=127.0.0.1/32', POSTERN_SUBMISSION_CLEARTEXT_AUTH: 'loopback' }
  const daemon = await startDaemon(t, { env })
  const destination = await makeDestination(daemon.rest, { name: 'sink', port: sink.port, mode, maxConnections: 1 })
  const login = await makeLogin(daemon.rest, destination)
  const client = await SmtpClient.signIn({ port: Number(daemon.addresses.submission.split(':').at(-1)) }, login)
  t.true((await client.send(envelope)).accepted)
  await daemon.settled()
  return { daemon, sink, client }
}

const envelope = { from: 'shop@site.test', to: ['anna@peer.test'], content }

/** Runs the work and returns its cost. */
async function costOf(daemon: StartedDaemon, work: () => Promise<unknown>): Promise<Cost> {
  const writes: Write[] = []
  let looks: string[] = []
  daemon.kv.beforeWrite = (write) => {
    writes.push(write)
    if (isAcceptance(write)) looks = []
  }
  daemon.kv.onLook = (keys) => void looks.push(...keys.filter((key) => !isOfSites(key)).map(describeKey))
  await work()
  await daemon.settled()
  daemon.kv.onLook = undefined
  return { looks, messages: () => ownWrites(writes).map((own) => own.map(commitOf)) }
}

const commitOf = ({ sets, deletes }: Write): Commit => ({
  rows: [...deletes.map((key) => `- ${describeKey(key)}`), ...sets.map(({ key }) => describeKey(key))],
  octets: lengthOf(piecesOf({ sets, deletes })),
})

const isAcceptance = ({ sets }: Write): boolean => sets.some(({ key }) => textOf([key]).includes('\x02content\0'))

/**
 * For each message, the write with its content, followed by writes that name it or its capture. Leaves out the mark of the background read,
 * which is written once for 64 captures (`test/core/capture/background-read.test.ts`), and the stop of a daemon.
 */
const ownWrites = (writes: readonly Write[]): readonly (readonly Write[])[] =>
  writes.flatMap((accepted, first) => {
    if (!isAcceptance(accepted)) return []
    const ids = new Set(accepted.sets.flatMap(({ key }) => textOf([key]).match(/[\da-f-]{36}|cap_[\da-f]{32}/g) ?? []))
    const own = writes.slice(first).filter((write) => [...ids].some((id) => textOf(piecesOf(write)).includes(id)))
    return [own.filter(({ sets, deletes }) => deletes.length > 0 || !sets.every(({ key }) => isMark(describeKey(key))))]
  })

/** A periodic check of websites, independent of sending. */
const isOfSites = (key: Uint8Array): boolean => textOf([key]).includes('\x02site.')

const isMark = (key: string): boolean => /"capture\.(read|marked)"/.test(key)

const piecesOf = ({ sets, deletes }: Pick<Write, 'sets' | 'deletes'>): readonly Uint8Array[] => [
  ...deletes,
  ...sets.flatMap(({ key, value }) => [key, ...(value instanceof Uint8Array ? [value] : value)]),
]

const textOf = (pieces: readonly Uint8Array[]): string => Buffer.concat(pieces).toString('latin1')

const rowsOf = (commits: readonly Commit[] = []): number => commits.reduce((sum, { rows }) => sum + rows.length, 0)

test('relayed message: eight rows in three commits, a short start row, one read', async (t) => {
  const { daemon, client } = await warmService(t, 'live')
  const { messages, looks } = await costOf(daemon, () => client.send(envelope))
  await client.quit()
  await daemon.stop() // no writes follow the stop
  const [commits = []] = messages()
  t.is(rowsOf(commits), 8, JSON.stringify(commits, undefined, 1))
  t.is(commits.length, 3)
  const [, begun, ended] = commits
  t.true((begun?.octets ?? Infinity) <= 256, `begun: ${begun?.octets} octets`)
  t.true((ended?.octets ?? Infinity) <= 2048, `ended: ${ended?.octets} octets`)
  t.is(looks.length, 1, looks.join('\n')) // checks if its trace is unchanged
})

test('captured message: seven rows in one commit', async (t) => {
  const { daemon, client } = await warmService(t, 'sandbox')
  const { messages } = await costOf(daemon, () => client.send(envelope))
  await client.quit()
  await daemon.stop()
  const [commits = []] = messages()
  t.is(rowsOf(commits), 7, JSON.stringify(commits, undefined, 1))
  t.is(commits.length, 1)
})

const sizesOf = ({ messages }: Cost): object[] => messages().map((commits) => ({ commits: commits.length, rows: rowsOf(commits) }))

const mail = 'MAIL FROM:<shop@site.test>'
const toAnna = 'RCPT TO:<anna@peer.test>'

test('further recipients and messages: one command each, no connection or DNS lookup', async (t) => {
  const { daemon, sink, client } = await warmService(t, 'live')
  const connections = sink.connections.length
  const commandsOf = async (work: () => Promise<unknown>): Promise<Cost & { readonly lines: readonly string[] }> => {
    const before = sink.lines.length
    const cost = await costOf(daemon, work)
    return { ...cost, lines: sink.lines.slice(before).map((line) => line.replace(/ (?:SIZE|BODY)=.*$/, '')) }
  }
  const next = await commandsOf(() => client.send(envelope))
  t.deepEqual(next.lines, [mail, toAnna, 'DATA'])
  const two = await commandsOf(() => client.send({ ...envelope, to: ['anna@peer.test', 'ben@peer.test'] }))
  t.deepEqual(two.lines, [mail, toAnna, 'RCPT TO:<ben@peer.test>', 'DATA'])
  t.deepEqual(sizesOf(next), [{ commits: 3, rows: 8 }])
  t.deepEqual(sizesOf(two), [{ commits: 3, rows: 9 }], 'the acceptance for a recipient is a separate row')
  t.deepEqual([next.looks.length, two.looks.length], [1, 1])

  const group = `${mail}\r\n${toAnna}\r\nDATA`
  const three = await commandsOf(async () => {
    const replies = [await client.command(group), await client.next(), await client.next()]
    // the next envelope follows the final dot in the same packet
    for (const rest of [`\r\n${group}`, `\r\n${group}`, ''])
      for (let left = rest === '' ? 1 : 4; left > 0; left--)
        replies.push(left === 4 || rest === '' ? await client.command(`${content.toString()}.${rest}`) : await client.next())
    t.deepEqual(
      replies.map(({ code }) => code),
      [250, 250, 354, 250, 250, 250, 354, 250, 250, 250, 354, 250],
    )
  })
  t.deepEqual(three.lines, [mail, toAnna, 'DATA', mail, toAnna, 'DATA', mail, toAnna, 'DATA'])
  const eight = { commits: 3, rows: 8 }
  t.deepEqual(sizesOf(three), [eight, eight, eight])
  t.true(three.looks.length <= 3, three.looks.join('\n'))
  t.is(sink.connections.length, connections)
  await client.quit()
})
