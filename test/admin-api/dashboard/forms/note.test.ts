/** The note of a submission in Chromium, while two people change it. */
import { testWith } from '../../../support/peers/peers.ts'
import { browserOf } from '../../../support/web/browser.ts'
import { startDashboard } from '../dashboard-server.ts'
import { seedForm } from './seed-submissions.ts'

const test = testWith('chromium')
const browser = browserOf(test)

test('submission: the note of another person does not replace typed text', async (t) => {
  const server = await startDashboard(t, browser)
  const { rest } = server.daemon
  const { form, submit } = await seedForm(server)
  const id = await submit({ name: 'Late Comer', email: 'late@example.net', message: 'Hello?' })
  const path = `/v1/forms/${form}/submissions/${id}`
  const tab = await server.open()
  const { page } = tab
  await tab.go(`/forms/${form}/submissions/${id}`)
  await page.fill('#submission-note', 'Asked for the serial number')
  await rest.must('PATCH', path, { note: 'Refunded' })
  // the response to another change contains the note of the other person
  await page.fill('#submission-tag', 'warranty')
  await page.keyboard.press('Enter')
  await page.waitForSelector('.sub-note >> text=Another person changed this note.')
  t.is(await page.inputValue('#submission-note'), 'Asked for the serial number')
  await tab.check(t)
  await page.click('.sub-note >> text=Use this version')
  t.is(await page.inputValue('#submission-note'), 'Refunded')
  await page.fill('#submission-note', 'Refunded, asked for the serial number')
  await page.click('.sub-note >> text=Save')
  await page.waitForSelector('text=The note is saved.')
  t.is((await rest.must('GET', path))['note'], 'Refunded, asked for the serial number')
})
