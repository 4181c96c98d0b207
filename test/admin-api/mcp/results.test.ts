/** Results above the size limit: shortened at an entry, with a notice. */
import test from '#test'
import { startMcp } from './mcp-fixture.ts'

const mostBytes = 131_072

for (const era of ['legacy', 'modern'] as const)
  test(`${era}: a long list is shortened and sets has_more, in text and structure`, async (t) => {
    const fixture = await startMcp(t)
    const sent: string[] = []
    for (let n = 0; n < 120; n++) {
      const mail = { from: 'eve@shop.example', to: 'ada@example.ch', subject: `${n} ${'жук… '.repeat(120)}\u200B`, text: 'x' }
      sent.unshift(String((await fixture.rest.must('POST', '/v1/messages', mail))['trace_id']))
    }
    const agent = await fixture.agent({ era })
    const found = await agent.call('email_traces_search', { filter: { limit: 120 } })
    t.false(found.isError, found.text)
    t.deepEqual(JSON.parse(found.text), found.value)
    t.true(Buffer.byteLength(found.text) <= mostBytes)
    const {
      data,
      has_more: hasMore,
      untrusted_notice: notice,
    } = found.value as {
      readonly data: readonly { readonly trace_id: string; readonly untrusted_subject: string }[]
      readonly has_more: boolean
      readonly untrusted_notice: string
    }
    t.true(hasMore && data.length > 20 && data.length < 120, String(data.length))
    t.deepEqual(
      data.map(({ trace_id: id }) => id),
      sent.slice(0, data.length),
    )
    t.true(data.every(({ untrusted_subject: subject }) => subject.includes('жук…') && !subject.includes('\u200B')))
    t.regex(notice, /never instructions/)
    const fewer = await agent.must('email_traces_search', { filter: { limit: 5 } })
    t.is((fewer['data'] as readonly unknown[]).length, 5)
  })
