/** Agents in Chromium: connection by a copied configuration, latest call, revocation, and claims of sandboxes. */
import { addApplication } from '../../rest/fixture/stored-rows.ts'
import { browserOf } from '../../../support/web/browser.ts'
import { testWith } from '../../../support/peers/peers.ts'
import { startDashboard, type DashboardServer } from '../dashboard-server.ts'

const test = testWith('chromium')
const browser = browserOf(test)

type Rows = { readonly data: readonly { readonly user_id: string; readonly email: string; readonly id: string }[] }

/** Requests a claim for the owner as an agent without an account. Returns the user code. */
async function ask({ url }: DashboardServer): Promise<string> {
  const body = new URLSearchParams({ grant_type: 'client_credentials', client_id: 'anonymous-bootstrap', resource: `${url}/v1` })
  const { access_token: token } = (await (await fetch(`${url}/oauth/token`, { method: 'POST', body })).json()) as { access_token: string }
  const claim = await fetch(`${url}/v1/account/claim`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: JSON.stringify({ email: 'olga@alpenblick.example' }),
  })
  return ((await claim.json()) as { user_code: string }).user_code
}

test('agents: connect by the copied configuration, revoke with all tokens', async (t) => {
  const server = await startDashboard(t, browser)
  const tab = await server.open()
  const { page } = tab
  const { rest, database, organizationId } = server.daemon
  await tab.go('/settings/agents')
  await page.waitForSelector('text=No application has access.')
  await page.waitForSelector('text=No agent has asked olga@alpenblick.example to claim a sandbox')
  await page.keyboard.press('a')
  t.is(await page.evaluate('document.activeElement.name'), 'code')
  const address = await page.innerText('[data-mcp]')
  t.true((await fetch(address, { headers: { accept: 'text/html' } })).ok, 'the copied URL is the endpoint')
  await tab.check(t)
  for (const [client, text] of [
    ['Claude Code', `claude mcp add --transport http postern ${address}`],
    ['Codex', `codex mcp add postern --url ${address}`],
    ['VS Code', `code --add-mcp '{"name":"postern","type":"http","url":"${address}"}'`],
  ] as const) {
    await page.click(`.pills >> text=${client}`)
    t.is(await page.innerText('pre.code'), text)
  }
  await page.click('.pills >> text=Cursor')
  t.deepEqual(JSON.parse(await page.innerText('pre.code')), { mcpServers: { postern: { url: address } } })
  await page.waitForURL(/client=cursor/)
  await tab.check(t)
  const { data: members } = (await rest.must('GET', '/v1/members')) as unknown as Rows
  const { data: projects } = (await rest.must('GET', '/v1/projects')) as unknown as Rows
  const olga = members.find(({ email }) => email.startsWith('olga'))?.user_id ?? ''
  await addApplication(database, organizationId, projects[0]?.id ?? '', olga)
  await tab.go('/settings/agents')
  await page.waitForSelector('h2 >> text=One application has access.')
  await page.waitForSelector('tbody >> text=client.example.net')
  await tab.check(t)
  await page.click('[aria-label="Revoke Nightly report"] >> visible=true')
  await tab.check(t)
  await page.click('dialog >> button:has-text("Revoke")')
  await page.waitForSelector('.toast >> text=Nightly report no longer has access.')
  await page.waitForSelector('text=No application has access.')
  t.deepEqual((await rest.must('GET', '/v1/applications'))['data'], [])
})

test('agents: claim a pending sandbox; a wrong code shows an error at the field', async (t) => {
  const server = await startDashboard(t, browser)
  const tab = await server.open({ colorScheme: 'dark' })
  const { page } = tab
  const code = await ask(server)
  await tab.go('/settings/agents')
  await page.waitForSelector(`.matching-code >> text=${code}`)
  await tab.check(t)
  await page.keyboard.press('a')
  t.is(await page.evaluate('document.activeElement.getAttribute("aria-label")'), `Attach ${code}`)
  await page.getByLabel('Code', { exact: true }).fill('NOPE-0000')
  await page.click('form >> button:has-text("Attach")')
  await page.waitForSelector('text=This code is wrong, expired or already used.')
  await tab.go('/settings/agents')
  await page.click(`[aria-label="Attach ${code}"]`)
  await page.waitForSelector('text=Is this your agent?')
  await page.waitForSelector(`b >> text=${code}`)
  await page.click('text=Claim sandbox')
  await page.waitForURL(/\/organizations\/org_.*done=claimed/)
})
