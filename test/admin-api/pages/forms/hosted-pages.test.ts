/** Form pages in Chromium without scripts: every golden form passes all checks at three widths, light and dark. */
import type { ExecutionContext } from 'ava'
import { systemOrganizationId } from '#core/routing/policy/system-policy.ts'
import { traces } from '#core/trace/trace.ts'
import { readWholeContent } from '#store/content.ts'
import { samples } from '../../../core/forms/file-samples.ts'
import { axeFaults, browserOf, overflows, rulesOfColours, skipFaults, squeezed, type Page } from '../../../support/web/browser.ts'
import { testWith } from '../../../support/peers/peers.ts'
import { baseUrl } from '../../rest/fixture/rest-fixture.ts'
import { golden, type Row } from './golden.ts'
import { footerLinks, startHosted } from './hosted.ts'

const test = testWith('chromium')
const browser = browserOf(test)
const widths = [320, 768, 1280] as const

interface Look {
  readonly hasScripts?: boolean
  readonly colorScheme?: 'light' | 'dark'
  readonly forcedColors?: 'active'
}

/** Opens a tab that records policy violations. */
async function tab(t: ExecutionContext, { hasScripts = false, ...look }: Look = {}): Promise<{ page: Page; blocked: string[] }> {
  const context = await browser().newContext({ javaScriptEnabled: hasScripts, ...look })
  t.teardown(() => context.close())
  const page = await context.newPage()
  const blocked: string[] = []
  page.on('console', (message) => /Content.Security.Policy|Trusted/i.test(message.text()) && blocked.push(message.text()))
  page.on('pageerror', (error) => blocked.push(String(error)))
  await page.route(/\/f\/assets\/form-\w+\.js$/, (route) => route.abort())
  // the sites of images do not exist
  await page.route(/^https:/, (route) => route.abort())
  return { page, blocked }
}

const listener =
  "addEventListener('securitypolicyviolation', (event) => console.error('Content-Security-Policy ' + event.violatedDirective))"

for (const [name, definition] of Object.entries(golden))
  test(`form "${name}": accessible at every width, light and dark, also with problems`, async (t) => {
    const hosted = await startHosted(t, { settings: footerLinks })
    const { page: address } = await hosted.publish(definition)
    for (const colorScheme of ['light', 'dark'] as const) {
      const { page, blocked } = await tab(t, { hasScripts: true, colorScheme })
      await page.addInitScript(listener)
      await page.goto(address)
      // only colors differ in dark mode, so only color rules are checked
      const look = colorScheme === 'dark' ? { at: widths, rules: rulesOfColours } : { at: widths }
      const check = async (): Promise<void> => {
        t.deepEqual(await axeFaults(page, look), [])
        t.deepEqual(await skipFaults(page), [])
        t.deepEqual(await overflows(page), [])
        t.deepEqual(await squeezed(page), [])
        t.deepEqual(blocked, [])
      }
      await check()
      if ((await page.locator('form').count()) === 0) continue
      await page.evaluate("document.querySelector('form').setAttribute('novalidate', '')")
      await Promise.all([page.waitForEvent('load'), page.click('button[type=submit]')])
      await check()
    }
  })

