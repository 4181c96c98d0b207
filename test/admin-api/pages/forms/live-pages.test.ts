/** Forms with their script in Chromium: steps, logic, errors, sending, and failures without loss of answers. */
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { ExecutionContext } from 'ava'
import { evaluate, type Evaluation } from '#core/forms/definition/evaluate.ts'
import { samples } from '../../../core/forms/file-samples.ts'
import { axeFaults, browserOf, overflows, type Page } from '../../../support/web/browser.ts'
import { testWith } from '../../../support/peers/peers.ts'
import { golden, type Row } from './golden.ts'
import { startHosted, type Hosted } from './hosted.ts'
import { pairs } from './random-forms.ts'
import { isQuestion } from '../../../../admin-api/pages/forms/form-view.ts'
import { builtFolder, type ScriptManifest } from '../../../../admin-api/pages/forms/scripts/built-scripts.ts'
import { sentencesOf } from '../../../../admin-api/pages/forms/scripts/plan.ts'
import { textsFor } from '../../../../admin-api/pages/forms/texts/texts-for.ts'

const test = testWith('chromium')
const browser = browserOf(test)

interface Look {
  readonly colorScheme?: 'light' | 'dark'
  readonly forcedColors?: 'active'
}

async function tab(t: ExecutionContext, look: Look = {}): Promise<{ page: Page; faults: string[] }> {
  const context = await browser().newContext(look)
  t.teardown(() => context.close())
  const page = await context.newPage()
  const faults: string[] = []
  page.on('console', (message) => /Content.Security.Policy|Trusted/i.test(message.text()) && faults.push(message.text()))
  page.on('pageerror', (error) => faults.push(String(error)))
  await page.addInitScript(
    "addEventListener('securitypolicyviolation', ({ violatedDirective }) => console.error('Content-Security-Policy ' + violatedDirective))",
  )
  await page.route(/^https:/, (route) => route.abort())
  return { page, faults }
}

const press = (page: Page, name: string): Promise<void> => page.getByRole('button', { name, exact: true }).click()

/** Opens a published form and advances the clock by 5 s, past the minimum fill time: a faster submission is spam. */
async function open(t: ExecutionContext, hosted: Hosted, definition: Row, look?: Look) {
  const form = await hosted.publish(definition)
  const opened = await tab(t, look)
  await opened.page.goto(form.page)
  hosted.clock.advance(5000)
  return { ...form, ...opened, address: form.page }
}

test('scripts: at most 12.5 KiB for forms and 6 KiB for embedding', async (t) => {
  await startHosted(t)
  const manifest = JSON.parse(await readFile(join(builtFolder, 'manifest.json'), 'utf8')) as ScriptManifest
  const sizeOf = async (file: string): Promise<number> => (await readFile(join(builtFolder, `${file}.gz`))).length
  const [form, embed] = [await sizeOf(manifest.form), await sizeOf(manifest.embed)]
  t.true(form <= 12.5 * 1024, `${String(form)} octets`)
  t.true(embed <= 6 * 1024, `${String(embed)} octets`)
})

test('problems: every code has a text in every language', (t) => {
  const codes = new Set<string>()
  for (const { definition, given } of pairs('sentences', 200, 10)) {
    const { problems } = evaluate(definition, { ...given, files: new Set(given.files) })
    for (const field of definition.schema.fields.filter((each) => isQuestion(each)))
      for (const { code } of problems[field.key] ?? []) {
        codes.add(code)
        for (const lang of ['ar', 'de', 'en', 'fr', 'it']) {
          const said = sentencesOf(textsFor(lang), field)[code]
          if (said === undefined && code !== 'invalid_type') t.fail(`${lang}: ${field.type} ${code}`)
        }
      }
  }
  t.true(codes.size >= 12, [...codes].join(' '))
  const years = { key: 'years', type: 'number', label: 'Jahre', min: 1, max: 2000 } as const
  t.is(sentencesOf(textsFor('de'), years)['out_of_range'], 'Geben Sie einen Wert von 1 bis 2.000 ein.')
  const day = { key: 'day', type: 'date', label: 'Day', min: '2026-12-24' } as const
  t.is(sentencesOf(textsFor('en'), day)['out_of_range'], 'Choose December 24, 2026 or later.')
})

