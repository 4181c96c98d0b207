/** What checks say stands in every language of the dashboard, with the same values. */
import test from '#test'
import { inEnglish, sentences } from '#ingest/inspect/sentences/say.ts'
import { checkTexts } from '../../../admin-api/catalogs/check-texts.ts'

const valuesIn = (sentence: string): string[] => [...new Set([...sentence.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name))].toSorted()

for (const language of ['de', 'fr', 'it'])
  test(`${language} has every sentence of a report, with its values`, (t) => {
    const words = checkTexts(language).sentences
    t.deepEqual(Object.keys(words).toSorted(), Object.keys(sentences).toSorted())
    for (const [code, english] of Object.entries(sentences)) t.deepEqual(valuesIn(words[code] ?? ''), valuesIn(english), code)
  })

test('a value is text, whatever it looks like', (t) => {
  const said = { code: 'spf_unclear', values: { domain: '{ip}$&', ip: '203.0.113.1', result: '{result}' } }
  t.is(inEnglish(said), '{ip}$& does not say clearly that 203.0.113.1 may send for it ({result}).')
})
