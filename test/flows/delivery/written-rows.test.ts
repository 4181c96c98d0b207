/** What a message writes to the store, in rows, commits and octets, counters aside: they add up in memory and are written once a group. */
import test, { type ExecutionContext } from 'ava'
import { lengthOf, type Write } from '#store/kv.ts'
import { describeKey } from '#store/tuple.ts'
import { eventually } from '../../support/deadline.ts'
import { makeDestination, makeLogin } from '../../support/daemon/provision.ts'
import { startDaemon } from '../../support/daemon/start-daemon.ts'
import { Sink } from '../../support/smtp/sink.ts'
import { SmtpClient } from '../../support/smtp/smtp-client.ts'

const content = Buffer.from('From: shop@site.test\r\nTo: anna@peer.test\r\nSubject: Your order\r\n\r\nThank you.\r\n')

interface Commit {
  readonly rows: readonly string[]
  readonly octets: number
}

interface Life {
  readonly commits: readonly Commit[]
  /** Keys that were looked for after the message was accepted. */
  readonly looks: readonly string[]
}

/** The writes that belong to one message, in their order, once it has made so many commits and everything about it is done. */
async function lifeOf(t: ExecutionContext, mode: 'live' | 'sandbox', commits: number): Promise<Life> {
  const sink = await Sink.listen()
  t.teardown(() => sink[Symbol.asyncDispose]())
  const env = { POSTERN_OUTBOUND_ALLOW: 'destinations=127.0.0.1/32', POSTERN_SUBMISSION_CLEARTEXT_AUTH: 'loopback' }
  const daemon = await startDaemon(t, { env })
  const destination = await makeDestination(daemon.rest, { name: 'sink', port: sink.port, mode })
  const login = await makeLogin(daemon.rest, destination)
  const client = await SmtpClient.signIn({ port: Number(daemon.addresses.submission.split(':').at(-1)) }, login)
  const envelope = { from: 'shop@site.test', to: ['anna@peer.test'], content }
  t.true((await client.send(envelope)).accepted, 'the first one finds everything cold')
  const writes: Write[] = []
  let looks: string[] = []
  daemon.kv.beforeWrite = (write) => {
    writes.push(write)
    if (isAcceptance(write)) looks = []
  }
  daemon.kv.onLook = (keys) => void looks.push(...keys.map(describeKey))
  t.true((await client.send(envelope)).accepted)
  await eventually(30_000, 'the message is done', async () => ownWrites(writes).length >= commits || undefined)
  daemon.kv.onLook = undefined
  await client.quit()
  await daemon.stop() // after which nothing more comes
  const own = ownWrites(writes).map(({ sets, deletes }) => ({
    rows: [...deletes.map((key) => `- ${describeKey(key)}`), ...sets.map(({ key }) => describeKey(key))],
    octets: lengthOf(piecesOf({ sets, deletes })),
  }))
  return { commits: own, looks }
}

const isAcceptance = ({ sets }: Write): boolean => sets.some(({ key }) => textOf([key]).includes('\x02content\0'))

/**
 * The write with the last content, and those after it that name its message or the capture of it; but for the mark of how far the bodies
 * of captures were read, which is written once for 64 of them (`test/core/capture/background-read.test.ts`), and by the stop of a daemon.
 */
function ownWrites(writes: readonly Write[]): readonly Write[] {
  const first = writes.findLastIndex(isAcceptance)
  const accepted = writes[first]
  if (!accepted) return []
  const ids = new Set(accepted.sets.flatMap(({ key }) => textOf([key]).match(/[\da-f-]{36}|cap_[\da-f]{32}/g) ?? []))
  const own = writes.slice(first).filter((write) => [...ids].some((id) => textOf(piecesOf(write)).includes(id)))
  return own.filter(
    ({ sets, deletes }) => deletes.length > 0 || !sets.every(({ key }) => /"capture\.(read|marked)"/.test(describeKey(key))),
  )
}

const piecesOf = ({ sets, deletes }: Pick<Write, 'sets' | 'deletes'>): readonly Uint8Array[] => [
  ...deletes,
  ...sets.flatMap(({ key, value }) => [key, ...(value instanceof Uint8Array ? [value] : value)]),
]

const textOf = (pieces: readonly Uint8Array[]): string => Buffer.concat(pieces).toString('latin1')

const rowsOf = (commits: readonly Commit[]): number => commits.reduce((sum, { rows }) => sum + rows.length, 0)

test('a relayed message writes eight rows in three commits, the start of its attempt in one short row, and is looked for once', async (t) => {
  const { commits, looks } = await lifeOf(t, 'live', 3)
  t.is(rowsOf(commits), 8, JSON.stringify(commits, undefined, 1))
  t.is(commits.length, 3)
  const [, begun, ended] = commits
  t.true((begun?.octets ?? Infinity) <= 256, `begun: ${begun?.octets} octets`)
  t.true((ended?.octets ?? Infinity) <= 2048, `ended: ${ended?.octets} octets`)
  t.is(looks.length, 1, looks.join('\n')) // whether its trace is still as it was
})

test('a captured message writes seven rows in one commit', async (t) => {
  const { commits } = await lifeOf(t, 'sandbox', 1)
  t.is(rowsOf(commits), 7, JSON.stringify(commits, undefined, 1))
  t.is(commits.length, 1)
})