const plain = ({ visible, pages, required, answers, problems }: Evaluation) => ({
  ...{ visible: [...visible], pages: [...pages], required: [...required], answers },
  problems: Object.fromEntries(Object.entries(problems).map(([key, list]) => [key, list.map(({ code }) => code)])),
})

test('evaluation: browser and service agree on 2,000 random forms and answers', async (t) => {
  const hosted = await startHosted(t)
  const { page } = await open(t, hosted, golden['one'] ?? {})
  const all = pairs('parity', 200, 10)
  const own = all.map(({ definition, given }) => plain(evaluate(definition, { ...given, files: new Set(given.files) })))
  const found = await page.evaluate(`(async (all) => {
    const { evaluate } = await import(document.querySelector('script[src*="/form-"]').src)
    const plain = ${String(plain)}
    return all.map(({ definition, given }) => plain(evaluate(definition, { ...given, files: new Set(given.files) })))
  })(${JSON.stringify(all)})`)
  t.is(own.length, 2000)
  t.true(own.some(({ problems }) => Object.keys(problems).length > 0) && own.some(({ answers }) => Object.keys(answers).length > 3))
  t.true(own.some(({ pages }, at) => pages.length < (all[at]?.pages ?? 0)))
  t.deepEqual(found, JSON.parse(JSON.stringify(own)))
})

test('live form: accessible while filled in, on a dark phone and in system colors', async (t) => {
  const hosted = await startHosted(t)
  const looks = [
    [await tab(t, { colorScheme: 'dark' }), 320],
    [await tab(t, { forcedColors: 'active' }), 1280],
  ] as const
  for (const [name, definition] of Object.entries(golden)) {
    if (['closed', 'warm', 'bold', 'round', 'french', 'german'].includes(name)) continue
    const { page: address } = await hosted.publish(definition)
    for (const [{ page, faults }, width] of looks) {
      await page.goto(address)
      await page.locator('.actions button:visible').last().click()
      await page.locator('.error, .thanks').first().waitFor()
      t.deepEqual(await axeFaults(page, { at: [width] }), [], name)
      t.deepEqual(await overflows(page, [width]), [], name)
      t.deepEqual(faults, [], name)
    }
  }
})

test('live form: steps forward and back, then sent', async (t) => {
  const hosted = await startHosted(t)
  const { id, page, faults } = await open(t, hosted, golden['support'] ?? {})
  const visible = (): Promise<string[]> => page.locator('.step:visible .label:visible').allInnerTexts()
  t.is(await page.title(), 'Step 1 of 3: What happened – Get help from a person')
  t.is(await page.locator('.step:visible').count(), 1)
  await press(page, 'Continue')
  t.deepEqual(await page.locator('.error').allInnerTexts(), ['Choose an answer to “What is it about?”.', 'Fill in “Which website?”.'])
  t.is(await page.evaluate('document.activeElement.className'), 'summary', 'the whole step is read first')
  await page.click('.summary >> text=Which website?')
  t.is(await page.evaluate('document.activeElement.name'), 'site')
  t.is(await page.innerText('[role=alert] .title'), 'Two answers need another look')
  t.regex(await page.title(), /^Error: Step 1 of 3/)
  const progress = page.waitForResponse(/\/progress$/)
  await page.check('input[name=about][value=o1]')
  t.is((await progress).status(), 204, 'the start is counted')
  t.is(await page.locator('.error').count(), 1, 'a fixed problem disappears')
  await page.fill('#f-site', 'example')
  await page.locator('#f-since').focus()
  t.is(await page.innerText('.error'), 'Enter the complete address, for example https://example.ch.')
  t.deepEqual(await axeFaults(page, { at: [320, 768] }), [])
  await page.fill('#f-site', 'https://example.ch')
  t.is(await page.locator('.error, [role=alert]').count(), 0)
  await press(page, 'Continue')
  t.is(await page.evaluate('document.activeElement.innerText'), 'Details')
  t.is(await page.innerText('.step:visible .step-of'), 'Step 2 of 3')
  t.deepEqual(await visible(), [
    'How bad is it?',
    'What did you do just before?',
    'Error message, word for word optional',
    'Screenshot optional',
  ])
  t.is(await page.getAttribute('#f-before', 'aria-required'), null)
  t.is(await page.locator('.stepper [aria-current=step]').innerText(), '2\nDetails')
  t.deepEqual(await axeFaults(page, { at: [320, 1280] }), [])
  await press(page, 'Back')
  await page.check('input[name=about][value=o3]')
  await press(page, 'Continue')
  t.is(await page.innerText('.step:visible .step-of'), 'Step 2 of 2', 'a rule skips the second page')
  await page.reload()
  t.true(await page.isChecked('input[name=about][value=o3]'), 'the answers are restored')
  t.is(await page.innerText('.step:visible .step-of'), 'Step 2 of 2')
  t.deepEqual(await visible(), ['Your name', 'Email of your account', 'How should we answer?'])
  await page.check('input[name=how][value=o2]')
  t.is(await page.innerText('form > .unseen[role=status]'), 'One more question: Phone')
  await page.fill('#f-name', 'Ruth')
  await page.fill('#f-email', 'ruth@posteo.de')
  await page.fill('#f-phone', '031 555 01 77')
  hosted.clock.advance(5000)
  await press(page, 'Send to support')
  await page.waitForURL(/\/thanks\?s=/)
  t.is(await page.innerText('h1'), 'Thank you')
  t.true(await page.getByRole('button', { name: 'Print' }).isVisible())
  const [submission] = await hosted.submissions(id)
  t.deepEqual(submission?.['answers'], {
    ...{ about: 'o3', site: 'https://example.ch', name: 'Ruth', email: 'ruth@posteo.de', how: 'o2', phone: '031 555 01 77' },
  })
  t.is(await page.evaluate('sessionStorage.length'), 0)
  t.deepEqual(faults, [])
})

