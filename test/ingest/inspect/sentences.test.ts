/** Sentences of a report: the same codes and values in each language. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import test from '#test'
import { catalogIn } from '#config/catalogs/catalog-in.ts'
import { codedMessage } from '#config/texts/coded-message.ts'
import { maxHeadLines } from '#ingest/authentication/verifiable-head.ts'
import { inEnglish } from '#ingest/inspect/sentences/say.ts'
import { problemText } from '#ingest/inspect/sentences/problems.ts'

type Texts = Readonly<Record<string, Readonly<Record<string, string>>>>

const textsIn = (language: string): Texts =>
  JSON.parse(readFileSync(join(import.meta.dirname, '../../../config/catalogs', language, 'checks.json'), 'utf8')) as Texts
const valuesIn = (sentence: string): string[] => [...new Set([...sentence.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name))].toSorted()

for (const language of ['de', 'fr', 'it'])
  test(`inspect: ${language} has every text of a report, with its values`, (t) => {
    const own = textsIn(language)
    for (const [group, texts] of Object.entries(textsIn('en'))) {
      t.deepEqual(Object.keys(own[group] ?? {}).toSorted(), Object.keys(texts).toSorted())
      for (const [code, english] of Object.entries(texts)) t.deepEqual(valuesIn(own[group]?.[code] ?? ''), valuesIn(english), code)
    }
  })

test('inspect: a value stays as it is, even if it looks like a parameter', (t) => {
  const said = { code: 'spf_unclear', values: { domain: '{ip}$&', ip: '203.0.113.1', result: '{result}' } }
  t.is(inEnglish(said), 'The SPF record of {ip}$& neither clearly allows nor forbids 203.0.113.1 ({result}).')
})

test('inspect: a stored sentence that lacks a value has no translation', (t) => {
  const { sentences } = catalogIn('checks', 'de')
  t.is(codedMessage(sentences, 'spf_pass', {}), undefined)
  t.is(codedMessage(sentences, 'constructor', {}), undefined)
  t.true(codedMessage(sentences, 'spf_pass', { domain: 'example.org' })?.includes('example.org'))
})

test('inspect: the sentence about too many header lines names the limit', (t) => {
  t.true(problemText('header_lines').includes(maxHeadLines.toLocaleString('en')))
})
