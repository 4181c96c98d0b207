/** Submission inbox in Chromium: read, sort, answer once and delete, by mouse and by keyboard. Includes hostile answers. */
import type { ExecutionContext } from 'ava'
import { readFileSync } from 'node:fs'
import { testWith } from '../../../support/peers/peers.ts'
import { waitFor } from '../../../support/waits.ts'
import { becomesTrue, browserOf, type Page } from '../../../support/web/browser.ts'
import { FakeClamd } from '../../../support/web/fake-clamd.ts'
import { startDashboard, type DashboardServer, type DashboardTab } from '../dashboard-server.ts'
import { openAs } from '../open-as.ts'
import { seed } from '../seed.ts'
import { pdfWith, samples } from '../../../core/forms/file-samples.ts'
import { seedFiles, seedForm, type SeededForm } from './seed-submissions.ts'

type Json = Readonly<Record<string, unknown>>

const test = testWith('chromium')
const browser = browserOf(test)

/** In two parts, so that virus scanners ignore this file. */
const testVirus = Buffer.from(['X5O!P%@AP[4\\PZX54(P^)7CC)7}$', 'EICAR-STANDARD-ANTIVIRUS-TEST-FILE!$H+H*'].join(''), 'latin1')

/** A submission during the test: the pill announces it, the history lists notifications, and the version filter finds it. */
async function comeLate(t: ExecutionContext, server: DashboardServer, tab: DashboardTab, { form, submit }: SeededForm): Promise<string> {
  const { page } = tab
  const { rest } = server.daemon
  const notified = { recipients: [{ email: 'olga@alpenblick.example' }], from: 'shop@alpenblick.example' }
  await rest.must('PUT', `/v1/forms/${form}/notifications`, { ...notified, webhook_url: 'http://127.0.0.1:9/forms' })
  const late = await submit({ name: 'Late Comer', email: 'late@example.net', message: 'Hello?' })
  await page.click('text=1 new')
  // the row shows the message even if the address is longer
  await page.click('.message-list a.unread:has-text("Late Comer"):has-text("Hello?")')
  await page.waitForSelector('.sub-history li:has-text("Notification to") a >> text=/sent|delivered/')
  await page.waitForSelector('.sub-history li:has-text("Webhook") >> text=failed')
  await tab.check(t)
  await page.keyboard.press('u')
  await page.waitForSelector('.message-list a.unread:has-text("Late Comer")')
  await page.click('.sub-meta >> text=version 1')
  await page.waitForSelector('h2 >> text=Version 1')
  await page.click('text=Submissions of this version')
  await page.waitForSelector('.sub-filters a[aria-current] >> text=version 1')
  await becomesTrue(page, `document.querySelectorAll('.message-list li').length === 7`)
  await page.click('.sub-filters >> text=All forms')
  await becomesTrue(page, `document.querySelectorAll('.message-list li').length === 7`)
  await page.click('.sub-filters >> text=Open')
  await page.click('.message-list a:has-text("Ruth Amstutz")')
  return late
}

/** Sets a tag, an assignee and a note. */
async function triage(t: ExecutionContext, tab: DashboardTab): Promise<void> {
  const { page } = tab
  await page.fill('#submission-tag', 'warranty')
  await page.keyboard.press('Enter')
  await page.waitForSelector('.message-list .tag >> text=warranty')
  await page.selectOption('.sub-triage select', { label: 'olga@alpenblick.example' })
  await page.fill('#submission-note', 'Asked for the serial number')
  await page.click('.sub-note >> text=Save')
  await page.waitForSelector('text=The note is saved.')
  await page.click('.sub-filters >> text=To me')
  await becomesTrue(page, `document.querySelectorAll('.message-list li').length === 1`)
  await page.click('.sub-filters >> text=To me')
  await tab.check(t)
}

