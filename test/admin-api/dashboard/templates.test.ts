/** Template screens in Chromium: keyboard only from an empty list to a captured test. Covers all states of list and editor. */
import type { ExecutionContext } from 'ava'
import { browserOf } from '../../support/web/browser.ts'
import { testWith } from '../../support/peers/peers.ts'
import { waitFor } from '../../support/waits.ts'
import { startDashboard, type DashboardServer, type DashboardTab } from './dashboard-server.ts'

const test = testWith('chromium')
const browser = browserOf(test)

/** Part of a browser element that the color check needs. */
interface Styled {
  readonly ownerDocument: { readonly defaultView: { getComputedStyle(element: unknown): { readonly backgroundColor: string } } }
}

const order = {
  ...{ slug: 'order', name: 'Order', subject_tmpl: 'Your order {{.number}}', text_tmpl: 'Thank you, {{.name}}.' },
  html_tmpl: '<style>@media (prefers-color-scheme: dark) { body { background: black } }</style><h1>Thank you, {{.name}}</h1>',
}

const create = async ({ daemon }: DashboardServer, changes: object = {}): Promise<string> =>
  String((await daemon.rest.must('POST', '/v1/templates', { ...order, ...changes }))['id'])

async function tabToward(t: ExecutionContext, { page }: DashboardTab, name: string): Promise<void> {
  for (let i = 0; i < 60; i++) {
    await page.keyboard.press('Tab')
    const text = await page.evaluate(
      `(({ activeElement: one }) => one.getAttribute('aria-label') ?? (one.labels?.[0] ?? one).innerText ?? '')(document)`,
    )
    if (String(text).startsWith(name)) return
  }
  t.fail(`no ${name} by Tab`)
}

/** Holds the next save until the page contains `seen`. */
const holdSave = ({ page }: DashboardTab, seen: string): Promise<unknown> => {
  const hold = async (route: { continue(): Promise<void> }): Promise<void> => {
    await page.waitForSelector(seen)
    await route.continue()
  }
  return page.route('**/v1/templates/tpl_*', hold, { times: 1 })
}

