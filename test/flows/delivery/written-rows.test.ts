/** What a message writes to the store, in rows and commits: a running daemon is asked for its metrics after each of a few messages. */
import test, { type ExecutionContext } from 'ava'
import { portOf, type Daemon } from '../../support/daemon/daemon.ts'
import { livesOf } from '../../support/daemon/daemon-lives.ts'
import { eventually } from '../../support/deadline.ts'
import { makeDestination, makeLogin } from '../../support/daemon/provision.ts'
import { Sink } from '../../support/smtp/sink.ts'
import { SmtpClient } from '../../support/smtp/smtp-client.ts'

const content = Buffer.from('From: shop@site.test\r\nTo: anna@peer.test\r\nSubject: Your order\r\n\r\nThank you.\r\n')

interface Written {
  readonly rows: number
  readonly commits: number
}

async function writtenBy(daemon: Daemon): Promise<Written> {
  const text = (await daemon.rest.call('GET', '/metrics')).bytes.toString()
  const total = (name: string): number => Number(new RegExp(`^postern_${name} (\\S+)$`, 'm').exec(text)?.[1])
  return { rows: total('store_rows_written_total'), commits: total('commit_group_writes_sum') }
}

/** Rows of a message that comes alone, counters included, once it has made so many commits: the median of a few, as others write too. */
async function rowsOfMessage(t: ExecutionContext, mode: 'live' | 'sandbox', commits: number): Promise<number> {
  const sink = await Sink.listen()
  const { start } = await livesOf(t, `rows-${mode}`, {}, sink)
  const daemon = await start()
  const destination = await makeDestination(daemon.rest, { name: 'sink', port: sink.port, mode })
  const login = await makeLogin(daemon.rest, destination)
  const client = await SmtpClient.signIn({ port: portOf(daemon.addresses.submission[0]) }, login)
  const found: number[] = []
  for (let i = 0; i < 5; i++) {
    const before = await writtenBy(daemon)
    t.true((await client.send({ from: 'shop@site.test', to: ['anna@peer.test'], content })).accepted)
    const after = await eventually(30_000, 'the message is done', async () => {
      const now = await writtenBy(daemon)
      return now.commits >= before.commits + commits ? now : undefined
    })
    found.push(after.rows - before.rows)
  }
  await client.quit()
  return found.toSorted((one, other) => one - other)[2] ?? NaN
}

test('a relayed message writes 18 rows in three commits, seven of them counters', async (t) => {
  t.is(await rowsOfMessage(t, 'live', 3), 18)
})

test('a captured message writes 23 rows in two commits, eight of them counters', async (t) => {
  t.is(await rowsOfMessage(t, 'sandbox', 2), 23)
})