test('no script: a form is filled in, corrected and sent', async (t) => {
  const hosted = await startHosted(t)
  const { id, page: address } = await hosted.publish(golden['contact'] ?? {})
  const { page, blocked } = await tab(t)
  await page.goto(address)
  hosted.clock.advance(5000)
  await page.fill('#f-name', 'Ruth <b>Amstutz</b>')
  await page.fill('#f-email', 'ruth.@posteo.de')
  await page.check('input[name=topic][value=o2]')
  await page.fill('#f-message', '\nFirst line\n"quoted" </textarea><script>alert(1)</script>')
  await page.check('#f-privacy')
  await Promise.all([page.waitForEvent('load'), page.click('button[type=submit]')])
  t.regex(await page.title(), /^Error: /)
  t.is(await page.innerText('[role=alert] .title'), 'One answer needs another look')
  t.is(await page.innerText('[role=alert] a'), 'Enter the complete address, for example ruth@example.ch.')
  t.is(await page.getAttribute('[role=alert] a', 'href'), '#f-email')
  t.is(await page.inputValue('#f-name'), 'Ruth <b>Amstutz</b>')
  t.is(await page.inputValue('#f-message'), '\nFirst line\n"quoted" </textarea><script>alert(1)</script>')
  t.true(await page.isChecked('input[name=topic][value=o2]'))
  t.is(await page.getAttribute('#f-email', 'aria-describedby'), 'f-email-error')
  await page.fill('#f-email', 'ruth@posteo.de')
  await Promise.all([page.waitForEvent('load'), page.click('button[type=submit]')])
  t.is(await page.innerText('h1'), 'It is on the workbench')
  t.regex(page.url(), /\/thanks\?s=/)
  t.regex(await page.innerText('.slip'), /r•••@posteo\.de/)
  const [submission] = await hosted.submissions(id)
  t.like(submission, { status: 'new' })
  t.like(submission?.['answers'], { name: 'Ruth <b>Amstutz</b>', email: 'ruth@posteo.de', topic: 'o2', privacy: true })
  t.deepEqual(blocked, [])
  const scripted = await tab(t, { hasScripts: true })
  await scripted.page.goto(page.url())
  t.deepEqual(await axeFaults(scripted.page, { at: widths }), [])
})

const cvForm = {
  name: 'Apply',
  schema: {
    version: 1,
    fields: [
      { key: 'email', type: 'email', label: 'Email', required: true },
      { key: 'cv', type: 'file_upload', label: 'CV', required: true },
      { key: 'photo', type: 'file_upload', label: 'Photo' },
    ],
  },
}

test('no script: after a problem, the page names the files to choose again', async (t) => {
  const hosted = await startHosted(t)
  const { id, page: address } = await hosted.publish(cvForm)
  const { page, blocked } = await tab(t)
  await page.goto(address)
  hosted.clock.advance(5000)
  const send = () => Promise.all([page.waitForEvent('load'), page.click('button[type=submit]')])
  const choose = () => page.setInputFiles('#f-cv', { name: 'cv.pdf', mimeType: 'application/pdf', buffer: samples.pdf })
  await page.fill('#f-email', 'ada.@posteo.de')
  await choose()
  await send()
  t.is(await page.innerText('[role=alert] a'), 'Enter the complete address, for example ruth@example.ch.')
  const again = /Choose the file again: browsers do not keep files\./
  t.regex(await page.innerText('[data-field=cv]'), again)
  t.notRegex(await page.innerText('[data-field=photo]'), again)
  t.is(await page.getAttribute('#f-cv', 'aria-describedby'), 'f-cv-again f-cv-note')
  t.is(await page.inputValue('#f-email'), 'ada.@posteo.de')
  t.true(await page.evaluate("document.querySelector('#f-cv').required"), 'the browser requires it too')
  await page.fill('#f-email', 'ada@posteo.de')
  await choose()
  await send()
  t.is(await page.innerText('h1'), 'Thank you')
  t.like(await hosted.submissions(id), [{ answers: { email: 'ada@posteo.de' }, files: [{ field: 'cv', name: 'cv.pdf' }] }])
  t.deepEqual(blocked, [])
})

test('recipient page: accessible', async (t) => {
  const hosted = await startHosted(t, { hasMail: true })
  const { id } = await hosted.publish({ ...cvForm, name: `<img src=x onerror=alert(1)> & "CVs"` })
  await hosted.rest.must('PUT', `/v1/forms/${id}/notifications`, { recipients: [{ email: 'outsider@example.net' }] })
  await hosted.people.background.idle()
  const [asked] = await hosted.database.all(traces, { organizationId: systemOrganizationId })
  if (!asked) throw new Error('no mail asked for a confirmation')
  const mail = Buffer.from(await readWholeContent(hosted.database, systemOrganizationId, asked.record.content)).toString()
  const path = /\/form-notifications\/[\w.-]+/.exec(mail.replaceAll('=\r\n', ''))?.[0] ?? ''
  const { page, blocked } = await tab(t, { hasScripts: true })
  const check = async (button: string): Promise<void> => {
    await page.goto(hosted.url + path)
    t.true(await page.getByRole('button', { name: button }).isVisible())
    t.is(await page.locator('img[onerror]').count(), 0)
    t.deepEqual(await axeFaults(page, { at: widths }), [])
    t.deepEqual(await overflows(page), [])
  }
  await check('Send me the submissions')
  const headers = { origin: baseUrl, 'content-type': 'application/x-www-form-urlencoded' }
  t.is((await fetch(`${hosted.url}${path}/confirm`, { method: 'POST', redirect: 'manual', headers })).status, 303)
  await check('Stop notifications')
  t.deepEqual(blocked, [])
})

