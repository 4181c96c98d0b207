/** The claim of a sandbox in Chromium, with and without scripts; axe-core checks every page. */
import type { ExecutionContext } from 'ava'
import { axeFaults, browserOf, overflows, type Page } from '../../../support/web/browser.ts'
import { askedBy } from '../sandbox.ts'
import { startPageServer } from '../page-server.ts'
import { testWith } from '../../../support/peers/peers.ts'

const test = testWith('chromium')

const browser = browserOf(test)

/** Clicks an element or opens an address, and checks the resulting page. */
async function go(t: ExecutionContext, page: Page, to: { readonly press: string } | { readonly open: string }, hasScripts: boolean) {
  if ('open' in to) await page.goto(to.open)
  else await Promise.all([page.waitForEvent('load'), page.click(to.press)])
  t.deepEqual(await overflows(page), [], page.url())
  if (hasScripts) t.deepEqual(await axeFaults(page), [], page.url()) // axe-core needs scripts
}

async function journey(t: ExecutionContext, hasScripts: boolean): Promise<void> {
  const server = await startPageServer(t, { signUp: 'open' })
  const { code } = await askedBy(server, 'ada@example.ch')
  const context = await browser().newContext({ javaScriptEnabled: hasScripts, colorScheme: hasScripts ? 'dark' : 'light' })
  t.teardown(() => context.close())
  const page = await context.newPage()
  const press = (selector: string) => go(t, page, { press: selector }, hasScripts)
  await go(t, page, { open: (await server.mailTo('ada@example.ch')).link }, hasScripts)
  await press('main >> text=Sign in >> nth=-1')
  t.regex(await page.innerText('main'), new RegExp(`Is this your agent\\?[^]*${code}[^]*first organization`))
  t.deepEqual(
    [await page.isChecked('[name=send_sandbox]'), await page.isChecked('[name=send_live]'), await page.isChecked('[name=admin]')],
    [true, false, false],
  )
  await page.check('text=Send to real recipients')
  await press('text=Claim sandbox')
  t.regex(await page.innerText('main'), /The sandbox is now yours/)

  const second = await askedBy(server, 'other@example.ch')
  await press('nav >> text=Integrations')
  t.regex(await page.innerText('main'), /No agent has asked/)
  await page.fill('#code', 'KITE-42')
  await press('button:has-text("Attach")')
  t.is(await page.getAttribute('#code', 'aria-invalid'), 'true')
  await page.fill('#code', second.code.toLowerCase())
  await press('button:has-text("Attach")')
  t.regex(await page.innerText('main'), /additional organization/)
  await press('text=Not now')
  const third = await askedBy(server, 'ada@example.ch')
  await go(t, page, { open: `${server.url}/integrations` }, hasScripts)
  await press(`[aria-label="Attach ${third.code}"]`)
  await press('text=Claim sandbox')

  await go(t, page, { open: (await server.mailTo('ada@example.ch')).link }, hasScripts)
  await press('button:has-text("End the session")')
  t.regex(await page.innerText('main'), /The session of the agent has ended/)
}

test('all steps with scripts', (t) => journey(t, true))
test('all steps without scripts', (t) => journey(t, false))