/** Downloads a file after its scan; an infected file is deleted. */
async function downloadFiles(t: ExecutionContext, server: DashboardServer, tab: DashboardTab, scanner: FakeClamd): Promise<void> {
  const { page } = tab
  const files = await seedFiles(server, [
    [samples.png, 'hub.png'],
    [pdfWith(testVirus), 'invoice.pdf'],
  ])
  await tab.go(`/forms/${files.form}/submissions/${files.submission}`)
  await page.waitForSelector('.sub-files li:has-text("invoice.pdf") >> text=Virus found. The file is deleted.')
  t.is(await page.locator('.sub-files li:has-text("invoice.pdf") button').count(), 0)
  await page.waitForSelector('.sub-files li:has-text("hub.png") >> text=Virus scan in progress')
  await page.click('[aria-label="Download hub.png"]')
  await page.waitForSelector('.sub-files [role=alert] >> text=The virus scan is not finished.')
  await tab.check(t)
  scanner.answer('stream: OK')
  await page.waitForSelector('.sub-files li:has-text("hub.png") >> text=Scanned, no virus')
  const hub = page.waitForEvent('download')
  await page.click('[aria-label="Download hub.png"]')
  t.is((await hub).suggestedFilename(), 'hub.png')
  t.deepEqual(readFileSync(await (await hub).path()), samples.png)
}

async function showsCall(t: ExecutionContext, page: Page): Promise<void> {
  await page.click('[title="This screen as an API call"]')
  t.regex(await page.innerText('.drawer'), /curl .*\/v1\/forms\/submissions\?/)
  await page.keyboard.press('Escape')
}

test('submissions: read, sort, reply from a template, delete by mouse; live pill', async (t) => {
  await using scanner = await FakeClamd.listen()
  scanner.conduct = () => undefined
  const server = await startDashboard(t, browser, { POSTERN_CLAMD: `127.0.0.1:${String(scanner.port)}` })
  const { rest } = server.daemon
  const { sink, live } = await seed(t, server)
  await rest.must('POST', '/v1/routing/rules', { match: 'shop@alpenblick.example', destination_id: live })
  const seeded = await seedForm(server)
  const { form, submit, submissions } = seeded
  await submit({ name: 'Spammer', email: 'spam@example.net', message: 'x' }, { _mnx_hp: 'y' })
  const tab = await server.open()
  const { page } = tab
  const counted = (label: string, count: string) =>
    page.waitForSelector(`.sub-filters a:has-text("${label}"):has(.count:text-is("${count}"))`)
  await tab.go('/forms/submissions')
  t.is(await page.locator('.message-list li').count(), 5, 'spam is not in this list')
  await showsCall(t, page)
  await counted('Open', '5')
  await counted('Spam', '1')
  await tab.check(t)
  await page.click('.message-list a:has-text("Ruth Amstutz")')
  await page.waitForSelector('.answers >> text=Tour de Suisse, green, three gears')
  const answered = await page.innerText('.answers')
  t.true(answered.includes('A repair'), 'options appear by their labels')
  t.regex(answered, /Given\s+wording of \d+ \w+ \d{4} · SHA-256 [\da-f]{12}/)
  await page.waitForSelector('.message-list a:not(.unread):has-text("Ruth Amstutz")')
  await counted('New', '4')
  const late = await comeLate(t, server, tab, seeded)
  await triage(t, tab)
  // reply
  await page.click('.message-list a:has-text("Ruth Amstutz")')
  await page.click('.sub-head >> text=Reply')
  await page.locator('.composer').getByLabel('From').fill('shop@alpenblick.example')
  await page.waitForSelector('.composer >> text=Infomaniak')
  await page.selectOption('.composer select', { label: 'Appointment offer' })
  await page.locator('.composer').getByLabel('day').fill('Thursday')
  await page.waitForSelector('.as-text >> text=Your repair: Thursday')
  const filled = await page.locator('.as-text mark').allInnerTexts()
  t.deepEqual(filled, ['Thursday', 'Ruth Amstutz', 'Tour de Suisse, green, three gears', 'Thursday'], 'filled-in values are marked')
  await tab.check(t)
  const before = sink.deliveries.length
  await page.dblclick('.composer >> text=Send reply')
  await page.waitForSelector('.replies a')
  await page.waitForSelector('.message-list a:has-text("Replied")')
  await waitFor('the mail is delivered', () => Promise.resolve(sink.deliveries.length > before))
  t.deepEqual(
    sink.deliveries.slice(before).map(({ to }) => to),
    [['ruth.amstutz@example.net']],
  )
  await tab.check(t)
  // deletion
  await page.click('.message-list a:has-text("Marco Bianchi")')
  await page.click('.sub-head [title="Delete…"]')
  await page.fill('dialog input', String(submissions[1]).slice(-8).toUpperCase())
  await page.click('dialog footer >> text=Delete 1 submission')
  await page.waitForSelector('.message-list li:has-text("Marco Bianchi")', { state: 'detached' })
  t.is((await rest.call('GET', `/v1/forms/${form}/submissions/${String(submissions[1])}`)).status, 404)
  // bulk action and undo
  await page.click('.message-list li:has-text("Familie Graf") .pick')
  await page.click('.message-list li:has-text("Bettina") .pick')
  await page.click('.bulk >> text=Archive')
  await page.waitForSelector('.message-list li:has-text("Familie Graf")', { state: 'detached' })
  await page.click('.toast >> text=Undo')
  await page.waitForSelector('.message-list li:has-text("Familie Graf")')
  await downloadFiles(t, server, tab, scanner)
  const file = page.waitForEvent('download')
  await page.click('.top >> text=Export')
  await page.click('dialog footer >> text=Export')
  t.is((await file).suggestedFilename(), 'submissions.csv')
  t.true((await rest.must('GET', `/v1/forms/${form}/submissions/${late}`))['status'] === 'new')
})

