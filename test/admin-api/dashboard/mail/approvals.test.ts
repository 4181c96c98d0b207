/** Approval of agent messages in Chromium: the overview reports waiting messages, and the trace links to the decision. */
import type { ExecutionContext } from 'ava'
import { parseMailbox, type Mailbox } from '#core/addresses.ts'
import { observed } from '#core/findings/finding.ts'
import { openFindings } from '../../rest/insights/finding-requests.ts'
import { waitFor } from '../../../support/waits.ts'
import { testWith } from '../../../support/peers/peers.ts'
import { browserOf } from '../../../support/web/browser.ts'
import { startDashboard, type DashboardServer } from '../dashboard-server.ts'
import { seed } from '../seed.ts'
import { openAs } from '../open-as.ts'

const test = testWith('chromium')
const browser = browserOf(test)

const later = { from: 'shop@alpenblick.example', to: 'later@example.org', text: 'Later.' }

function mailbox(text: string): Mailbox {
  const parsed = parseMailbox(text)
  if (!parsed) throw new Error(text)
  return parsed
}

/** Sends a message to real recipients as an agent. Returns its trace id. */
async function sendAsAgent(t: ExecutionContext, { daemon }: DashboardServer, destinationId: string): Promise<string> {
  const { project_id: projectId } = await daemon.rest.must('GET', '/v1/projects/me')
  await daemon.rest.must('PATCH', `/v1/projects/${String(projectId)}`, { agent_send_approval: 'always' })
  const { traceId, status } = await daemon.part('rest').sendMessages.send(
    {
      ...{ organizationId: daemon.organizationId, projectId: String(projectId), bound: true, scopes: ['api:send'], credentialId: 'grt_1' },
      agent: { level: 2, mostLevel: 2, sandboxOnly: false },
    },
    {
      from: mailbox('shop@alpenblick.example'),
      to: [mailbox('ada@example.org')],
      ...{ cc: [], bcc: [], replyTo: [], headers: [], attachments: [], subject: 'Spring offer', text: 'Ten percent off.', html: undefined },
      ...{ template: undefined, idempotencyKey: undefined, projectId: undefined, destinationId },
    },
  )
  t.is(status, 'awaiting_approval')
  return traceId
}

test('approvals: overview reports waiting mail; the trace links to the decision', async (t) => {
  const server = await startDashboard(t, browser)
  const { live } = await seed(t, server)
  const id = await sendAsAgent(t, server, live)
  await sendAsAgent(t, server, live)
  const project = String((await server.daemon.rest.must('GET', '/v1/projects/me'))['project_id'])
  await openFindings(server.daemon, server.daemon.organizationId, [
    observed('approval.waiting', project, { project: 'Default', count: 2 }, project),
  ])
  // more messages than the overview reads
  for (let n = 0; n < 55; n++) await server.daemon.rest.must('POST', '/v1/messages', { ...later, subject: `Later ${n}` })
  const tab = await server.open()
  const { page } = tab
  await tab.go('/')
  await page.waitForSelector('.look li:has-text("2 messages of agents wait for approval")')
  await tab.check(t)
  await page.click('.look li:has-text("approval") >> a:text-is("Review")')
  await page.waitForURL(/traces\?status=pending/)
  await page.waitForSelector('text=Spring offer')
  t.is(await page.locator('text=Spring offer').count(), 2)
  await tab.go(`/traces/${id}`)
  await page.waitForSelector('.trace-timeline >> text=Approval requested')
  await tab.check(t)
  await page.click('.trace-timeline >> text=Review and decide')
  await page.waitForSelector('h1:has-text("An agent wants to send this")')
  await page.click('text="Approve and send"')
  await page.waitForSelector('text=/Approved by olga/')
  await tab.go(`/traces/${id}`)
  await page.waitForSelector('.trace-timeline h3:has-text("Approved")')
  t.is(await page.locator('text=Review and decide').count(), 0)
})

test('approvals: an administrator requires approval of agent mail and undoes it', async (t) => {
  const server = await startDashboard(t, browser)
  await seed(t, server)
  const { project_id: projectId } = await server.daemon.rest.must('GET', '/v1/projects/me')
  const policy = async (): Promise<unknown> =>
    (await server.daemon.rest.must('GET', `/v1/projects/${String(projectId)}`))['agent_send_approval']
  const tab = await server.open()
  const { page } = tab
  await tab.go('/routing')
  const box = page.getByRole('checkbox', { name: /Approve mail from agents/ })
  await box.waitFor()
  t.false(await box.isChecked())
  await box.check()
  await page.waitForSelector('.toast')
  t.is(await policy(), 'always')
  await tab.check(t)
  await tab.go('/')
  await tab.go('/routing')
  await box.waitFor()
  t.true(await box.isChecked(), 'the choice is stored')
  await box.uncheck()
  await page.waitForSelector('.toast')
  t.is(await policy(), 'never')
  await page.click('.toast button')
  await page.waitForSelector('aside .check input:checked')
  // the screen shows the change before the service has stored it
  await waitFor('the policy is restored', async () => (await policy()) === 'always')
  const vera = await openAs(browser, server, 'viewer')
  await vera.go('/routing')
  t.true(await vera.page.getByRole('checkbox', { name: /Approve mail from agents/ }).isDisabled())
})

test('approvals: viewers can open the page but not decide', async (t) => {
  const server = await startDashboard(t, browser)
  const { live } = await seed(t, server)
  const id = await sendAsAgent(t, server, live)
  const vera = await openAs(browser, server, 'viewer')
  await vera.go(`/traces/${id}`)
  t.is(await vera.page.locator('text=Review and decide').count(), 0)
  await vera.page.click('.trace-timeline >> text=View message')
  await vera.page.waitForSelector('text=Your role cannot approve this message')
})