test('no script: steps are sections with links, and conditions are text', async (t) => {
  const hosted = await startHosted(t)
  const { page: address } = await hosted.publish(golden['support'] ?? {})
  const { page } = await tab(t)
  await page.goto(address)
  t.deepEqual(await page.locator('.stepper a').allInnerTexts(), ['1\nWhat happened', '2\nDetails', '3\nHow to reach you'])
  t.deepEqual(await page.locator('section.step').count(), 3)
  t.deepEqual(await page.locator('.only').allInnerTexts(), [
    'Only if “What is it about?” is “My website is down or slow”',
    'Only if “How should we answer?” is “By phone”',
  ])
  const rules = [
    { id: 'r', when: { field: 'ask', op: 'checked' }, then: ['show', 'require'].map((action) => ({ action, target: 'email' })) },
  ]
  const asking = await hosted.publish({
    name: 'Ask',
    schema: {
      version: 1,
      fields: [
        { key: 'ask', type: 'checkbox', label: 'Ask me' },
        { key: 'email', type: 'email', label: 'Email' },
      ],
    },
    logic: { version: 1, rules },
  })
  await page.goto(asking.page)
  t.deepEqual(await page.locator('.only').allInnerTexts(), ['Only if “Ask me” is ticked, then needed'], 'each condition appears once')
  await page.goto(address)
  t.is(
    await page.innerText('.skip-to'),
    'If “What is it about?” is “Something else” and not (“Which website?” is empty), continue with step 3.',
  )
  // the browser must not require a field that may be hidden
  t.deepEqual(await page.evaluate("[...document.querySelectorAll('[required]')].map(({ name }) => name)"), [
    'about',
    'about',
    'about',
    'site',
  ])
})

test('no script: custom answers, numbers and checkboxes are restored', async (t) => {
  const hosted = await startHosted(t)
  const { id, page: address } = await hosted.publish(golden['everything'] ?? {})
  const { page } = await tab(t)
  await page.goto(`${address}?email=ada%40example.ch&utm_source=letter&text=no`)
  hosted.clock.advance(5000)
  t.is(await page.inputValue('#f-email'), 'ada@example.ch')
  t.is(await page.inputValue('#f-text'), '', 'only fields that allow prefilling')
  t.false((await page.content()).includes('secret-static'))
  await page.fill('#f-text', 'Words')
  await page.selectOption('#f-select', '~other')
  await page.fill('[name="select~other"]', 'Chur')
  await page.check('input[name=many][value=o1]')
  await page.check('input[name=many][value=o3]')
  await page.fill('#f-number', 'three')
  await page.check('input[name=stars][value="4"]', { force: true })
  await Promise.all([page.waitForEvent('load'), page.click('button[type=submit]')])
  t.deepEqual(await page.locator('[role=alert] a').allInnerTexts(), ['Enter a number for “Years”, for example 12 or 3.5.'])
  t.is(await page.inputValue('[name="select~other"]'), 'Chur')
  t.is(await page.inputValue('#f-number'), 'three')
  await page.fill('#f-number', '3')
  await Promise.all([page.waitForEvent('load'), page.click('button[type=submit]')])
  const [submission] = await hosted.submissions(id)
  t.like(submission?.['answers'], {
    text: 'Words',
    select: 'Chur',
    many: ['o1', 'o3'],
    number: 3,
    stars: 4,
    tick: true,
    from: 'letter',
    fixed: 'secret-static',
  })
})

