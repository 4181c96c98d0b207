/** The rules about links and decisions, fed with small bad examples. */
import test from '#test'
import { deadLinks, decisions, goneFiles } from './documents.ts'
import type { Document } from './source.ts'

const document = (path: string, text: string): Document => ({ path, text })
const page = '# One sync for a group\n\nDate: 2026-11-21\n\n## Context\n\nA\n\n## Decision\n\nB\n\n## Consequences\n\nC\n'
const readme = (text = '[a](decisions/README.md)'): Document => document('store/README.md', text)
const index = (text = '[a](0001-one-sync.md)'): Document => document('store/decisions/README.md', text)

test('deadLinks() follows files, folders and headings', (t) => {
  const documents = [
    document('docs/a.md', '[x](b.md) [y](b.md#two-words--more) [z](../LICENSE) [f](../docs/) [h](#here)\n\n# Here\n\n[r]: b.md'),
    document('docs/b.md', '## Two `words` & more\n'),
  ]
  t.deepEqual(deadLinks(documents, ['docs/a.md', 'docs/b.md', 'LICENSE']), [])
})

test('deadLinks() finds missing targets, and ignores addresses and code', (t) => {
  const dead = (text: string) => deadLinks([document('docs/a.md', text)], ['docs/a.md'])
  t.deepEqual(dead('[x](b.md)'), ['docs/a.md links to b.md, which is not there'])
  t.deepEqual(dead('[x](../a.md "title")'), ['docs/a.md links to ../a.md, which is not there'])
  t.deepEqual(dead('[x][r]\n\n[r]: gone.md'), ['docs/a.md links to gone.md, which is not there'])
  t.deepEqual(dead('[x](a.md#gone)'), ['docs/a.md links to a.md#gone, a heading that is not there'])
  t.deepEqual(dead('[x](https://example.com/b.md) `[x](b.md)`\n\n```sh\n[x](b.md)\n# Gone\n```\n'), [])
  t.is(dead('```\n# In code\n```\n\n[x](#in-code)').length, 1)
})

test('goneFiles() finds names of moved files, and ignores patterns, plain names and code', (t) => {
  const gone = (text: string) => goneFiles([document('store/README.md', text)], ['daemon/core/capture/reading/readings.ts'])
  t.deepEqual(gone('`capture/reading/readings.ts` `reading/readings.ts` `daemon/core/capture/reading/readings.ts`'), [])
  t.deepEqual(gone('See `capture/readings.ts`.'), ['store/README.md names capture/readings.ts, which is not there'])
  t.deepEqual(gone('`vendors/*.ts` `other.ts` `NNNN/title.md`\n\n```sh\nnode `a/b.ts`\n```\n'), [])
})

test('decisions() accepts a whole page that its index links, and READMEs without decisions', (t) => {
  t.deepEqual(decisions([readme(), index(), document('store/decisions/0001-one-sync.md', page)]), [])
  t.deepEqual(decisions([readme('- **One sync.** And why.')]), [])
})

test('decisions() requires a number, four parts in order, and text in each part', (t) => {
  const faults = (path: string, text: string) => decisions([readme(), index(), document(path, text)])
  const path = 'store/decisions/0001-one-sync.md'
  for (const text of [
    page.replace('# One sync for a group', ''),
    page.replace('Date: 2026-11-21', '2026-11-21'),
    page.replace('## Context', '## Why'),
    page.replace('\nC\n', ''),
    page.replace('\nB\n', ''),
    page.replace('## Decision', '## Consequences').replace(/## Consequences(?=\n\nC)/, '## Decision'),
  ]) {
    t.regex(faults(path, text).join(), /^store\/decisions\/0001-one-sync\.md needs a title/, text)
  }
  t.regex(faults('store/decisions/1-One.md', page).join(), /is not named NNNN-title\.md/)
})

test('decisions() requires an index with all pages, a link to it, and unique numbers', (t) => {
  const first = document('store/decisions/0001-one-sync.md', page)
  const noLink = 'store/decisions/README.md has no link to store/decisions/0001-one-sync.md'
  const noWay = 'store/README.md has no link to store/decisions/README.md'
  t.deepEqual(decisions([first]), [noLink, noWay])
  t.deepEqual(decisions([readme(), index(''), first]), [noLink])
  t.deepEqual(decisions([readme('[a](decisions/0001-one-sync.md)'), first]), [noLink, noWay])
  t.deepEqual(decisions([readme(''), index(), first]), [noWay])
  const both = index('[a](0001-one-sync.md) [b](0001-two.md)')
  t.deepEqual(decisions([readme(), both, first, document('store/decisions/0001-two.md', page)]), [
    'store/decisions/0001-two.md has the number of another',
  ])
  for (const path of ['store/README.md', 'store/level/README.md', 'store/decisions/README.md']) {
    t.deepEqual(decisions([document(path, '- 2026-11-22: **Told here.**')]), [
      `${path} tells a dated decision, which belongs on a page in decisions/`,
    ])
  }
})