test('live form: a double click counts once; a lost connection loses no answers', async (t) => {
  const hosted = await startHosted(t)
  const { id, page } = await open(t, hosted, golden['one'] ?? {})
  await page.fill('#f-email', 'ada@example.ch')
  await page.route(/\/f\/\w+$/, (route) => route.abort())
  await press(page, 'Send')
  t.regex(await page.innerText('[role=alert]'), /No connection/)
  t.is(await page.inputValue('#f-email'), 'ada@example.ch')
  await page.unroute(/\/f\/\w+$/)
  await page.dblclick('button[type=submit]')
  await page.waitForURL(/\/thanks/)
  t.is((await hosted.submissions(id)).length, 1)
})

test('live form: an old form is sent; problems of the service appear at the field', async (t) => {
  const hosted = await startHosted(t)
  const { id, page } = await open(t, hosted, golden['contact'] ?? {})
  await page.fill('#f-message', 'Squeaks.\nSince Monday.')
  t.is(await page.innerText('#f-message ~ .note'), '22 of 2,000 characters')
  await page.fill('#f-name', 'Ruth')
  await page.fill('#f-email', 'ruth@posteo.de')
  await page.check('input[name=topic][value=o2]')
  await page.check('#f-privacy')
  hosted.clock.advance(3 * 86_400_000)
  const [first] = await Promise.all([
    page.waitForResponse((response) => response.request().method() === 'POST' && /\/f\/\w+$/.test(response.url())),
    press(page, 'Send to the workshop'),
  ])
  t.is(first.status(), 422)
  await page.waitForURL(/\/thanks/)
  const [submission] = await hosted.submissions(id)
  t.like(submission, { status: 'new', spam_reasons: [] })
  t.like(submission?.['answers'], { name: 'Ruth', message: 'Squeaks.\nSince Monday.' })
})

test('live form: an old version is replaced by the new one with its answers', async (t) => {
  const hosted = await startHosted(t)
  const { id, page, faults } = await open(t, hosted, golden['one'] ?? {})
  await page.fill('#f-email', 'ruth@posteo.de')
  hosted.clock.advance(3 * 86_400_000)
  const fields = [
    { key: 'email', type: 'email', label: 'Email', required: true },
    { key: 'name', type: 'text', label: 'Your name', required: true },
  ]
  await hosted.rest.must('PUT', `/v1/forms/${id}/draft`, { name: 'Newsletter', schema: { version: 1, fields } })
  await hosted.rest.must('POST', `/v1/forms/${id}/publish`)
  await press(page, 'Send')
  await page.locator('#f-name').waitFor()
  t.regex(await page.innerText('[role=alert]'), /^The form changed after you opened it\./)
  t.is(await page.inputValue('#f-email'), 'ruth@posteo.de')
  t.deepEqual(await hosted.submissions(id), [])
  await page.fill('#f-name', 'Ruth')
  await press(page, 'Send')
  await page.waitForURL(/\/thanks/)
  t.like(await hosted.submissions(id), [{ version: 2, status: 'new', answers: { name: 'Ruth', email: 'ruth@posteo.de' } }])
  t.deepEqual(faults, [])
})

