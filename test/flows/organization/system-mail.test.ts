/** Mail of the service itself with the whole daemon: a sign-in link uses the operator's destination, and no key can read it. */
import test from '#test'
import { Daemon, runCommand } from '../../support/daemon/daemon.ts'
import { waiting } from '../../support/waits.ts'
import { makeDestination } from '../../support/daemon/provision.ts'
import { Sink } from '../../support/smtp/sink.ts'
import { temporaryFolder } from '../../support/daemon/workspace.ts'
import { programPort } from '../../support/network/program-port.ts'
import { assertVerified } from '../../support/problems.ts'

test('sign-in link: uses the configured destination; its trace has no organization', async (t) => {
  await using folder = await temporaryFolder('system-mail')
  await using sink = await Sink.listen()
  const listen = { POSTERN_HTTP_LISTEN: `127.0.0.1:${await programPort()}` }
  const first = await Daemon.start({ folder: folder.path, env: listen })
  const destinationId = await makeDestination(first.rest, { name: 'Sink', port: sink.port, mode: 'live' })
  t.is((await first.stop()).code, 0)

  const env = { ...listen, POSTERN_SYSTEM_DESTINATION: destinationId, POSTERN_SYSTEM_FROM: 'Post <post@example.ch>' }
  const options = { folder: folder.path, env }
  await using daemon = await Daemon.start(options, first.adminKey)
  const origin = `http://${daemon.addresses.http}`
  const post = (path: string, form: Readonly<Record<string, string>> = {}) =>
    fetch(origin + path, { method: 'POST', body: new URLSearchParams(form), redirect: 'manual', headers: { origin } })
  const own = /\/sign-in\/link\/[\w-]{43}/.exec((await runCommand(options, 'login-link', 'olga@example.ch')).output)?.[0] ?? ''
  t.is((await post(own)).status, 303)

  t.is((await post('/sign-in', { email: 'olga@example.ch' })).status, 200)
  const delivery = await waiting(
    'the mail arrives',
    sink.delivered(({ to }) => to.includes('olga@example.ch')),
  )
  const message = Buffer.from(delivery.content).toString('latin1')
  t.regex(message, /^From: Post <post@example\.ch>\r$/m)
  t.regex(message, /^Auto-Submitted: auto-generated\r$/m)
  const link = /\/sign-in\/link\/[\w-]{43}/.exec(message)?.[0] ?? ''
  t.deepEqual((await daemon.rest.must('GET', '/v1/traces'))['data'], [])
  const [, token = ''] = /^X-Service-Ref: (\S+)\r$/m.exec(message) ?? []
  t.not(token, '')
  t.is((await daemon.rest.call('GET', `/v1/traces/${token}`)).status, 404)
  t.is((await post(link)).status, 303)
  t.is((await post(link)).status, 404)
  t.false(daemon.log.includes(link.slice(-43)), 'no link is in the log')
  t.is((await daemon.stop()).code, 0)
  assertVerified(t, await runCommand(options, 'verify'))
})
