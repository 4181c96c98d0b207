/** User journeys in Chromium, with and without scripts; axe-core checks every page at two widths. */
import type { ExecutionContext } from 'ava'
import { addAuthenticator, axeFaults, browserOf, withoutAutofill } from '../../support/web/browser.ts'
import { passkeys } from '#core/people/sign-in/passkey.ts'
import { userByEmail } from '#core/people/users/user.ts'
import { Change } from '#store/change.ts'
import { startPageServer, type PageServer } from './page-server.ts'
import { openTab as openTabIn, titleOf, type Tab, type TabOptions } from './tab.ts'
import { testWith } from '../../support/peers/peers.ts'

const test = testWith('chromium')

const browser = browserOf(test)

const openTab = (t: ExecutionContext, options?: TabOptions): Promise<Tab> => openTabIn(t, browser(), options)

/** From the link of the first start to a member who accepted a mailed invitation. */
async function journey(t: ExecutionContext, server: PageServer, hasScripts: boolean): Promise<void> {
  const olga = await openTab(t, { hasScripts })
  await olga.open(server.ownerLink)
  await olga.page.fill('#email', 'olga@example.ch')
  await olga.page.fill('#organization', 'Alpenblick')
  await olga.press('text=Sign in >> visible=true >> nth=-1')
  await olga.open(`${server.url}/organizations`)
  t.is(await titleOf(olga), 'Organizations')
  await olga.press('text=Members')
  await olga.page.fill('#email', 'nonsense')
  await olga.press('text=Invite >> visible=true >> nth=-1')
  t.is(await titleOf(olga), 'Problem: Members of Alpenblick')
  t.is(await olga.page.getAttribute('#email', 'aria-invalid'), 'true')
  await olga.page.fill('#email', 'ben@example.ch')
  await olga.page.selectOption('#invite-role', 'developer')
  await olga.press('text=Invite >> visible=true >> nth=-1')

  const ben = await openTab(t, { hasScripts, colorScheme: 'dark' })
  await ben.open((await server.mailTo('ben@example.ch')).link)
  await ben.press('text=Email me a sign-in link')
  t.is(await titleOf(ben), 'Check your email')
  // the link also works on another device than the requesting one
  const phone = await openTab(t, { hasScripts })
  await phone.signIn((await server.mailTo('ben@example.ch')).link)
  t.is(await titleOf(phone), 'Invitation to Alpenblick')
  await phone.press('text=Accept')
  t.regex(await phone.page.innerText('main'), /You are now a member\.[^]*Developer/)
  await phone.press('a:has-text("Members")')
  t.regex(await phone.page.innerText('main'), /olga@example\.ch/)

  await olga.open(olga.page.url())
  await olga.page.click('summary:has-text("Manage")')
  if (hasScripts) t.deepEqual(await axeFaults(olga.page), [])
  await olga.page.selectOption('select[name=role]', 'viewer')
  await olga.press('text=Change role')
  t.regex(await olga.page.innerText('main'), /The role is changed\.[^]*Viewer/)
  await phone.press('text=Sign out')
  t.is(await titleOf(phone), 'Signed out')
}

test('all steps with scripts', async (t) => journey(t, await startPageServer(t), true))
test('all steps without scripts', async (t) => journey(t, await startPageServer(t), false))

test('pages: pass all checks in every language', async (t) => {
  const server = await startPageServer(t)
  const titles = { de: 'Anwendungen mit Zugriff', fr: 'Applications autorisées', it: 'Applicazioni con accesso' }
  for (const [locale, title] of Object.entries(titles)) {
    const tab = await openTab(t, { hasScripts: false, locale })
    await tab.open(`${server.url}/sign-in`)
    await tab.signIn(await server.operatorLink('ada@example.ch'))
    await tab.open(`${server.url}/account/applications`)
    t.is(await titleOf(tab), title)
    await tab.open(`${server.url}/integrations`)
  }
})

const profile = '/settings/you'

/** Returns Ada's tab at her profile, after a passkey was added. She is not a member of an organization. */
async function tabWithPasskey(t: ExecutionContext, server: PageServer): Promise<Tab> {
  await openTab(t).then(async (olga) => olga.signIn(server.ownerLink))
  const tab = await openTab(t)
  await addAuthenticator(tab.page)
  await withoutAutofill(tab.page)
  await tab.signIn(await server.operatorLink('ada@example.ch'))
  await addPasskey(tab, server)
  return tab
}

async function addPasskey({ page }: Tab, server: PageServer): Promise<void> {
  await page.goto(server.url + profile)
  await page.click('button:text-is("Add a passkey")')
  await page.click('button:text-is("Create passkey")')
  await page.waitForSelector('.toast >> text=Passkey added')
}

const signInPage = `/sign-in?next=${encodeURIComponent(profile)}`