async function tabUntil(t: ExecutionContext, { page }: DashboardTab, selector: string): Promise<void> {
  for (let i = 0; i < 80; i++) {
    await page.keyboard.press('Tab')
    if ((await page.locator(`${selector}:focus`).count()) > 0) return
  }
  t.fail(`no ${selector} by Tab`)
}

/** Sets a tag and an assignee, and replies from a template with a preview. */
async function answerByKeys(t: ExecutionContext, tab: DashboardTab): Promise<void> {
  const { page } = tab
  await tabUntil(t, tab, '#submission-tag')
  await page.keyboard.type('rim')
  await page.keyboard.press('Enter')
  await page.waitForSelector('.message-list .tag >> text=rim')
  await tabUntil(t, tab, '.sub-triage select')
  await page.keyboard.type('olga')
  await page.waitForSelector('.message-list a[aria-current] >> text=olga@alpenblick.example')
  await tabUntil(t, tab, '#submission-note')
  await page.keyboard.press('Escape')
  await page.keyboard.press('r')
  await page.waitForSelector('.composer select')
  await tabUntil(t, tab, '.composer select')
  await page.keyboard.type('App')
  await page.locator('.composer').getByLabel('day').waitFor()
  await tabUntil(t, tab, '.reply-parts > div:nth-of-type(2) input')
  await page.keyboard.type('Monday')
  await page.waitForSelector('.as-text >> text=Your repair: Monday')
  await tab.check(t)
  await page.keyboard.press('Escape')
  await page.waitForSelector('.composer', { state: 'detached' })
}

test('submissions, keyboard: read, tag, annotate, reply', async (t) => {
  const server = await startDashboard(t, browser)
  const { rest } = server.daemon
  const { form } = await seedForm(server)
  const tab = await server.open({ colorScheme: 'dark' })
  const { page } = tab
  const press = async (...keys: readonly string[]): Promise<void> => {
    for (const key of keys) await page.keyboard.press(key)
  }
  const shows = (name: string) => page.waitForSelector(`.sub-head h2:has-text("${name}")`)
  await press('g', 's')
  await page.waitForURL(/\/forms\/submissions/)
  await page.waitForSelector('.message-list li')
  await press('j')
  await shows('Ruth Amstutz')
  await press('j')
  await shows('Jonas Keller')
  await press('k')
  await shows('Ruth Amstutz')
  await press('e')
  await shows('Jonas Keller')
  await page.waitForSelector('.message-list a:has-text("Ruth Amstutz")', { state: 'detached' })
  await press('!')
  await shows('Bettina Hauser')
  await press('Control+z')
  await page.waitForSelector('.message-list a:has-text("Jonas Keller")')
  await press('n')
  await page.keyboard.type('Call back')
  await press('Control+Enter')
  await page.waitForSelector('text=The note is saved.')
  await press('Escape', 'u')
  await page.waitForSelector('.message-list a.unread:has-text("Bettina Hauser")')
  await press('x')
  await page.waitForSelector('.bulk >> text=1 selected')
  await press('x', 'r')
  await page.waitForSelector('.composer select')
  await press('Tab', 'Tab')
  await page.keyboard.type('shop@alpenblick.example')
  await press('Tab', 'Tab', 'Tab')
  await page.keyboard.type('Yes, on the 28th.')
  await tab.check(t)
  await press('Tab', 'Tab', 'Enter')
  await page.waitForSelector('.replies .tag >> text=Draft')
  await page.click('.replies >> text=Discard')
  await page.waitForSelector('.replies .tag >> text=Draft', { state: 'detached' })
  await page.click('.toast >> text=Undo')
  await page.waitForSelector('.replies >> text=Yes, on the 28th.')
  await press('[')
  await shows('Jonas Keller')
  await answerByKeys(t, tab)
  await press('j')
  await shows('Bettina Hauser')
  await press('Escape')
  await page.waitForSelector('text=No submission selected')
  await press('/')
  await page.keyboard.type('wheels legno')
  await press('Enter')
  await page.waitForSelector('text=No matches')
  await tab.check(t)
  const { data } = await rest.must('GET', `/v1/forms/${form}/submissions?q=call`)
  t.is((data as Json[]).length, 1)
  t.deepEqual((await rest.must('GET', '/v1/traces'))['data'], [], 'saving a draft sends nothing')
})

