/** Deletion of an organization: only by its owner, after a recent sign-in, by its name; everything stops at once. */
import test from '#test'
import { auditEntries } from '#core/writes/audit.ts'
import { unpack, within } from '#store/tuple.ts'
import { browserOf } from '../../../support/web/browser.ts'
import { testWith } from '../../../support/peers/peers.ts'
import { allowing, asking, decide, exchange, join, signedIn, signedInServer } from '../consent-requests.ts'
import { type PageServer } from '../page-server.ts'
import { openTab, titleOf } from '../tab.ts'
import { assertSound } from '../../../support/problems.ts'

const testInBrowser = testWith('chromium')
const browser = browserOf(testInBrowser)

test('deletion: requires the name and a recent sign-in, and stops everything at once', async (t) => {
  const { server } = await signedInServer(t, 'olga@example.ch')
  const ada = await signedIn(server, 'ada@example.ch')
  const { organizationId, place } = await join(server, 'ada@example.ch', 'owner')
  const request = asking(server, { prompt: 'consent' })
  const { location } = await decide(ada, request.path, allowing(place, 'api:read'))
  const token = String((await exchange(server, request, location)).body['access_token'])
  const path = `/organizations/${organizationId}/delete`
  t.regex((await ada.get(`/organizations/${organizationId}/members`)).html, new RegExp(`href="${path}"`))

  const wrong = await ada.send(path, path, { name: 'House' })
  t.is(wrong.status, 400)
  t.regex(wrong.html, /Enter the exact name: House of owner/)
  t.is((await ada.post(path, { name: 'House of owner' })).status, 403, 'without the token of the session')
  t.is((await ada.post(path, { name: 'House of owner' }, { origin: 'https://evil.example' })).status, 403)
  server.clock.advance(10 * 60_000)
  const csrf = await ada.csrf('/account/applications')
  t.regex((await ada.post(path, { name: 'House of owner', csrf })).location, /^\/sign-in\?again=1/)
  t.notRegex((await ada.get(path)).html, /Delete organization/)
  await t.notThrowsAsync(server.oauth.tokenCheck.bearer(token, 'rest'))

  await ada.signIn('ada@example.ch')
  t.is((await ada.send(path, path, { name: ' House of owner ' })).location, '/organizations?done=ended')
  t.regex((await ada.get('/organizations')).html, /You are not a member of an organization yet/)
  for (const gone of [path, `/organizations/${organizationId}/members`]) t.is((await ada.get(gone)).status, 404)
  await t.throwsAsync(server.oauth.tokenCheck.bearer(token, 'rest'))
  const acts = await server.database.all(auditEntries, { organizationId })
  t.true(acts.some(({ record }) => record.act === 'organization.deleted' && record.actor.kind === 'user'))

  await server.daemon.part('rest').restoreOrganization(organizationId)
  t.is((await ada.get(path)).status, 200, 'the operator restored it')
  await t.notThrowsAsync(server.oauth.tokenCheck.bearer(token, 'rest'))
})

test('deletion: after a month, no rows of the organization remain', async (t) => {
  const { server, pageClient: ada } = await signedInServer(t, 'ada@example.ch')
  const before = await rowsOf(server)
  const { organizationId } = await join(server, 'ada@example.ch', 'owner')
  const members = `/organizations/${organizationId}/members`
  await ada.send(members, `${members}/invite`, { email: 'ben@example.ch', role: 'viewer' })
  await server.mails()
  const path = `/organizations/${organizationId}/delete`
  t.is((await ada.send(path, path, { name: 'House of owner' })).location, '/organizations?done=ended')
  t.true((await rowsOf(server)) > before)
  server.clock.advance(31 * 86_400_000)
  server.removals.wake()
  t.is(await rowsOf(server), before)
  t.deepEqual(await server.people.invitations.forAddress('ben@example.ch'), [])
  await assertSound(t, server)
})

/** Returns rows and look-ups of organizations other than the first, without mail of the service and invoices. */
async function rowsOf({ daemon, database, organizationId }: PageServer): Promise<number> {
  await daemon.settled()
  let count = 0
  for await (const { key, value } of database.kv.range(within([]))) {
    if (JSON.stringify(unpack(key)).includes('"invoice')) continue // kept after the deletion of the organization
    const text = `${JSON.stringify(unpack(key))} ${Buffer.from(value).toString('latin1')}`
    if (/org_[0-9a-f]{32}/.test(text.replaceAll(organizationId, ''))) count++
  }
  return count
}

test('deletion: only an owner can delete, and the first organization is kept', async (t) => {
  const { server, pageClient: olga } = await signedInServer(t, 'olga@example.ch')
  const [ben, eve] = [await signedIn(server, 'ben@example.ch'), await signedIn(server, 'eve@example.ch')]
  const { organizationId } = await join(server, 'eve@example.ch', 'owner')
  await join(server, 'ben@example.ch', 'admin', organizationId)
  const path = `/organizations/${organizationId}/delete`
  for (const pageClient of [olga, ben]) {
    t.is((await pageClient.get(path)).status, 404)
    t.is((await pageClient.post(path, { csrf: await pageClient.csrf('/account/applications'), name: 'House of owner' })).status, 404)
  }
  t.notRegex((await ben.get(`/organizations/${organizationId}/members`)).html, /Delete this organization/)
  t.is((await eve.get(path)).status, 200)
  const first = `/organizations/${server.organizationId}/delete`
  const refused = await olga.send(first, first, { name: 'Default' })
  t.is(refused.status, 400)
  t.regex(refused.html, /The first organization belongs to the service itself/)
  t.is((await olga.get(`/organizations/${server.organizationId}/members`)).status, 200)
})

testInBrowser('the page is as good as the others, and its problem leads to the field', async (t) => {
  const { server } = await signedInServer(t, 'olga@example.ch')
  await signedIn(server, 'ada@example.ch')
  await join(server, 'ada@example.ch', 'owner')
  const tab = await openTab(t, browser())
  await tab.signIn(await server.operatorLink('ada@example.ch'))
  await tab.open(`${server.url}/organizations`)
  await tab.press('text=Members')
  await tab.press('text=Delete this organization')
  await tab.page.fill('#name', 'Something else')
  await tab.press('text=Delete organization')
  t.is(await titleOf(tab), 'Problem: Delete House of owner')
  await tab.page.click('[role=alert] a')
  await tab.page.fill('#name', 'House of owner')
  await tab.press('text=Delete organization')
  t.regex(await tab.page.innerText('main'), /The organization is deleted/)
})