test('passkeys: add, sign in, confirm the user, and remove', async (t) => {
  const server = await startPageServer(t)
  const tab = await tabWithPasskey(t, server)
  const { page } = tab
  t.is((await server.mailTo('ada@example.ch')).subject, 'A passkey was added')
  await tab.press('button:text-is("Sign out")')

  await tab.open(server.url + signInPage)
  await page.click('text=Use a passkey')
  await page.waitForURL(server.url + profile)
  await page.waitForSelector('[aria-labelledby=profile-sessions] >> text=by passkey')

  server.clock.advance(10 * 60_000)
  await page.reload()
  await page.click('[aria-label^="Remove the passkey"]')
  await page.click('dialog >> a:text-is("Confirm")')
  await page.click('text=Use a passkey')
  await page.waitForURL(server.url + profile)
  await page.click('[aria-label^="Remove the passkey"]')
  await page.click('dialog >> button:text-is("Remove")')
  await page.waitForSelector('.toast >> text=Passkey removed')
  await tab.press('button:text-is("Sign out")')
  await tab.open(`${server.url}/sign-in`)
  await tab.press('text=Use a passkey')
  t.regex(await page.innerText('main'), /is no longer valid here/)
})

test('passkeys: the browser offers one in the address field', async (t) => {
  const server = await startPageServer(t)
  const tab = await openTab(t)
  await addAuthenticator(tab.page)
  await tab.signIn(await server.operatorLink('ada@example.ch'))
  await addPasskey(tab, server)
  await tab.press('button:text-is("Sign out")')
  await tab.page.goto(server.url + signInPage)
  await tab.page.waitForURL(server.url + profile)
  await tab.page.waitForSelector('[aria-labelledby=profile-sessions] >> text=by passkey')
})

test('passkeys: the response of an authenticator works once', async (t) => {
  const server = await startPageServer(t)
  const tab = await tabWithPasskey(t, server)
  await tab.press('button:text-is("Sign out")')
  await tab.open(`${server.url}/sign-in`)
  const [request] = await Promise.all([tab.page.waitForRequest(/\/sign-in\/passkey$/), tab.press('text=Use a passkey')])
  const replay = async (body: string) =>
    (
      await fetch(`${server.url}/sign-in/passkey`, {
        method: 'POST',
        redirect: 'manual',
        headers: { origin: server.url, 'content-type': 'application/x-www-form-urlencoded' },
        body,
      })
    ).status
  const sent = request.postData() ?? ''
  t.regex(sent, /response=%7B/)
  t.is(await replay(sent), 401)
  t.is(await replay(sent.replace('signature', 'signatur')), 401)
  t.is(await replay('response=%7B%7D'), 401)
})

test('passkeys: a decreased signature count is refused as a copy', async (t) => {
  const server = await startPageServer(t)
  const tab = await tabWithPasskey(t, server)
  await tab.press('button:text-is("Sign out")')
  const user = await userByEmail(server.database, 'ada@example.ch')
  const organizationId = user?.record.id ?? ''
  const [stored] = await server.database.all(passkeys, { organizationId })
  if (!stored) throw new Error('the passkey is missing')
  await server.database.commit(new Change().rewrite(passkeys, organizationId, stored, { ...stored.record, counter: 1000 }))
  await tab.open(`${server.url}/sign-in`)
  await tab.press('text=Use a passkey')
  t.regex(await tab.page.innerText('main'), /is no longer valid here/)
})

test('pages: refusals and missing mail settings pass all checks', async (t) => {
  const server = await startPageServer(t, { hasMail: false })
  const tab = await openTab(t)
  for (const path of ['/sign-in/link/used', '/invitations/used', '/sign-in', '/signed-out']) await tab.open(server.url + path)
  await tab.open(`${server.url}/sign-in`)
  t.regex(await tab.page.innerText('main'), /postern login-link/)
})

for (const hasScripts of [true, false])
  test(`invitations: a link without mail, ${hasScripts ? 'with' : 'without'} scripts`, async (t) => {
    const server = await startPageServer(t, { hasMail: false })
    const olga = await openTab(t, { hasScripts })
    await olga.open(server.ownerLink)
    await olga.page.fill('#email', 'olga@example.ch')
    await olga.page.fill('#organization', 'Alpenblick')
    await olga.press('text=Sign in >> visible=true >> nth=-1')
    await olga.open(`${server.url}/organizations`)
    await olga.press('text=Members')
    await olga.page.fill('#email', 'ben@example.ch')
    await olga.press('button:has-text("Invite")')
    t.regex(await olga.page.innerText('[role=status]'), /Give this link to ben@example\.ch/)
    const first = await olga.page.innerText('.target')
    await olga.press('text=New link')
    const link = await olga.page.innerText('.target')
    t.not(link, first)
    const ben = await openTab(t, { hasScripts })
    await ben.open(first)
    t.is(await titleOf(ben), 'Nothing here')
    await ben.open(link)
    t.regex(await ben.page.innerText('.facts'), /ben@example\.ch/)
    await ben.press('button:has-text("Join")')
    await ben.open(`${server.url}/organizations`)
    t.is(await titleOf(ben), 'Organizations')
    t.regex(await ben.page.innerText('main'), /Developer/)
    const eve = await openTab(t, { hasScripts })
    await eve.open(link)
    t.is(await titleOf(eve), 'Nothing here', 'it works once')
  })
