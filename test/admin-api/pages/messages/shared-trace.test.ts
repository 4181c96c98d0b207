/** The share link of a trace: a page in a browser and JSON for programs, without private data. */
import test from '#test'
import { browserOf } from '../../../support/web/browser.ts'
import { startFixture } from '../../rest/fixture/rest-fixture.ts'
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
    t.deepEqual(await tab.page.locator('.rows code').allInnerTexts(), ['a***@e***'])
    const source = await tab.page.content()
    for (const word of ['secret', 'ada@', 'zoe', 'hidden.example', 'shop@', 'prj_', 'key_']) t.false(source.includes(word), word)
    t.false(source.includes('<script'))
    await tab.open(`http://${address}/share/traces/0b6ab9a4-6a0c-4b0f-9d6f-0d5f8f1c2a3b`)
    t.is(await tab.page.innerText('h1'), 'Nothing here')
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