test('live form: files of wrong size or type are reported before sending', async (t) => {
  const hosted = await startHosted(t)
  const fields = [{ key: 'cv', type: 'file_upload', label: 'CV', required: true, max_bytes: 1000 }]
  const { id, page, faults } = await open(t, hosted, { name: 'Apply', schema: { version: 1, fields } })
  const posts: string[] = []
  page.on('request', (request) => request.method() === 'POST' && /\/f\/\w+$/.test(request.url()) && posts.push(request.url()))
  const choose = (name: string, mimeType: string, buffer: Buffer) => page.setInputFiles('#f-cv', { name, mimeType, buffer })
  const sentence = async (): Promise<string> => {
    await press(page, 'Send')
    return page.innerText('.error')
  }
  t.is(await page.innerText('#f-cv-note'), 'PNG, JPEG, GIF, WebP, PDF, at most 0.9 kB.')
  await choose('cv.pdf', 'application/pdf', Buffer.alloc(1001))
  t.is(await sentence(), 'The file for “CV” is too large. Choose a smaller one.')
  await choose('clip.mp4', 'video/mp4', Buffer.alloc(10))
  t.is(await sentence(), 'Choose a file of an allowed type for “CV”. A renamed file of another type is not accepted.')
  t.deepEqual(await axeFaults(page, { at: [320] }), [])
  t.deepEqual(posts, [])
  await page.click('text=Remove')
  t.deepEqual([await page.inputValue('#f-cv'), await page.locator('.error').count()], ['', 0], 'a removed file is not a problem')
  await choose('application of Ruth Amstutz.zip', 'application/zip', Buffer.alloc(10))
  t.is(await page.locator('.error').count(), 1, 'the problem appears when the file is chosen')
  await choose('cv.pdf', 'application/pdf', samples.pdf)
  t.is(await page.locator('.error').count(), 0, 'a fixed problem disappears')
  t.regex(await page.innerText('.file'), /^(?:pdf\s+)?cv\.pdf\s+0\.\d kB\s+Remove$/i)
  await press(page, 'Send')
  await page.waitForURL(/\/thanks/)
  t.like(await hosted.submissions(id), [{ files: [{ name: 'cv.pdf' }] }])
  t.is(posts.length, 1)
  t.deepEqual(faults, [])
})

test('live form: a slow upload can be stopped without losing answers', async (t) => {
  const hosted = await startHosted(t)
  const fields = [
    { key: 'email', type: 'email', label: 'Email', required: true },
    { key: 'cv', type: 'file_upload', label: 'CV', required: true },
  ]
  const { id, page, faults } = await open(t, hosted, { name: 'Apply', schema: { version: 1, fields } })
  const line = await page.context().newCDPSession(page)
  const limit = (uploadThroughput: number) =>
    line.send('Network.emulateNetworkConditions', { offline: false, latency: 0, downloadThroughput: -1, uploadThroughput })
  await limit(100_000)
  await page.fill('#f-email', 'ruth@posteo.de')
  await page.setInputFiles('#f-cv', { name: 'cv.pdf', mimeType: 'application/pdf', buffer: Buffer.alloc(8 << 20) })
  await press(page, 'Send')
  await press(page, 'Stop')
  t.is(await page.innerText('[role=alert]'), 'You stopped sending. Nothing was sent, and your answers are still here.')
  t.false(await page.getByRole('button', { name: 'Stop', exact: true }).isVisible())
  t.is(await page.inputValue('#f-email'), 'ruth@posteo.de')
  t.deepEqual(await hosted.submissions(id), [])
  await limit(-1)
  await page.setInputFiles('#f-cv', { name: 'cv.pdf', mimeType: 'application/pdf', buffer: samples.pdf })
  await press(page, 'Send')
  await page.waitForURL(/\/thanks/)
  t.like(await hosted.submissions(id), [{ files: [{ name: 'cv.pdf' }] }])
  t.deepEqual(faults, [])
})
