/** The daemon sends the spool in each round: mail of every key with a valid proof, and no forged mail. */
import { readdir } from 'node:fs/promises'
import test from '#test'
import { hashApiKey, keyNameOf } from '#core/access/keys/key-proof.ts'
import { sendmailProof } from '../../../admin-api/operator/sendmail-address.ts'
import { keepInSpool, type Head } from '../../../daemon/commands/sendmail/spool.ts'
import { SpoolRounds } from '../../../daemon/commands/sendmail/spool-rounds.ts'
import { startFixture } from '../../admin-api/rest/fixture/rest-fixture.ts'
import { operatorToken } from '../../support/daemon/start-daemon.ts'
import { temporaryFolder } from '../../support/daemon/workspace.ts'

const message = Buffer.from('From: shop@site.test\r\nTo: ann@inbox.test\r\nSubject: While away\r\n\r\nHello\r\n')

const headOf = (id: string, key: string): Head => {
  const head = { id, from: 'shop@site.test', to: ['ann@inbox.test'], by: keyNameOf(key) }
  return { ...head, proof: sendmailProof(hashApiKey(key), head, message) }
}

test('spool: a message is sent once with its proven key; a forged proof sends nothing', async (t) => {
  const fixture = await startFixture(t)
  const projectId = await fixture.addProject()
  const { key } = await fixture.rest.must('POST', '/v1/api-keys', { name: 'site', project_id: projectId, send_only: true })
  const { key: ended, id } = await fixture.rest.must('POST', '/v1/api-keys', { name: 'ended', scopes: ['api:send'] })
  await fixture.rest.must('DELETE', `/v1/api-keys/${String(id)}`)
  await using folder = await temporaryFolder('spool-rounds')
  const spool = folder.path
  const good = headOf('1-good', String(key))
  const forged: readonly Head[] = [
    { ...headOf('2-other-recipient', String(key)), to: ['eve@inbox.test'] },
    { ...headOf('3-other-key', 'svckey_unknown'), by: good.by },
    headOf('4-ended', String(ended)),
    { ...good, id: '5-copied' },
    { ...headOf('6-no-proof', String(key)), proof: undefined },
    { ...headOf('7-wildcard', String(key)), by: '' },
  ]
  for (const head of [good, ...forged]) await keepInSpool(spool, { head, message })
  const logged: string[] = []
  const rounds = new SpoolRounds({
    config: { dataDir: spool, sendmail: { url: null, key: null, spool, localRecipient: null } },
    log: { info: (fields: object) => logged.push(JSON.stringify(fields)), warn: (fields: object) => t.fail(JSON.stringify(fields)) },
    clock: fixture.clock,
    origin: `http://${fixture.address}`,
    ownToken: operatorToken,
  })
  await rounds.start()
  await rounds.idle()
  const { data } = (await fixture.rest.must('GET', '/v1/traces')) as { data: { project_id: string; recipients: string[] }[] }
  t.deepEqual(
    data.map(({ project_id: project }) => project),
    [projectId],
  )
  t.deepEqual(
    (await readdir(spool)).toSorted(),
    forged.map(({ id: name }) => `${name}.mail`),
  )
  fixture.clock.advance(60_000)
  await rounds.idle()
  t.is(logged.length, 1, 'waiting messages are logged once')
  await keepInSpool(spool, { head: headOf('8-later', String(key)), message })
  fixture.clock.advance(60_000)
  await rounds.idle()
  t.is(((await fixture.rest.must('GET', '/v1/traces'))['data'] as object[]).length, 2)
  await rounds.stop()
})
