/** Deletion of a project: it disappears immediately, stays deleted after a kill, and its data are removed. */
import test from '#test'
import { Daemon, newAdminKey, runCommand } from '../../support/daemon/daemon.ts'
import { makeDestination } from '../../support/daemon/provision.ts'
import { RestClient } from '../../support/daemon/rest.ts'
import { Sink } from '../../support/smtp/sink.ts'
import { temporaryFolder } from '../../support/daemon/workspace.ts'
import { assertVerified } from '../../support/problems.ts'

test('deleted project: stays deleted after a kill, and a later run removes its data', async (t) => {
  await using folder = await temporaryFolder('project')
  await using sink = await Sink.listen()
  const key = newAdminKey()
  const options = { folder: folder.path }
  const plain = { from: 'shop@site.test', to: 'ada@peer.test', text: 'Thank you.' }
  let project = ''
  {
    await using daemon = await Daemon.start(options, key)
    const { rest } = daemon
    project = String((await rest.must('POST', '/v1/projects', { name: 'Short-lived' }))['id'])
    const minted = await rest.must('POST', '/v1/api-keys', { name: 'inner', scopes: ['api:admin'], project_id: project })
    using inner = new RestClient(daemon.addresses.http, String(minted['key']))
    const target = { name: 'sink', port: sink.port, mode: 'live' } as const
    const [ours, theirs] = [await makeDestination(rest, target), await makeDestination(inner, target)]
    const before = Date.now()
    await Promise.all(Array.from({ length: 200 }, () => inner.must('POST', '/v1/messages', plain)))
    const later = Date.now() + 5000 + 4 * (Date.now() - before) // later than the end of this run, also on a slow machine
    const at = (ms: number) => new Date(ms).toISOString()
    await inner.must('POST', '/v1/messages', { ...plain, destination_id: theirs, send_at: at(later) })
    await rest.must('POST', '/v1/messages', { ...plain, destination_id: ours, send_at: at(later + 100), to: 'witness@peer.test' })
    t.is((await rest.call('DELETE', `/v1/projects/${project}`)).status, 409)
    t.is((await rest.call('DELETE', `/v1/projects/${project}?discard_queued=true`)).status, 204)
    t.is((await inner.call('GET', '/v1/projects/me')).status, 401)
    await daemon.kill()
  }
  assertVerified(t, await runCommand(options, 'verify'))
  {
    await using daemon = await Daemon.start(options, key)
    t.is((await daemon.rest.call('GET', `/v1/projects/${project}`)).status, 404)
    t.is(((await daemon.rest.must('GET', '/v1/traces?limit=200'))['data'] as unknown[]).length, 1)
    await sink.delivered(({ to }) => to.includes('witness@peer.test')) // the removal time of the other project has passed
    t.is((await daemon.stop()).code, 0)
  }
  t.is(sink.deliveries.length, 1)
  // each run continues the work of the previous one and runs longer: on a slow machine, a short run makes no progress
  for (let lives = 0; ; lives++) {
    const verified = await runCommand(options, 'verify')
    assertVerified(t, verified)
    if (/ 1 contents, 0 queue entries: all agree/.test(verified.output)) break
    t.true(lives < 20, verified.output)
    await using daemon = await Daemon.start(options, key)
    for (let asked = 0; asked < lives * 50; asked++) await daemon.rest.must('GET', '/v1/projects/me')
    t.is((await daemon.stop()).code, 0)
  }
})
