/** The approval page in Chromium: the message is shown as it will be sent, runs nothing, and is sent after approval. */
import { parseMailbox, type Mailbox } from '#core/addresses.ts'
import { operatorLink } from '#core/people/sign-in/operator-link.ts'
import { testWith } from '../../../support/peers/peers.ts'
import { browserOf } from '../../../support/web/browser.ts'
import { addDestination } from '../../rest/fixture/rest-fixture.ts'
import { startPageServer } from '../page-server.ts'
import { openTab, settled } from '../tab.ts'

const test = testWith('chromium')
const browser = browserOf(test)

function mailbox(text: string): Mailbox {
  const parsed = parseMailbox(text)
  if (!parsed) throw new Error(text)
  return parsed
}

test('approval page: shows message, image and file, and approves', async (t) => {
  const server = await startPageServer(t)
  const { daemon, database, organizationId } = server
  const destinationId = await addDestination(daemon.rest, { credentials: { host: '8.8.8.8', port: 587, security: 'starttls' } }, true)
  const { project_id: projectId } = await daemon.rest.must('GET', '/v1/projects/me')
  await daemon.rest.must('PATCH', `/v1/projects/${String(projectId)}`, { agent_send_approval: 'always' })
  const { traceId, status } = await daemon.part('rest').sendMessages.send(
    {
      ...{ organizationId, projectId: String(projectId), bound: true, scopes: ['api:send'], credentialId: 'grt_1' },
      agent: { level: 2, mostLevel: 2, sandboxOnly: false },
    },
    {
      from: mailbox('Shop <shop@example.ch>'),
      to: [mailbox('"Ada <b>Example</b>" <ada@example.org>')],
      ...{ cc: [], replyTo: [], headers: [], subject: 'Your order', template: undefined, idempotencyKey: undefined },
      bcc: [mailbox('boss@hidden.example')],
      text: 'Thank you for your order.',
      html: '<h1 style="color:#093">Thank you</h1><script>document.title="run"</script><form action="/x"><button>Pay</button></form>',
      attachments: [],
      ...{ projectId: undefined, destinationId },
    },
  )
  t.is(status, 'awaiting_approval')
  const tab = await openTab(t, browser())
  await tab.signIn(server.url + new URL(await operatorLink(database, server.clock, 'olga@example.ch'), server.url).pathname)
  await tab.open(`${server.url}/organizations/${organizationId}/approvals/${traceId}`)
  await settled(tab.page)
  const text = await tab.page.locator('main').innerText()
  for (const word of ['"Ada <b>Example</b>" <ada@example.org>', 'boss@hidden.example', 'Your order', 'Thank you for your order.'])
    t.true(text.includes(word), word)
  const frame = tab.page.frameLocator('iframe')
  t.is(await frame.locator('h1').innerText(), 'Thank you')
  t.is(await frame.locator('form, script').count(), 0)
  await tab.press('text="Approve and send"')
  t.regex(await tab.page.locator('main').innerText(), /Approved by olga@example\.ch/)
  t.is(await tab.page.locator('button:has-text("Approve")').count(), 0)
  t.like(await daemon.rest.must('GET', `/v1/traces/${traceId}`), { status: 'queued' })
})
