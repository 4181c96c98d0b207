/** Mail that is for several kinds of recipients at once, and a route for every local part beside those that have their own. */
import test from 'ava'
import { inboundMessages } from '#core/inbound-routes/message.ts'
import { inboundRoutes } from '#core/inbound-routes/route.ts'
import { inspectTests } from '#core/inspect/inspect-test.ts'
import { readWholeContent } from '#store/content.ts'
import { Change } from '#store/change.ts'
import { organizationId, projectId } from '../../core/house.ts'
import { SmtpClient, type Answer } from '../../support/smtp-client.ts'
import { startRig, type Rig } from './rig.ts'

const content = Buffer.from('Subject: for all\r\n\r\nx\r\n')

async function addRoute({ database }: Rig): Promise<void> {
  const route = { id: 'inr_1', projectId, localPartPattern: '*', webhookUrl: 'https://hooks.example.ch/', sealedSecret: '' }
  await database.commit(new Change().insert(inboundRoutes, organizationId, { ...route, createdAt: 1, updatedAt: 1 }))
}

async function send({ port }: Rig, to: readonly string[]): Promise<Answer> {
  const client = await SmtpClient.connect({ port })
  const answer = await client.send({ from: 'ada@peer.test', to, content })
  await client.quit()
  return answer
}

test('one mail to a test, a route and the postmaster, or to a route and a return path, comes to each of them, whole', async (t) => {
  const rig = await startRig(t)
  await addRoute(rig)
  const { anna = '', test: address = '', domain = '' } = rig.names
  t.true((await send(rig, [`sales@${domain}`, address, `postmaster@${domain}`])).accepted)
  t.is((await rig.kept()).length, 1)
  const tested = await rig.database.get(inspectTests, { organizationId }, rig.testId)
  const [routed, ...more] = await rig.database.all(inboundMessages, { organizationId })
  t.deepEqual(more, [])
  t.deepEqual(routed?.record.recipients, [`sales@${domain}`])
  for (const stored of [tested?.record.mail?.content, routed?.record.content])
    t.true(stored && Buffer.from(await readWholeContent(rig.database, organizationId, stored)).equals(content))
  t.like(rig.events.receptions, [{ testId: rig.testId, routed: [routed?.record.id], isKept: true }])
  t.true((await send(rig, [`sales@${domain}`, anna])).accepted)
  t.deepEqual(
    rig.feedback.taken.map(({ origin }) => origin.returnPath),
    [anna],
  )
  t.is((await rig.database.all(inboundMessages, { organizationId })).length, 2)
  t.deepEqual(rig.events.defects, [])
})

test('a route for every local part gets neither the mail of the postmaster, nor that of a test that is over, nor guesses', async (t) => {
  const rig = await startRig(t)
  await addRoute(rig)
  const { test: address = '', forged = '', domain = '' } = rig.names
  t.true((await send(rig, [`abuse@${domain}`])).accepted)
  rig.clock.advance(86_400_000)
  for (const gone of [address, forged]) t.like(await send(rig, [gone]), { accepted: false, reply: { code: 550 } })
  t.deepEqual(await rig.database.all(inboundMessages, { organizationId }), [])
  t.true((await send(rig, [`anybody@${domain}`])).accepted)
  t.is((await rig.database.all(inboundMessages, { organizationId })).length, 1)
})
