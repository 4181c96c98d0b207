/** Plans with the whole daemon: the operator's command line, quotas by REST and SMTP, and the sweep at the next start. */
import test from '#test'
import { Daemon, portOf, runCommand } from '../../support/daemon/daemon.ts'
import { waitFor } from '../../support/waits.ts'
import { makeDestination, makeLogin } from '../../support/daemon/provision.ts'
import { SmtpClient } from '../../support/smtp/smtp-client.ts'
import { temporaryFolder } from '../../support/daemon/workspace.ts'
import { assertVerified } from '../../support/problems.ts'

test('plan limits: apply to REST and SMTP, and the next start removes data above them', async (t) => {
  await using folder = await temporaryFolder('plans')
  const options = { folder: folder.path, env: { POSTERN_PLAN: 'free', POSTERN_OPERATOR_KEY: `svcop_${'o'.repeat(43)}` } }
  await using daemon = await Daemon.start(options)
  const { rest, adminKey } = daemon
  const operate = async (line: string): Promise<string> => {
    const args = [...line.split(' '), '--url', `http://${daemon.addresses.http}`]
    const { code, output } = await runCommand(options, 'operator', ...args)
    t.is(code, 0, output)
    return output
  }
  const [, organizationId = ''] = /^(org_\w+)/m.exec(await operate('organizations')) ?? []
  await operate(`limit ${organizationId} sends_per_day=5 traces_stored=2`)

  const send = () => rest.call('POST', '/v1/messages', { from: 'shop@example.com', to: 'ada@example.org', subject: 'x', text: 'x' })
  for (let i = 0; i < 4; i++) t.is((await send()).status, 200)
  const login = await makeLogin(rest, await makeDestination(rest, { name: 'Nowhere', port: 9, mode: 'sandbox' }))
  const client = await SmtpClient.signIn({ port: portOf(daemon.addresses.submission[0]) }, login)
  t.teardown(() => client.destroy())
  const letter = { from: 'shop@example.com', to: ['ada@example.org'], content: Buffer.from('Subject: x\r\n\r\nx\r\n') }
  t.is((await client.send(letter)).reply.code, 250)
  const refused = (await client.send(letter)).reply
  t.is(refused.code, 450)
  t.regex(JSON.stringify(refused), /4\.7\.1 The plan free includes 5 sends per day\./)
  const byRest = await send()
  t.is(byRest.status, 402)
  t.like((byRest.body as { error: object }).error, { code: 'quota_exceeded', next_action: 'settle_payment' })
  await operate(`payment ${organizationId} manual_ok`)
  t.is((await send()).status, 200)
  t.regex(await operate(`usage ${organizationId}`), /smtp_messages +Messages sent by SMTP +1\n/)

  await operate(`payment ${organizationId} none`)
  t.is((await daemon.stop()).code, 0)
  await using again = await Daemon.start(options, adminKey)
  const stored = async (): Promise<number> => (await Array.fromAsync(again.rest.rows('/v1/traces'))).length
  await waitFor('the sweep', async () => (await stored()) <= 2)
  t.is(await stored(), 2)
  t.like((await again.rest.must('GET', '/v1/usage'))['limits'], { 1: { name: 'traces_stored', used: 2, limit: 2 } })
  t.is((await again.stop()).code, 0)
  assertVerified(t, await runCommand(options, 'verify'))
})
