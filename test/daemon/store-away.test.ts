/** A store that becomes unavailable while mail arrives: unstorable mail gets a temporary refusal, and waiting mail is accepted later. */
import { mkdir, rename } from 'node:fs/promises'
import { join } from 'node:path'
import { Daemon, portOf } from '../support/daemon/daemon.ts'
import { makeDestination, makeLogin } from '../support/daemon/provision.ts'
import { temporaryFolder } from '../support/daemon/workspace.ts'
import { waitFor } from '../support/waits.ts'
import { Postgresql } from '../support/peers/postgresql.ts'
import { testWith } from '../support/peers/peers.ts'
import { SmtpClient } from '../support/smtp/smtp-client.ts'

const mail = { from: 'a@site.test', to: 'b@inbox.test', subject: 's' }
const large = 'large '.repeat(60_000)

testWith('postgresql')('unavailable store: large mail is refused, other mail waits for the database', async (t) => {
  await using postgresql = await Postgresql.start()
  await using folder = await temporaryFolder('away')
  const objects = join(folder.path, 'objects')
  await mkdir(objects)
  const env = { POSTERN_STORE: await postgresql.database(), POSTERN_STORE_OBJECTS: `file://${objects}` }
  await using daemon = await Daemon.start({ folder: folder.path, env })
  const { rest } = daemon
  const login = await makeLogin(rest, await makeDestination(rest, { name: 'Box', port: 9, mode: 'sandbox' }))
  const client = await SmtpClient.signIn({ port: portOf(daemon.addresses.submission[0]) }, login)
  t.teardown(() => client.destroy())
  const byRest = (text: string) => rest.call('POST', '/v1/messages', { ...mail, text })
  const bySmtp = (text: string) =>
    client.send({ from: mail.from, to: [mail.to], content: Buffer.from(`Subject: s\r\n\r\n${text.match(/.{1,900}/g)?.join('\r\n')}\r\n`) })
  const isKept = async (): Promise<number> => (await Array.fromAsync(rest.rows('/v1/traces'))).length

  await rename(objects, `${objects}.away`)
  const refused = await byRest(large)
  t.is(refused.status, 503)
  t.is(refused.headers['retry-after'], '5')
  const { reply } = await bySmtp(large)
  t.is(reply.code, 451)
  t.regex(JSON.stringify(reply), /4\.3\.2/)
  t.is((await byRest('small')).status, 200)
  t.is((await bySmtp('small')).reply.code, 250)
  t.is(await isKept(), 2, 'nothing of refused mail is left')
  await rename(`${objects}.away`, objects)
  t.is((await byRest(large)).status, 200)
  t.is((await bySmtp(large)).reply.code, 250)

  await postgresql.stopServer('SIGQUIT')
  const waiting = Promise.all([byRest('one'), byRest(large), byRest('two')])
  const waitingToo = bySmtp('three')
  const readiness = (status: number) => async () => {
    const answer = await rest.call('GET', '/readyz')
    return answer.status === status ? answer.body : undefined
  }
  t.like(await waitFor('the daemon is not ready', readiness(503)), {
    status: 'not_ready',
    reasons: ['the database has not answered for 3 seconds; requests wait for it'],
  })
  t.is((await rest.call('GET', '/healthz')).status, 200)
  await postgresql.startServer()
  for (const { status } of await waiting) t.is(status, 200)
  t.is((await waitingToo).reply.code, 250)
  t.like(await waitFor('the daemon is ready again', readiness(200)), { status: 'ready', reasons: [] })
  t.is(await isKept(), 8)
  t.is((await daemon.stop()).code, 0)
})

testWith('postgresql')('unavailable database: waiting requests get a response before the daemon stops', async (t) => {
  await using postgresql = await Postgresql.start()
  await using folder = await temporaryFolder('gone')
  await using daemon = await Daemon.start({ folder: folder.path, env: { POSTERN_STORE: await postgresql.database() } })
  const { rest } = daemon
  const login = await makeLogin(rest, await makeDestination(rest, { name: 'Box', port: 9, mode: 'sandbox' }))
  const client = await SmtpClient.signIn({ port: portOf(daemon.addresses.submission[0]) }, login)
  t.teardown(() => client.destroy())
  await postgresql.stopServer('SIGQUIT')
  const content = Buffer.from('Subject: s\r\n\r\nt\r\n')
  const [byRest, bySmtp, { code }] = await Promise.all([
    rest.call('POST', '/v1/messages', { ...mail, text: 'one' }),
    client.send({ from: mail.from, to: [mail.to], content }),
    daemon.exited,
  ])
  t.is(byRest.status, 503)
  t.is(byRest.headers['retry-after'], '5')
  t.like(byRest.body, { error: { code: 'overloaded', next_action: 'retry_later' } })
  t.is(bySmtp.reply.code, 451)
  t.regex(JSON.stringify(bySmtp.reply), /4\.3\.2/)
  t.is(code, 70)
})
