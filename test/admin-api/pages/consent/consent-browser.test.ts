/** Consent in Chromium, with and without scripts; axe-core checks all states of the page at two widths. */
import type { ExecutionContext } from 'ava'
import { leave, startApplication } from '../../../support/web/application.ts'
import { browserOf } from '../../../support/web/browser.ts'
import { asking, exchange, join, loopbackRedirect, registered, signedInServer } from '../consent-requests.ts'
import { openTab, titleOf } from '../tab.ts'
import { testWith } from '../../../support/peers/peers.ts'

const test = testWith('chromium')

const browser = browserOf(test)

async function journey(t: ExecutionContext, hasScripts: boolean): Promise<void> {
  const { server } = await signedInServer(t, 'olga@example.ch')
  const tab = await openTab(t, browser(), { hasScripts })
  const redirect_uri = await startApplication(t)
  const request = asking(server, { scope: 'api:read api:send', redirect_uri })
  await tab.open(server.url + request.path)
  t.is(await titleOf(tab), 'Sign in')
  await tab.page.fill('#email', 'olga@example.ch')
  await tab.press('text=Send link')
  await tab.signIn((await server.mailTo('olga@example.ch')).link)
  t.is(await titleOf(tab), 'Connect Nightly <report>')

  t.false(await tab.page.isVisible('#name'))
  await tab.page.selectOption('#place', { label: 'New project' })
  t.true(await tab.page.isVisible('#name'))
  await tab.press('button:has-text("Connect")')
  t.is(await titleOf(tab), 'Problem: Connect Nightly <report>')
  await tab.page.click('[role=alert] a')
  await tab.page.fill('#name', 'Shop')
  t.false(await tab.page.isChecked('text=Send real mail'))
  t.regex(await tab.page.innerText('#api-send-hint'), /^Requested\./)
  const { status, body } = await exchange(server, request, await leave(tab.page, 'button:has-text("Connect")'))
  t.is(status, 200)
  t.is(body['scope'], 'api:read')

  await tab.open(`${server.url}/account/applications`)
  t.regex(await tab.page.innerText('main'), /In the project Shop of Default/)
  await tab.press('text=Revoke >> nth=-1')
  t.regex(await tab.page.innerText('main'), /No application has access/)
  await t.throwsAsync(server.oauth.tokenCheck.bearer(String(body['access_token']), 'rest'))

  await tab.open(server.url + asking(server, { redirect_uri }).path)
  const denied = await leave(tab.page, 'button:has-text("Refuse")')
  t.is(new URL(denied).searchParams.get('error'), 'access_denied')
}

test('consent: from the application through sign-in and back, with scripts', (t) => journey(t, true))
test('consent: from the application through sign-in and back, without scripts', (t) => journey(t, false))

test('consent: an application gets the result in its own window', async (t) => {
  const { server } = await signedInServer(t, 'olga@example.ch')
  const tab = await openTab(t, browser())
  await tab.signIn(await server.operatorLink('olga@example.ch'))
  const redirect_uri = await startApplication(t)
  await tab.page.goto(redirect_uri)
  const opened = tab.page.waitForEvent('popup')
  await tab.page.evaluate(`void window.open(${JSON.stringify(server.url + asking(server, { redirect_uri }).path)}, 'ask', 'popup')`)
  const popup = await opened
  await popup.waitForSelector('#place')
  await leave(popup, 'button:has-text("Connect")')
  t.true(await popup.evaluate('window.opener !== null'))
})

test('consent: all states of the page pass all checks', async (t) => {
  const { server } = await signedInServer(t, 'olga@example.ch')
  for (const colorScheme of ['light', 'dark'] as const) {
    const tab = await openTab(t, browser(), { colorScheme })
    const email = `${colorScheme}@example.ch`
    await tab.signIn(await server.operatorLink(email))
    const outsider = await registered(server, loopbackRedirect)
    const open = (changes = {}) => tab.open(server.url + asking(server, changes).path)
    await open({ prompt: 'consent' })
    t.regex(await tab.page.innerText('main'), /You are not a member of an organization yet/)
    await join(server, email, 'viewer', server.organizationId)
    await join(server, email, 'billing')
    await open({ client_id: outsider, redirect_uri: loopbackRedirect, scope: 'api:admin' })
    t.is(await tab.page.isDisabled('text=Change settings'), true)
    t.regex(await tab.page.innerText('#place'), /House of billing|Your role has no access/)
    await tab.page.evaluate("document.querySelector('#place').value = ''")
    await tab.press('button:has-text("Connect")')
    t.regex(await tab.page.innerText('[role=alert]'), /Choose where the application may work/)
    await open({ client_id: 'nobody' })
    t.is(await titleOf(tab), 'Invalid request')
  }
})

test('consent: the page fits a window of 900 px, and its buttons have one height', async (t) => {
  const { server } = await signedInServer(t, 'olga@example.ch')
  const tab = await openTab(t, browser())
  await tab.signIn(await server.operatorLink('olga@example.ch'))
  const client_id = await registered(server, loopbackRedirect)
  const local = { client_id, redirect_uri: loopbackRedirect, prompt: 'consent' }
  for (const [surface, scope] of [
    ['mcp', 'mcp:admin'],
    ['v1', 'api:admin'],
  ] as const) {
    await tab.open(server.url + asking(server, { ...local, resource: `${server.url}/${surface}`, scope }).path)
    await tab.page.setViewportSize({ width: 1440, height: 900 })
    t.true(await tab.page.evaluate<boolean>('document.documentElement.scrollHeight <= innerHeight'), surface)
    const heights = await tab.page.evaluate<number[]>("[...document.querySelectorAll('.decision button')].map((one) => one.offsetHeight)")
    t.is(heights.length, 2)
    t.is(heights[0], heights[1])
  }
})
