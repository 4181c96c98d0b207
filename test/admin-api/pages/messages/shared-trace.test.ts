/** The share link of a trace: a page in a browser and JSON for programs, without private data. */
import test from '#test'
import { browserOf } from '../../../support/web/browser.ts'
import { report, rewrite, send } from '../../rest/fixture/diagnosed.ts'
import { addDestination, startFixture } from '../../rest/fixture/rest-fixture.ts'
import { openTab } from '../tab.ts'

const browser = browserOf(test)

const message = {
  from: 'shop@example.ch',
  to: ['ada@example.ch'],
  bcc: ['zoe@hidden.example'],
  subject: 'Very secret',
  text: 'very secret',
}

for (const colorScheme of ['light', 'dark'] as const)
  test(`share link: a page with the outcome of the message, ${colorScheme}`, async (t) => {
    const { rest, address } = await startFixture(t)
    const { trace_id } = await rest.must('POST', '/v1/messages', message)
    const tab = await openTab(t, browser(), { colorScheme })
    await tab.open(`http://${address}/share/traces/${String(trace_id)}`)
    t.is(await tab.page.innerText('h1'), 'The message was captured in a virtual inbox instead of being sent.')
    t.deepEqual(await tab.page.locator('.trace-timeline h3').allInnerTexts(), [
      'Accepted',
      'Destination selected',
      'Captured instead of sent',
    ])
    t.deepEqual(await tab.page.locator('.mail dd code').allTextContents(), ['hidden@example.ch', trace_id])
    const source = await tab.page.content()
    for (const word of ['secret', 'ada@', 'zoe', 'hidden.example', 'shop@', 'prj_', 'key_']) t.false(source.includes(word), word)
    t.false(source.includes('<script'))
    await tab.open(`http://${address}/share/traces/0b6ab9a4-6a0c-4b0f-9d6f-0d5f8f1c2a3b`)
    t.is(await tab.page.innerText('h1'), 'Nothing here')
  })

test('share link: a bounce shows the reply of the server, and no address', async (t) => {
  const fixture = await startFixture(t)
  const { rest, address, clock } = fixture
  const destination_id = await addDestination(rest, {}, true)
  const id = await send(rest, 'anna.keller+shop@example.net', { destination_id, subject: 'Very secret' })
  const text = '<anna.keller+shop@example.net>: Mailbox full of Anna Keller'
  await rewrite(fixture, id, (trace) => ({
    ...trace,
    ...{ status: 'failed', nextAttemptAt: null, attempts: 1 },
    firstAttempt: {
      ...{ number: 1, destinationId: destination_id, startedAt: clock.now(), endedAt: clock.now(), state: 'finished', provider: 'smtp' },
      recipients: [{ address: 'anna.keller+shop@example.net', verdict: 'permanent', reply: { code: 552, enhanced: '5.2.2', text } }],
    },
    recipients: trace.recipients.map((one) => ({ ...one, status: 'failed' })),
  }))
  await report(fixture, id, {
    proof: 'attempt',
    category: 'mailbox_full',
    bounce: 'soft',
    status: '5.2.2',
    smtpCode: 552,
    diagnostic: text,
  })
  const tab = await openTab(t, browser(), {})
  await tab.open(`http://${address}/share/traces/${id}`)
  t.is(await tab.page.innerText('h1'), 'The mailbox is full')
  t.deepEqual(await tab.page.locator('.reply').allTextContents(), ['552 5.2.2 <hidden>: Mailbox full of hidden'])
  t.is(await tab.page.innerText('.helps p'), 'The recipient deletes mail or gets more space. Then the sender sends the message again.')
  t.regex(await tab.page.innerText('.trace-timeline'), /Attempt 1: refused/)
  for (const source of [await tab.page.content(), JSON.stringify(await rest.must('GET', `/share/traces/${id}`))])
    for (const word of [/anna/i, /keller/i, /secret/i, /shop/i]) t.notRegex(source, word)
})

test('share link: JSON for programs, cached separately', async (t) => {
  const { rest, address } = await startFixture(t)
  const { trace_id } = await rest.must('POST', '/v1/messages', message)
  for (const path of [`/share/traces/${String(trace_id)}`, '/share/traces/0b6ab9a4-6a0c-4b0f-9d6f-0d5f8f1c2a3b'])
    for (const [accept, type] of [
      ['*/*', 'application/json'],
      ['application/json', 'application/json'],
      ['text/html,*/*;q=0.8', 'text/html; charset=utf-8'],
    ] as const) {
      const answer = await fetch(`http://${address}${path}`, { headers: { accept } })
      t.deepEqual(
        [answer.headers.get('content-type'), answer.headers.get('vary')],
        [type, type === 'application/json' ? 'Accept' : 'Accept, Accept-Language, Cookie'],
        `${path} ${accept}`,
      )
      t.is(answer.headers.get('x-robots-tag') === null, answer.status === 404 && type === 'application/json')
      await answer.arrayBuffer()
    }
})
