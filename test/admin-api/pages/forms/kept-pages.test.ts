/** Rendering of a cached form: only rows with the visitor's own answers are rendered again. */
import test from '#test'
import { Html } from '../../../../admin-api/pages/layout/html.ts'
import { overhear } from '../../../support/overhear.ts'
import { startHosted } from './hosted.ts'

const marked = /^counted_\d+$/

test('cache: only rows with prefilled or refused answers are rendered again', async (t) => {
  const hosted = await startHosted(t)
  const fields = Array.from({ length: 60 }, (_, at) => ({
    ...{ key: `counted_${at}`, label: `Question ${at}` },
    ...(at % 2 === 0 ? { type: 'text' } : { type: 'radio', options: ['a', 'b'].map((value) => ({ value, label: value })) }),
    ...(at === 0 && { prefill: true, required: true }),
    ...(at === 4 && { default: 'usual' }),
  }))
  const { page } = await hosted.publish({ name: 'Counted', locale: 'en', schema: { version: 1, fields } })
  const seen = new Set<string>()
  const { of } = Html
  t.teardown(() => {
    Html.of = of
  })
  overhear(Html, 'of', (_, values) => {
    for (const value of values) if (typeof value === 'string' && marked.test(value)) seen.add(value)
  })
  const rendered = async (ask: () => Promise<Response>, status = 200): Promise<readonly [readonly string[], string]> => {
    seen.clear()
    const answer = await ask()
    const text = await answer.text()
    t.is(answer.status, status)
    return [[...seen].toSorted(), text]
  }
  const get = (query: string) => rendered(() => fetch(page + query))
  const send = (values: Readonly<Record<string, string>>) =>
    rendered(() => fetch(page, { method: 'POST', body: new URLSearchParams(values) }), 422)
  const [all, first] = await get('')
  t.is(all.length, 60)
  t.deepEqual((await get(''))[0], [])
  t.deepEqual((await get('?zzz=1&counted_2=kept'))[0], [], 'no field accepts these')
  const [filled, text] = await get('?counted_0=Ada')
  t.deepEqual(filled, ['counted_0'])
  t.regex(text, /value="Ada"/)
  t.is(text.replace('value="Ada"', 'value=""').replaceAll(/value="[\w.-]{40,}"/g, ''), first.replaceAll(/value="[\w.-]{40,}"/g, ''))
  t.deepEqual((await get('?counted_0=Grace'))[0], ['counted_0'])
  const token = /name="(_[^"]*)" value="([^"]{20,})"/.exec(first)
  hosted.clock.advance(60_000)
  const base = { [token?.[1] ?? '']: token?.[2] ?? '', counted_6: '' }
  t.deepEqual((await send(base))[0], ['counted_0', 'counted_4', 'counted_6'], 'a row without an answer is cached too')
  const [again, refused] = await send({ ...base, counted_2: 'Mine' })
  t.deepEqual(again, ['counted_0', 'counted_2'])
  t.regex(refused, /value="Mine"/)
  t.notRegex((await send({ ...base, counted_4: 'usual' }))[1], /value="(?:Mine|Ada)"/)
})
