/** Figures of a form: counted immediately, by day, and by the page where visitors leave. */
import test from '#test'
import { codeOf } from '../fixture/publishable-page.ts'
import { formFixture, type FormFixture } from './visitor.ts'

type Row = Readonly<Record<string, unknown>>

const schema = {
  version: 1,
  fields: [
    { key: 'email', type: 'email', label: 'Email', required: true },
    { key: 'second', type: 'page_break', title: 'More' },
    { key: 'message', type: 'textarea', label: 'Message' },
  ],
}
const good = { email: 'ada@example.ch', message: 'Hello.' }

/** Counts are written after a second. */
async function figures({ rest, path, daemon }: FormFixture, query = ''): Promise<Row> {
  await daemon.pass(1100)
  return rest.must('GET', `${path}/analytics?${query}`)
}

test('figures: views, starts, pages, submissions, spam and usual time by day', async (t) => {
  const fixture = await formFixture(t, { schema })
  const { publicId, rest, send, token, clock, address } = fixture
  const progress = (fill_time_token: string, page?: number) =>
    rest.call('POST', `/v1/public/forms/${publicId}/progress`, { fill_time_token, ...(page && { page }) })
  t.is((await fetch(`http://${address}/f/${publicId}`)).status, 200, 'pages are numbered as in the definition')
  const [left, stayed] = [await token(), await token()]
  for (const one of [left, stayed, left]) t.is(codeOf(await progress(one)), 204)
  t.is(codeOf(await progress(stayed, 2)), 204)
  t.is(codeOf(await progress('ft1.wrong', 2)), 204)
  t.is(codeOf(await progress(left, 19)), 204, 'not a page of this form')
  await send(good, { _mnx_ft: stayed })
  await send(good)
  await send(good, { _mnx_hp: 'filled' })
  const wanted = { views: 5, starts: 3, submissions: 2, spam: 1 }
  const report = await figures(fixture)
  t.like(report, { totals: wanted })
  const median = Number((report['totals'] as Row)['median_fill_ms'])
  t.true(median >= 5000 && median <= 12_500, String(median))
  t.like(report['pages'], [
    { page: 1, title: null, reached: 3, left: 1 },
    { page: 2, title: 'More', reached: 2, left: 0 },
  ])
  const days = report['days'] as Row[]
  t.is(days.length, 30)
  t.like(days.at(-1), wanted)
  clock.advance(24 * 3_600_000)
  await send(good)
  const tomorrow = (await figures(fixture, 'from=2030-01-01T12:00:00Z&to=2030-01-03T00:00:00Z'))['days'] as Row[]
  t.deepEqual(
    tomorrow.map(({ submissions }) => submissions),
    [2, 1],
  )
  const all = await fixture.rest.must('GET', '/v1/forms/analytics?from=2030-01-01T12:00:00Z&to=2030-01-03T00:00:00Z')
  const [mine] = (all['data'] as Row[]).filter(({ form_id: one }) => one === fixture.form)
  t.deepEqual(mine?.['days'], tomorrow)
  t.is(
    codeOf(await fixture.rest.call('GET', '/v1/forms/analytics?from=2029-01-01T00:00:00Z&to=2030-01-01T00:00:00Z')),
    '400 validation_failed',
  )
  t.is(
    codeOf(await rest.call('GET', `${fixture.path}/analytics?from=2030-02-01T00:00:00Z&to=2030-01-01T00:00:00Z`)),
    '400 validation_failed',
  )
  t.is(codeOf(await rest.call('GET', `${fixture.path}/analytics?from=2020-01-01T00:00:00Z`)), '400 validation_failed')
})

test('form lists count new submissions, also after a change of status or a deletion', async (t) => {
  const fixture = await formFixture(t)
  const { rest, path, send, submissions, form } = fixture
  const count = async (): Promise<unknown> => {
    const [row] = ((await rest.must('GET', '/v1/forms'))['data'] as Row[]).filter(({ id }) => id === form)
    t.like(row, { submissions_by_status: { new: row?.['submissions_new'] } })
    byStatus = row?.['submissions_by_status']
    return row?.['submissions_new']
  }
  let byStatus: unknown
  t.is(await count(), 0)
  for (let n = 0; n < 4; n++) await send(good)
  await send(good, { _mnx_hp: 'filled' })
  t.is(await count(), 4)
  t.like(byStatus, { spam: 1 })
  const [spam, first, second, third] = (await submissions()).map(({ id }) => String(id))
  await rest.must('PATCH', `${path}/submissions/${String(first)}`, { status: 'read' })
  t.is(await count(), 3)
  await rest.must('POST', `${path}/submissions/bulk`, { ids: [second, third], action: 'archive' })
  t.is(await count(), 1)
  t.deepEqual(byStatus, { new: 1, read: 1, replied: 0, archived: 2, spam: 1 })
  await rest.must('POST', `${path}/submissions/bulk`, { ids: [spam], action: 'not_spam' })
  t.is(await count(), 2)
  await rest.must('POST', `${path}/submissions/bulk`, { ids: [spam, first], action: 'delete' })
  t.is(await count(), 1)
  t.deepEqual(byStatus, { new: 1, read: 0, replied: 0, archived: 2, spam: 0 })
})
