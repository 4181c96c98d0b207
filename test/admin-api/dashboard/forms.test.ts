/** Form screens in Chromium: keyboard only from an empty list to a published form, and the designer by pointer. */
import type { ExecutionContext } from 'ava'
import { browserOf } from '../../support/web/browser.ts'
import { testWith } from '../../support/peers/peers.ts'
import { waitFor } from '../../support/waits.ts'
import { receiverOf } from '../../support/web/webhook-receiver.ts'
import { openAs } from './open-as.ts'
import { assertFunnel } from './forms/funnel.ts'
import { startDashboard, type DashboardServer, type DashboardTab } from './dashboard-server.ts'

const test = testWith('chromium')
const browser = browserOf(test)

interface Draft {
  readonly definition: {
    readonly name: string
    readonly schema: { readonly fields: readonly { readonly key: string; readonly label?: string }[] }
  }
}

const draftOf = async ({ daemon }: DashboardServer, id: string): Promise<Draft> =>
  (await daemon.rest.must('GET', `/v1/forms/${id}/draft`)) as unknown as Draft

const keysOf = async (server: DashboardServer, id: string): Promise<string> =>
  (await draftOf(server, id)).definition.schema.fields.map(({ key }) => key).join(' ')

async function tabToward(t: ExecutionContext, { page }: DashboardTab, name: string): Promise<void> {
  for (let i = 0; i < 80; i++) {
    await page.keyboard.press('Tab')
    const text = await page.evaluate(
      `(({ activeElement: one }) => one.getAttribute('aria-label') ?? (one.labels?.[0] ?? one).innerText ?? one.title ?? '')(document)`,
    )
    if (String(text).trim().startsWith(name)) return
  }
  t.fail(`no ${name} by Tab`)
}

const savedKeys = (server: DashboardServer, id: string, wanted: string): Promise<string> =>
  waitFor(`the draft has the fields ${wanted}`, async () => {
    const keys = await keysOf(server, id)
    return keys === wanted ? keys : undefined
  })

const shownIn = ({ page }: DashboardTab, text: string): Promise<void> =>
  page.frameLocator('iframe.draft-page:not(.waiting)').locator(`text=${text}`).first().waitFor()

test('forms, keyboard: create from a starter, add a field, move, undo, publish', async (t) => {
  const server = await startDashboard(t, browser)
  const tab = await server.open()
  const { page } = tab
  const { keyboard } = page
  const tabTo = (name: string): Promise<void> => tabToward(t, tab, name)
  await keyboard.press('g')
  await keyboard.press('f')
  await page.waitForSelector('text=No forms yet')
  await tab.check(t)
  await keyboard.press('n')
  await page.waitForSelector('dialog')
  await keyboard.type('Write to us')
  await tab.check(t)
  await page.locator('dialog input').first().focus()
  await tabTo('Create')
  await keyboard.press('Enter')
  await page.waitForURL(/\/forms\/frm_/)
  const id = /frm_[^/?]+/.exec(page.url())?.[0] ?? ''
  await shownIn(tab, 'Write to us')
  const before = await keysOf(server, id)
  await tabTo('Add')
  await keyboard.press('Enter')
  await tabTo('Find a field type')
  await keyboard.type('rating')
  await keyboard.press('Enter')
  await page.waitForURL(/field=rating/)
  await savedKeys(server, id, `${before} rating`)
  await shownIn(tab, 'Rating')
  await tab.check(t)
  await page.locator('[aria-label="Find a field type"]').focus()
  await tabTo('Label')
  await keyboard.press('Control+a')
  await keyboard.type('How was it?')
  await shownIn(tab, 'How was it?')
  await keyboard.press('Alt+ArrowUp')
  const moved = before.split(' ').toSpliced(-1, 0, 'rating').join(' ')
  await savedKeys(server, id, moved)
  await keyboard.press('Escape')
  await keyboard.press('Control+z')
  await savedKeys(server, id, `${before} rating`)
  await keyboard.press('Control+d')
  await savedKeys(server, id, `${before} rating rating_2`)
  await keyboard.press('Control+Enter')
  await page.waitForSelector('dialog >> text=Visitors see it immediately')
  await tab.check(t)
  await tabTo('Version note')
  await keyboard.type('First')
  await keyboard.press('Enter')
  await page.waitForSelector('.form-truth >> text=Version 1 is live.')
  const { data } = (await server.daemon.rest.must('GET', `/v1/forms/${id}/versions`)) as { data: readonly { note: string }[] }
  t.deepEqual(
    data.map(({ note }) => note),
    ['First'],
  )
  await keyboard.press('Escape')
  await page.waitForURL(/\/forms$/)
  await page.waitForSelector('tbody >> text=Published')
  await tab.check(t)
})

