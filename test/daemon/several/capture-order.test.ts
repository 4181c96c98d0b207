/** Captures of several daemons: a client that follows an inbox at one daemon misses none, regardless of the order of commits. */
import type { ExecutionContext } from 'ava'
import { Client } from 'pg'
import { waitFor } from '../../support/waits.ts'
import { catchAllInbox } from '../../support/daemon/provision.ts'
import { databasesOf } from '../../support/peers/postgresql.ts'
import { testWith } from '../../support/peers/peers.ts'
import { severalDaemons } from './daemons.ts'

const test = testWith('postgresql')
const postgresql = databasesOf(test)

interface HeldUp {
  /** Resolves when a write of the daemon has reached its commit. */
  readonly waits: () => Promise<true>
  readonly release: () => Promise<unknown>
}

/** Blocks the commits of a daemon by locking its row, until the lock is released or the test ends. */
async function holdUp(t: ExecutionContext, address: string, daemon: string): Promise<HeldUp> {
  const client = new Client({ connectionString: address })
  await client.connect()
  t.teardown(() => client.end())
  await client.query('BEGIN')
  await client.query('SELECT FROM postern_writers WHERE id = $1 FOR UPDATE', [daemon])
  const name = new URL(address).pathname.slice(1)
  const held = `SELECT FROM pg_stat_activity WHERE datname = '${name}' AND application_name = 'postern writes' AND wait_event_type = 'Lock'`
  return {
    // uses another transaction, because statistics do not change within the locking one
    waits: () => waitFor('the commit waits', async () => (await postgresql().query(held)).length > 0),
    release: () => client.query('COMMIT'),
  }
}

/** Requests between daemons about ids of captures. */
async function questionsAbout(t: ExecutionContext, address: string): Promise<ReadonlySet<string>> {
  const [client, questions] = [new Client({ connectionString: address }), new Set<string>()]
  await client.connect()
  t.teardown(() => client.end())
  client.on('notification', ({ payload = '' }) => {
    const { topic, answer } = JSON.parse(payload) as { readonly topic: string; readonly answer?: string }
    if (topic === 'ordered' && answer !== undefined) questions.add(answer)
  })
  const { rows } = await client.query<{ channel: string }>("SELECT 'postern_' || md5(current_schema()) AS channel")
  await client.query(`LISTEN ${String(rows[0]?.channel)}`)
  return questions
}

test('captures: ids define the order in lists and waits, despite late commits', async (t) => {
  const address = await postgresql().database()
  const several = await severalDaemons(t, address)
  const a = await several.start()
  const ids = async () =>
    (await postgresql().query('SELECT id FROM postern_daemons', address.split('/').at(-1))).map(({ id }) => String(id))
  const [first] = await ids()
  const b = await several.start()
  const second = (await ids()).find((id) => id !== first) ?? ''
  const inbox = `/v1/inboxes/${await catchAllInbox(a.rest)}`
  const send = ({ rest }: typeof a, subject: string) =>
    rest.must('POST', '/v1/messages', { from: 'a@site.test', to: 'b@inbox.test', subject, text: 't' })
  await send(a, 'begin')
  const subjects = ({ data }: Record<string, unknown>) => (data as { subject: string }[]).map(({ subject }) => subject)
  const [begin] = (await a.rest.must('GET', `${inbox}/messages`))['data'] as { id: string }[]

  const questions = await questionsAbout(t, address)
  const held = await holdUp(t, address, second)
  const late = send(b, 'early')
  await held.waits()
  const waiting = a.rest.must('POST', `${inbox}/wait?timeout=20&since=${String(begin?.id)}`)
  await send(a, 'later')
  const since = a.rest.must('GET', `${inbox}/messages?since=${String(begin?.id)}`)
  const newest = a.rest.must('GET', `${inbox}/messages`)
  const tooEarly: unknown[] = []
  // if the test fails, these requests fail with their daemon
  for (const one of [late, since, newest, waiting]) one.then((answer) => tooEarly.push(answer)).catch(() => undefined)
  const isSettled = () => Promise.resolve(questions.size >= 3 || tooEarly.length > 0 || undefined)
  await waitFor('all three requests have asked', isSettled)
  t.deepEqual(tooEarly, [], 'no response before the earlier capture is committed')
  await held.release()
  t.deepEqual(subjects(await since), ['early', 'later'])
  t.deepEqual(subjects(await newest), ['later', 'early', 'begin'])
  const woken = await waiting
  t.is(woken['subject'], 'early')
  await late
  const next = await b.rest.must('POST', `${inbox}/wait?timeout=20&since=${String(woken['id'])}`)
  t.is(next['subject'], 'later')
})
