/** The operator reads failed logins, and the log names the attempted user. */
import test from '#test'
import { waitFor } from '../../support/waits.ts'
import { Daemon, portOf } from '../../support/daemon/daemon.ts'
import { RestClient } from '../../support/daemon/rest.ts'
import { SmtpClient } from '../../support/smtp/smtp-client.ts'
import { temporaryFolder } from '../../support/daemon/workspace.ts'

test('a failed SMTP login is listed and logged with its user and without a password', async (t) => {
  await using folder = await temporaryFolder('operator-logins')
  const key = `svcop_${'o'.repeat(43)}`
  await using daemon = await Daemon.start({ folder: folder.path, env: { POSTERN_OPERATOR_KEY: key } })
  const client = await SmtpClient.connect({ port: portOf(daemon.addresses.submission[0]) })
  t.is((await client.authenticate('smtp_somebody', 'the-password')).code, 535)
  client.destroy()
  using operator = new RestClient(daemon.addresses.http, key)
  const { data } = await operator.must('GET', '/operator/v1/smtp-logins')
  t.like(data, [{ address: '127.0.0.1', username: 'smtp_somebody', failures: 1, blocked: null }])
  await waitFor('the log line', () => /"tried_username":"smtp_somebody","reply":"535 5\.7\.8"/.test(daemon.log))
  t.notRegex(daemon.log, /the-password/)
})