test('form designer: select, drag, undo and delete; keeps a concurrent draft', async (t) => {
  const server = await startDashboard(t, browser)
  const { rest } = server.daemon
  const tab = await server.open()
  const { page } = tab
  const id = String((await rest.must('POST', '/v1/forms', { name: 'Support', template: 'support' }))['id'])
  await tab.go('/forms?status=draft')
  await page.click('tbody >> text=Support')
  await shownIn(tab, 'Topic')
  const chooseOnPage = async (text: string): Promise<void> => {
    const box = await page.frameLocator('iframe.draft-page:not(.waiting)').locator(`text="${text}"`).first().boundingBox()
    await page.mouse.click((box?.x ?? 0) + 4, (box?.y ?? 0) + 4)
  }
  await chooseOnPage('Email')
  await page.waitForSelector('.chosen-name >> text=Email · email')
  await tab.check(t)
  const before = await keysOf(server, id)
  await page.click('.properties >> text=New row')
  await page.click('.properties [aria-label^="Move up"]')
  await savedKeys(server, id, before.replace('name email', 'email name'))
  await page.click('text=Undo')
  await savedKeys(server, id, before)
  await page.dragAndDrop('.field-name[data-key="topic"]', '.field-name[data-key="name"]', { targetPosition: { x: 20, y: 2 } })
  const dragged = before.replace(' topic', '').replace('intro', 'intro topic')
  await savedKeys(server, id, dragged)
  await page.click('.field-name[data-key="topic"]')
  await page.click('.properties [aria-label^="Delete"]')
  await page.waitForSelector('.toast >> text=/Topic is deleted, with 1 rule/')
  await page.click('.toast >> text=Undo')
  await savedKeys(server, id, dragged)
  await page.click('.field-name[data-key="name"]')
  await page.fill('.properties input >> nth=0', '')
  await page.waitForSelector('.canvas .tag >> text=Preview is incomplete')
  await page.waitForSelector('.field-panel .wrong-mark')
  await page.fill('.properties input >> nth=0', 'Your name')
  await shownIn(tab, 'Your name')
  await waitFor(
    'the label is saved',
    async () => (await draftOf(server, id)).definition.schema.fields.some(({ label }) => label === 'Your name') || undefined,
  )
  const { definition } = await draftOf(server, id)
  await rest.must('PUT', `/v1/forms/${id}/draft`, { ...definition, name: 'Theirs' })
  await page.fill('.properties input >> nth=0', 'Mine')
  await page.waitForSelector('text=Another member saved this draft.')
  await tab.check(t)
  t.is((await draftOf(server, id)).definition.name, 'Theirs')
  await page.click('text=Use their version')
  await page.waitForSelector('h1 >> text=Theirs')
  await page.click('text=Undo')
  await page.waitForSelector('h1 >> text=Support')
  await waitFor('my draft is saved', async () => (await draftOf(server, id)).definition.name === 'Support')
  await page.click('[aria-label="More"]')
  await page.click('.menu >> text=Duplicate')
  await page.waitForURL((url) => !url.pathname.endsWith(id))
  await page.waitForSelector('.toast >> text=Support is copied.')
})

test('forms: import HTML, publish, pause, filter by state; viewers cannot change', async (t) => {
  const server = await startDashboard(t, browser)
  const tab = await openAs(browser, server, 'developer')
  const { page } = tab
  await tab.go('/forms?new=1')
  await page.fill('dialog input', 'From a page')
  await page.mouse.click(4, 4) // outside of the dialog: what was entered stays
  await page.click('dialog >> text=HTML')
  await page.fill('dialog textarea', '<form><label>Your name <input name="name" required></label><button>Go</button></form>')
  await page.click('dialog >> text=Create')
  await page.waitForURL(/\/forms\/frm_/)
  await shownIn(tab, 'Your name')
  await page.click('text=Publish version 1')
  await page.click('dialog footer .primary')
  await page.waitForSelector('.form-truth >> text=Version 1 is live.')
  await page.waitForSelector('header [aria-disabled=true] >> text=Publish version 2')
  const { pathname } = new URL(page.url())
  await page.click('[aria-label="More"]')
  await page.click('.menu >> text=Pause')
  await page.waitForSelector('.form-truth >> text=Paused.')
  await tab.go('/forms?status=published')
  await page.waitForSelector('text=No form matches this filter')
  await page.click('.pills >> text=Paused')
  await page.waitForSelector('tbody >> text=From a page')
  t.deepEqual(tab.refusals, [])
  const reader = await openAs(browser, server, 'viewer')
  await reader.go(`${pathname}?field=name`)
  await reader.page.waitForSelector('text=Your role can view this form')
  t.true(
    await reader.page
      .locator('.properties fieldset')
      .first()
      .evaluate((one) => (one as unknown as { disabled: boolean }).disabled),
  )
  t.is(await reader.page.locator('main button:has-text("Publish"), main [aria-label^="Delete"]').count(), 0)
  await reader.check(t)
})