test('layout: one column up to 640 px, then rows of 12 columns', async (t) => {
  const hosted = await startHosted(t)
  const { page: address } = await hosted.publish(golden['contact'] ?? {})
  const { page } = await tab(t)
  await page.goto(address)
  const areSideBySide = async (width: number): Promise<boolean> => {
    await page.setViewportSize({ width, height: 900 })
    const [name, email] = [await page.locator('#f-name').boundingBox(), await page.locator('#f-email').boundingBox()]
    return name?.y === email?.y
  }
  t.false(await areSideBySide(320))
  t.false(await areSideBySide(639))
  t.true(await areSideBySide(640))
  t.true(await areSideBySide(1280))
})

test('layout: right-to-left, a translation, and system colors', async (t) => {
  const hosted = await startHosted(t)
  const { page: arabic } = await hosted.publish(golden['arabic'] ?? {})
  const { page: french } = await hosted.publish(golden['french'] ?? {})
  const { page } = await tab(t, { forcedColors: 'active' })
  await page.goto(arabic)
  t.is(await page.getAttribute('html', 'dir'), 'rtl')
  t.is(await page.evaluate("getComputedStyle(document.querySelector('#f-kind')).appearance"), 'auto')
  await page.goto(`${french}?lang=fr`)
  t.is(await page.getAttribute('html', 'lang'), 'fr')
  t.is(await page.innerText('h1'), 'Parlez à l’atelier')
  t.is(await page.innerText('.rule'), 'Toutes les questions sont obligatoires, sauf mention «\u00a0facultatif\u00a0».')
  t.regex((await page.getAttribute('form', 'action')) ?? '', /\?lang=fr$/)
})

test('layout: multi-line fields are less round than others; print has no background', async (t) => {
  const hosted = await startHosted(t)
  const { page: address } = await hosted.publish(golden['round'] ?? {})
  const { page } = await tab(t)
  await page.goto(address)
  const styleOf = (selector: string, property: string): Promise<unknown> =>
    page.evaluate(`getComputedStyle(document.querySelector('${selector}')).${property}`)
  t.is(await styleOf('#f-name', 'borderRadius'), '999px')
  t.is(await styleOf('#f-message', 'borderRadius'), '20px')
  await page.emulateMedia({ media: 'print' })
  t.is(await styleOf('.letterhead', 'backgroundColor'), 'rgba(0, 0, 0, 0)')
  t.is(await styleOf('.actions', 'display'), 'none')
})

test('markup: no text or value of a form becomes markup', async (t) => {
  const hosted = await startHosted(t)
  const bad = `"'><img src=x onerror=alert(1)><script>alert(1)</script>&lt;`
  const hostile = (value: unknown, key = ''): unknown => {
    if (Array.isArray(value)) return value.map((each) => hostile(each))
    if (typeof value === 'object' && value !== null)
      return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, hostile(each, name)]))
    const isText = [
      'name',
      'label',
      'help',
      'placeholder',
      'text',
      'title',
      'body',
      'submit_label',
      'alt',
      'caption',
      'unit',
      'low_label',
      'version_label',
    ].includes(key)
    return isText && typeof value === 'string' ? bad.slice(0, key === 'unit' ? 19 : 58) : value
  }
  for (const name of ['everything', 'support', 'images', 'contact', 'closed']) {
    const { page: address } = await hosted.publish(hostile(golden[name]) as Row)
    const { page, blocked } = await tab(t, { hasScripts: true })
    await page.goto(address)
    const check = async (): Promise<void> => {
      t.is(await page.locator('script:not(.plan, [src]), img[onerror], [onerror], body img:not(figure img)').count(), 0)
      t.deepEqual(blocked, [])
    }
    await check()
    for (const input of await page.locator('form input[type=text]:visible, form textarea:visible').all()) await input.fill(bad)
    if ((await page.locator('form').count()) === 0) continue
    await page.evaluate("document.querySelector('form').setAttribute('novalidate', '')")
    await Promise.all([page.waitForEvent('load'), page.click('button[type=submit]')])
    await check()
  }
})