test('submissions: archiving during opening keeps the archived status', async (t) => {
  const server = await startDashboard(t, browser)
  const { rest } = server.daemon
  const { form, submissions } = await seedForm(server)
  const id = String(submissions.at(-1))
  const tab = await server.open()
  const { page } = tab
  const [asked, goesOn] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  await page.route(`**/submissions/${id}`, async (route) => {
    if (route.request().method() !== 'GET') return route.continue()
    const response = await route.fetch()
    asked.resolve()
    await goesOn.promise
    return route.fulfill({ response })
  })
  await tab.go('/forms/submissions')
  await page.click('.message-list a:has-text("Ruth Amstutz")')
  await asked.promise
  await page.click('.message-list li:has-text("Ruth Amstutz") .pick')
  await page.click('.bulk >> text=Archive')
  await page.waitForSelector('.message-list li:has-text("Ruth Amstutz")', { state: 'detached' })
  const replies = page.waitForResponse(/\/replies$/) // requested together with the change that marks it as read
  goesOn.resolve()
  await replies
  t.is((await rest.must('GET', `/v1/forms/${form}/submissions/${id}`))['status'], 'archived')
})

test('submissions: hostile answers are text; spam reasons; read-only for viewers', async (t) => {
  const server = await startDashboard(t, browser)
  const { rest } = server.daemon
  const hostile = '<img src=x onerror=alert(1)>"\'><script>alert(2)</script>\u202Etxt.exe'
  const { form } = await seedForm(server, hostile.slice(0, 80), [
    { name: hostile, email: 'eve@example.net', bike: 'javascript:alert(3)', message: hostile },
  ])
  const { id } = ((await rest.must('GET', `/v1/forms/${form}/submissions`))['data'] as Json[])[0] ?? {}
  await rest.must('PATCH', `/v1/forms/${form}/submissions/${String(id)}`, { tags: [hostile.slice(0, 20)], note: hostile })
  const files = await seedFiles(server, [[samples.jpeg, `${hostile.slice(0, 40)}.jpg`]])
  const tab = await server.open()
  const { page } = tab
  page.on('dialog', (dialog) => void dialog.dismiss().then(() => t.fail('a script ran')))
  await tab.go(`/forms/${form}/submissions/${String(id)}`)
  await page.waitForSelector('.answers >> text=<script>alert(2)</script>')
  t.is(await page.locator('main img, main [onerror]').count(), 0)
  await page.waitForSelector('.answers .odd-character >> text=U+202E')
  await tab.check(t)
  await page.keyboard.press('!')
  await page.click('.sub-filters >> text=Spam')
  await page.click('.message-list li a')
  await page.waitForSelector('text=Marked by a member.')
  await tab.check(t)
  await tab.go(`/forms/${files.form}/submissions/${files.submission}`)
  await page.waitForSelector('.sub-files >> text=Not scanned: the service has no virus scanner')
  await page.click('.sub-files >> text=Download')
  await page.waitForSelector('.sub-files [role=alert] >> text=The service has no virus scanner')
  await tab.check(t)
  const vera = await openAs(browser, server, 'viewer', { locale: 'de' })
  await vera.go(`/forms/${form}/submissions/${String(id)}`)
  await vera.page.waitForSelector('.answers dd')
  t.is(await vera.page.locator('.sub-head >> text=Antworten').count(), 0)
  t.is(await vera.page.locator('.pick').count(), 0)
  await vera.check(t)
})