async function tryOut({ page }: DashboardTab): Promise<void> {
  await page.click('.form-tabs >> text=Test')
  const frame = page.frameLocator('iframe.draft-page:not(.waiting)')
  await frame.locator('[name=name]').fill('Ada')
  await frame.locator('[name=email]').fill('ada@example.ch')
  await frame.locator('[name=topic]').selectOption('question')
  await frame.locator('textarea').fill('It works')
  await frame.locator('[type=submit]').click()
  await frame.locator('.thanks').waitFor()
}

async function notify(t: ExecutionContext, { page }: DashboardTab): Promise<void> {
  const receiver = await receiverOf(t)
  await page.click('.form-tabs >> text=Notifications')
  await page.click('text=Add a recipient')
  await page.fill('[aria-label="Address 1"]', 'olga@alpenblick.example')
  await page.selectOption('[aria-label="Frequency for address 1"]', 'daily')
  await page.click('text=Some submissions')
  await page.fill('[type=url]', `${receiver.url}/forms`)
  await page.click('text=Save notifications')
  await page.waitForSelector('dialog >> text=webhook_secret')
  await page.click('dialog >> text=I stored it')
  await page.click('dialog footer .primary')
  await page.waitForSelector('.form-recipients >> text=member')
  await page.fill('[aria-label="Address 1"]', 'not saved')
  await page.click('button:has-text("Send test event")')
  await page.waitForSelector('.toast >> text=204')
  t.like(JSON.parse(receiver.received[0]?.body ?? ''), { test: true })
}

test('form tabs: rules, theme, test, versions, notifications, languages, statistics', async (t) => {
  const server = await startDashboard(t, browser)
  const { rest } = server.daemon
  const tab = await server.open()
  const { page } = tab
  const { id, public_id: publicId } = await rest.must('POST', '/v1/forms', { name: 'Support', template: 'support' })
  const at = `/forms/${String(id)}`
  await rest.must('POST', `/v1${at}/publish`, { note: 'First' })
  const draftAs = (what: string, is: (definition: never) => boolean): Promise<boolean> =>
    waitFor(what, async () => is((await draftOf(server, String(id))).definition as never))
  await tab.go(`${at}/logic`)
  await page.waitForSelector('.tried .hidden-field >> text=How bad is it?')
  await page.selectOption('.try-out select', { label: 'Problem' })
  await page.waitForSelector('.tried .hidden-field', { state: 'detached' })
  await page.click('text=Add rule')
  await page.selectOption('.rules-of-form li:nth-child(2) .chip.action', 'hide')
  await draftAs(
    'the rule is saved',
    ({ logic }: { logic: { rules: { then: { action: string }[] }[] } }) => logic.rules[1]?.then[0]?.action === 'hide',
  )
  await tab.check(t)
  await page.click('[aria-label="Remove rule 2"]')
  await page.click('.form-tabs >> text=Theme')
  await page.fill('[aria-label="Text as hex"]', '#dddddd')
  await page.waitForSelector('.contrast-meter .failing')
  await tab.check(t)
  await page.click('[aria-label="Fix: Text on background"]')
  await page.waitForSelector('.contrast-meter >> text=9 of 9 pass')
  await tryOut(tab)
  t.deepEqual((await rest.must('GET', `/v1${at}/submissions`))['data'], [])
  await tab.check(t)
  await page.click('.form-tabs >> text=Versions')
  await page.waitForSelector('.definition-changes >> text=Theme')
  await tab.check(t)
  await rest.must('POST', `/v1${at}/publish`, { note: 'Second' })
  await tab.go(`${at}/versions?version=1`)
  await page.click('text=Publish version 1 again')
  await page.click('dialog footer .primary')
  await page.waitForSelector('.form-truth >> text=Version 3 is live.')
  await notify(t, tab)
  await tab.check(t)
  await page.click('.form-tabs >> text=Settings')
  await page.fill('.translations .pair input', 'fr')
  await page.click('text=Add language')
  await page.click('.translations summary')
  await page.fill('[aria-label="fr: name"]', 'Aide')
  await draftAs(
    'the translation is saved',
    ({ translations }: { translations: { fr?: { name?: string } } }) => translations.fr?.name === 'Aide',
  )
  await tab.check(t)
  await fetch(`${server.url}/f/${String(publicId)}`)
  await waitFor('the view is in the statistics', async () => {
    const { totals } = (await rest.must('GET', `/v1${at}/analytics`)) as { totals: { views: number } }
    return totals.views > 0 || undefined
  })
  await assertFunnel(t, tab)
  t.deepEqual(tab.refusals, [])
})