test('templates, keyboard: create, write, save, test into an inbox, find', async (t) => {
  const server = await startDashboard(t, browser)
  const tab = await server.open()
  const { page } = tab
  const { keyboard } = page
  const tabTo = (name: string): Promise<void> => tabToward(t, tab, name)
  await keyboard.press('g')
  await keyboard.press('m')
  await page.waitForSelector('text=No templates yet')
  await tab.check(t)
  await keyboard.press('n')
  await page.waitForSelector('dialog')
  await keyboard.type('Shop order')
  await tabTo('Order confirmation')
  await keyboard.press('Enter')
  await tabTo('Create')
  await keyboard.press('Enter')
  await page.waitForURL(/\/templates\/tpl_/)
  await page.frameLocator('iframe.draft:not(.waiting)').locator('text=Thank you, Name').waitFor()
  await page.waitForSelector('.findings >> text=No problems found')
  await tabTo('Subject')
  await keyboard.press('End')
  await keyboard.type(' {{.nobody}}')
  await page.waitForSelector('.findings >> text=nobody is not declared in schema_json')
  await page.waitForSelector('.tag >> text=last version without problems')
  await tab.check(t)
  for (let i = 0; i < '{{.nobody}}'.length + 1; i++) await keyboard.press('Backspace')
  await keyboard.type('!')
  await page.waitForSelector('.subject-line >> text=Your order 17!')
  await page.waitForSelector('text=unsaved changes')
  await holdSave(tab, '.subject-line >> text=Your order 17!?')
  await Promise.all([page.waitForRequest('**/v1/templates/tpl_*'), keyboard.press('Control+s')])
  await keyboard.type('?') // during the save
  await page.waitForSelector('.toast >> text=Saved as version 2.')
  await page.waitForSelector('text=unsaved changes')
  t.is(await page.inputValue('#template-subject'), 'Your order {{.number}}!?')
  await keyboard.press('Backspace')
  await page.waitForSelector('.top >> text=version 2')
  await keyboard.press('Escape')
  await keyboard.press('4')
  await page.waitForURL(/part=versions/)
  await tabTo('version 1')
  await keyboard.press('Enter')
  await page.waitForSelector('.diff .gone')
  t.regex(await page.innerText('.diff'), /removed\s+Your order \{\{\.number\}\}\s[^]*added\s+Your order \{\{\.number\}\}!/)
  await tab.check(t)
  await tabTo('Restore this version')
  await keyboard.press('Enter')
  await page.waitForSelector('.toast >> text=Version 1 is restored as version 3.')
  await keyboard.press('Control+z')
  await page.waitForSelector('.top >> text=version 4')
  await keyboard.press('Control+Enter')
  await page.waitForSelector('dialog >> text=Uses version 4 with the sample data.')
  await tab.check(t)
  await tabTo('Send test')
  await keyboard.press('Enter')
  await page.waitForSelector('text=Captured, not sent.')
  await tab.check(t)
  await tabTo('Open message and trace')
  await keyboard.press('Enter')
  await page.waitForURL(/\/traces\//)
  await page.waitForSelector('h2 >> text=Your order 17!')
})

test('templates, keyboard: search by part of the name', async (t) => {
  const server = await startDashboard(t, browser)
  const id = await create(server, { name: 'Shop order' })
  const tab = await server.open()
  const { page } = tab
  const { keyboard } = page
  await keyboard.press('g')
  await keyboard.press('m')
  await page.waitForSelector('tbody tr')
  await keyboard.press('/')
  await keyboard.type('shop or')
  await keyboard.press('Enter')
  await page.waitForURL(/q=shop/)
  await page.waitForSelector('tbody >> text=Shop order')
  await keyboard.press('ArrowDown')
  await keyboard.press('Enter')
  await page.waitForURL(/\/templates\/tpl_/)
  t.true(page.url().endsWith(id))
})

test('template preview: desktop, phone, text, dark, sample data; restores drafts', async (t) => {
  const server = await startDashboard(t, browser)
  const id = await create(server)
  for (const colorScheme of ['light', 'dark'] as const) {
    const tab = await server.open({ colorScheme })
    const { page } = tab
    await page.emulateMedia({ colorScheme: null }) // it would apply to every frame
    await tab.go(`/templates/${id}`)
    const frame = page.frameLocator('iframe.draft:not(.waiting)')
    await frame.locator('text=Thank you, Name').waitFor()
    const background = (): Promise<string> =>
      frame.locator('body').evaluate((body) => (body as unknown as Styled).ownerDocument.defaultView.getComputedStyle(body).backgroundColor)
    t.not(await background(), 'rgb(0, 0, 0)', 'the message has light colors in any theme of the dashboard')
    await page.click('.segments >> text=Dark')
    await page.waitForURL(/colors=dark/)
    await waitFor('the mail is dark', async () => ((await background().catch(() => '')) === 'rgb(0, 0, 0)' ? true : undefined))
    await page.emulateMedia({ colorScheme })
    await page.click('.segments >> text=Phone')
    t.is(await page.locator('iframe.draft:not(.waiting)').evaluate((one) => (one as unknown as { clientWidth: number }).clientWidth), 375)
    await tab.check(t)
    await page.click('.segments >> text=Text')
    await page.waitForSelector('pre.paper >> text=Thank you, Name.')
    await tab.check(t)
    await page.click('[role=tab]:has-text("Variables")')
    await tab.fill('Sample data', '{ "name": "Ada", "number": 5')
    await page.waitForSelector('text=This isn’t JSON.')
    await tab.fill('Sample data', '{ "name": "Ada", "number": 5 }')
    await page.waitForSelector('.subject-line >> text=Your order 5')
    await page.click('text=Create a schema from the content')
    await page.waitForSelector('.findings >> text=variables.number')
    await tab.check(t)
    await page.reload()
    await page.waitForSelector('text=Your unsaved changes are restored.')
    await tab.check(t)
    await page.click('text=Discard changes')
    await page.waitForSelector('.top >> text=version 1')
    await page.context().close()
  }
  t.like(await server.daemon.rest.must('GET', `/v1/templates/${id}`), { current_version: 1, schema_json: null })
})

test('templates: rename, undo, delete by slug; report missing ones and a failed list', async (t) => {
  const server = await startDashboard(t, browser)
  const id = await create(server)
  const tab = await server.open()
  const { page } = tab
  await tab.go(`/templates/${id}`)
  await page.click('[aria-label=More]')
  await page.click('text=Rename…')
  await tab.fill('Name', 'Sent order')
  await tab.check(t)
  await page.click('dialog >> text=Done')
  await page.waitForSelector('h1 >> text=Sent order')
  await page.click('.toast button')
  await page.waitForSelector('h1 >> text=/^Order$/')
  await page.click('[aria-label=More]')
  await page.click('text=Delete template')
  await tab.fill('Type order to confirm', 'order')
  await tab.check(t)
  await page.click('dialog >> button:has-text("Delete template")')
  await page.waitForSelector('text=No templates yet')
  await tab.go(`/templates/${id}`)
  await page.waitForSelector('text=Couldn’t load the template')
  await tab.check(t)
  await page.route(/\/v1\/templates(\?|$)/, (route) => route.fulfill({ status: 500, body: '{}', contentType: 'application/json' }))
  await tab.go('/templates')
  await page.waitForSelector('text=Couldn’t load the templates')
  await tab.check(t)
  await page.unroute(/\/v1\/templates(\?|$)/)
  await tab.go('/templates?q=zzz')
  await page.waitForSelector('text=No template matches “zzz”')
  await tab.check(t)
})

test('templates: read-only for viewers, hostile content framed, translated', async (t) => {
  const server = await startDashboard(t, browser)
  await server.open()
  const html_tmpl =
    '<script>top.alert(1)</script><img src="https://evil.example/x.png" onerror="alert(2)"><form action="https://evil.example"><button>x</button></form>' +
    '<meta http-equiv="refresh" content="0;url=https://evil.example/"><p>Hello</p>'
  const id = await create(server, { name: '<svg onload=alert(3)>', html_tmpl })
  const invitation = await server.daemon.rest.must('POST', '/v1/invitations', { email: 'vera@alpenblick.example', role: 'viewer' })
  const joining = await (await browser().newContext()).newPage()
  await joining.goto(String(invitation['accept_url']))
  await joining.click('button:has-text("Join")')
  await joining.context().close()
  for (const [locale, texts] of [
    ['de', 'Ihre Rolle kann Vorlagen ansehen, aber nicht ändern.'],
    ['fr', 'Votre rôle permet de voir les modèles, mais pas de les modifier.'],
    ['it', 'Il Suo ruolo può vedere i modelli ma non modificarli.'],
  ] as const) {
    const tab = await server.open({ link: await server.signInLink('vera@alpenblick.example'), locale })
    const { page } = tab
    let dialogs = 0
    page.on('dialog', (dialog) => {
      dialogs += 1
      void dialog.dismiss()
    })
    await tab.go(`/templates/${id}`)
    await page.waitForSelector(`text=${texts}`)
    await page.frameLocator('iframe.draft:not(.waiting)').locator('text=Hello').waitFor()
    t.is(await page.locator('.top .button.primary').count(), 0)
    t.not(await page.getAttribute('.template textarea', 'readonly'), null)
    t.is(dialogs, 0)
    t.deepEqual(await server.daemon.rest.must('GET', `/v1/templates/${id}/versions`).then(({ data }) => (data as object[]).length), 1)
    await page.context().close()
  }
})