test('form tabs, keyboard: rules, theme, versions, test, snippet, dark mode', async (t) => {
  const server = await startDashboard(t, browser)
  const { rest } = server.daemon
  const tab = await server.open({ colorScheme: 'dark' })
  const { page } = tab
  const { keyboard } = page
  const id = String((await rest.must('POST', '/v1/forms', { name: 'Support', template: 'support' }))['id'])
  await rest.must('POST', `/v1/forms/${id}/publish`, { note: 'First' })
  const tabTo = (name: string): Promise<void> => tabToward(t, tab, name)
  /** Starts at the title, as after the link that skips the navigation. */
  const part = async (name: string): Promise<void> => {
    await page.locator('#screen-title').focus()
    await tabTo(name)
    await keyboard.press('Enter')
    await page.waitForSelector(`.form-tabs [aria-current] >> text=${name}`)
    await tab.ready()
  }
  await tab.go(`/forms/${id}?field=severity`)
  await page.waitForSelector('.shown-when >> text=Rule 1, show when “Topic” is “Problem”')
  await part('Logic')
  await tabTo('Add rule')
  await keyboard.press('Enter')
  await page.waitForSelector('.rules-of-form li:nth-child(2)')
  for (const _ of ['remove', 'down', 'up']) await keyboard.press('Shift+Tab')
  await keyboard.press('Enter')
  await waitFor('the rule is first', async () => {
    const { logic } = (await draftOf(server, id)).definition as unknown as { logic: { rules: readonly { then: readonly object[] }[] } }
    return (logic.rules.length === 2 && logic.rules[0]?.then.length === 1) || undefined
  })
  await tab.check(t)
  await part('Theme')
  await tabTo('Text as hex')
  await keyboard.press('Control+a')
  await keyboard.type('#dddddd')
  await page.waitForSelector('.contrast-meter .failing')
  await tabTo('Fix: Text on background')
  await keyboard.press('Enter')
  await page.waitForSelector('.contrast-meter >> text=9 of 9 pass')
  await tab.check(t)
  await keyboard.press('Control+Enter')
  await page.waitForSelector('dialog >> text=Visitors see it immediately')
  await tabTo('Version note')
  await keyboard.type('Second')
  await keyboard.press('Enter')
  await page.waitForSelector('.form-truth >> text=Version 2 is live.')
  await part('Versions')
  await tabTo('1')
  await keyboard.press('Enter')
  await page.waitForURL(/version=1/)
  await tabTo('Publish version 1 again')
  await keyboard.press('Enter')
  await page.waitForSelector('dialog')
  await tabTo('Publish version 1 again')
  await keyboard.press('Enter')
  await page.waitForSelector('.form-truth >> text=Version 3 is live.')
  await tab.check(t)
  await part('Test')
  await fillInByKeys(t, tab)
  t.deepEqual((await rest.must('GET', `/v1/forms/${id}/submissions`))['data'], [], 'the service stores no trial')
  await part('Embed')
  await tabTo('Popup')
  await keyboard.press('Enter')
  await page.waitForSelector('pre >> text=data-mode="popup"')
  await tabTo('Copy')
  await keyboard.press('Enter')
  await page.waitForSelector('.toast')
  await tab.check(t)
  await part('Notifications')
  await tabTo('Add a recipient')
  await keyboard.press('Enter')
  await page.locator('[aria-label="Address 1"]').waitFor()
  await page.locator('#screen-title').focus()
  await tabTo('Address 1')
  await keyboard.type('olga@alpenblick.example')
  await tabTo('Save notifications')
  await keyboard.press('Enter')
  await page.waitForSelector('.form-recipients >> text=member')
  t.deepEqual(tab.refusals, [])
})

/** Fills in the trial of the support starter by keyboard only. */
async function fillInByKeys(t: ExecutionContext, tab: DashboardTab): Promise<void> {
  const { page } = tab
  const frame = page.frameLocator('iframe.draft-page:not(.waiting)')
  await frame.locator('[name=message], textarea').first().waitFor()
  const answers = { name: 'Ada', email: 'ada@example.ch', topic: 'Q' }
  for (const [name, text] of Object.entries(answers)) {
    await tabInto(t, tab, `[name=${name}]`)
    await page.keyboard.type(text)
  }
  await tabInto(t, tab, 'textarea')
  await page.keyboard.type('It works')
  await tabInto(t, tab, '[type=submit]')
  await page.keyboard.press('Enter')
  await frame.locator('.thanks').waitFor()
}

async function tabInto(t: ExecutionContext, { page }: DashboardTab, selector: string): Promise<void> {
  const wanted = page.frameLocator('iframe.draft-page:not(.waiting)').locator(`${selector}:focus`)
  for (let i = 0; i < 60; i++) {
    await page.keyboard.press('Tab')
    if ((await wanted.count()) > 0) return
  }
  t.fail(`no ${selector} by Tab`)
}
