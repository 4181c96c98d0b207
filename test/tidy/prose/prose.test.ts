import test from '#test'
import { parseSource } from '../source.ts'
import { constructions } from './constructions.ts'
import { findingsIn, kinds, budgetFaults, passagesOf, raisedBudgets, rateOf, type Budget, type Kind } from './prose.ts'
import { subjectFault } from './subjects.ts'

const riddles = [
  'It is for whoever waits',
  'What is asked comes first',
  'The caller is told of it',
  'Nobody reads it',
  'It waits for so long',
  'It is made anew',
  'There is none: the address is none',
  'It runs no more',
  'The rest stands in the queue',
  'The text behind the last dot',
  'Those that fail',
  'A turn of its own',
  'The rule by which it goes',
  'Whatever it costs',
  'It waits as ever',
  'The list is looked at',
]

test('each construction is found in a sentence, and plain sentences have none of them', (t) => {
  t.is(riddles.length, constructions.length)
  for (const [i, { name, pattern }] of constructions.entries()) t.true((riddles[i] ?? '').search(pattern) >= 0, name)
  const plain = 'Accepts a message: applies policy and limits, then commits content, trace and queue entry in one write.'
  t.deepEqual(findingsIn({ path: 'a.ts', line: 1, text: plain }), [])
})

const tree = {
  sources: [
    parseSource('daemon/core/a.ts', "/** Those that fail.\n * It is asked. */\nexport const a = 'key', b = 'The caller is told of it'\n"),
    parseSource('admin-api/pages/texts/de.ts', "export const de = 'Wer what is asked'\n"),
    parseSource('test/a.test.ts', "// What is asked\ntest('nobody reads it', () => {})\n"),
  ],
  documents: [
    { path: 'CHANGELOG.md', text: '# One of them' },
    { path: 'store/decisions/0001-a.md', text: 'It is made anew.' },
    { path: 'admin-api/docs/a.md', text: 'Run:\n\n```\nwhat is asked\n```\n\nNobody.' },
    { path: 'README.md', text: 'Postern delivers mail.' },
  ],
  paths: ['admin-api/catalogs/dashboard/en/queue.json', 'admin-api/catalogs/dashboard/de/queue.json'],
}

test('passagesOf() sorts texts by kind and leaves out translations and code', (t) => {
  const passages = passagesOf(tree, () => ({ title: 'What is asked', more: { hint: 'Queue' } }))
  const found = Object.fromEntries(
    [...passages].map(([kind, all]) => [kind, all.flatMap(findingsIn).map(({ path, line, words }) => [path, line, words])]),
  )
  t.deepEqual(found, {
    comments: [
      ['daemon/core/a.ts', 1, 'Those that'],
      ['daemon/core/a.ts', 2, 'is asked'],
    ],
    errors: [['daemon/core/a.ts', 3, 'is told']],
    screens: [
      ['admin-api/catalogs/dashboard/en/queue.json', 1, 'What is'],
      ['admin-api/catalogs/dashboard/en/queue.json', 1, 'is asked'],
    ],
    docs: [['admin-api/docs/a.md', 7, 'Nobody']],
    documents: [],
    decisions: [
      ['store/decisions/0001-a.md', 1, 'anew'],
      ['store/decisions/0001-a.md', 1, 'is made'],
    ],
    changelog: [['CHANGELOG.md', 1, 'One of']],
    'test comments': [
      ['test/a.test.ts', 1, 'What is'],
      ['test/a.test.ts', 1, 'is asked'],
    ],
    'test texts': [['test/a.test.ts', 2, 'nobody']],
  })
})

test('budgetFaults(): a budget is neither exceeded, nor looser than needed, nor larger than allowed', (t) => {
  const sentence = `${'word '.repeat(996)}It is made anew`
  const passages = new Map<Kind, { path: string; line: number; text: string }[]>([['docs', [{ path: 'a.md', line: 1, text: sentence }]]])
  const budget = (docs: number): Budget => ({ ...(Object.fromEntries(kinds.map((kind) => [kind, 0.5])) as Record<Kind, number>), docs })
  t.is(rateOf(passages.get('docs') ?? []), 2)
  t.deepEqual(budgetFaults(passages, budget(2)), [])
  t.deepEqual(budgetFaults(passages, budget(2.5)), [])
  t.regex(budgetFaults(passages, budget(1.9)).join(), /^docs: 2 constructions per 1,000 words, and the budget is 1\.9; rewrite/)
  t.regex(budgetFaults(passages, budget(2.6)).join(), /^docs: 2 constructions .* lower it in test\/tidy\/prose\/budget\.json$/)
  t.deepEqual(budgetFaults(passages, budget(3.1)), ['docs: the budget is 3.1, and the largest one is 3'])
})

test('raisedBudgets(): a budget only falls', (t) => {
  const budget = (docs: number): Budget => ({ ...(Object.fromEntries(kinds.map((kind) => [kind, 0.5])) as Record<Kind, number>), docs })
  t.deepEqual(raisedBudgets(budget(1), budget(1)), [])
  t.deepEqual(raisedBudgets(budget(1), budget(0.8)), [])
  t.deepEqual(raisedBudgets(budget(0.8), budget(1)), ['docs: the budget was 0.8 and is 1; a budget only falls'])
})

test('subjectFault() accepts an area with an imperative and refuses other forms', (t) => {
  for (const subject of ['store: check blocks in the background', 'http, mcp: pass the deadline on', 'npm start: end with the daemon'])
    t.is(subjectFault(subject), undefined, subject)
  for (const [subject, fault] of [
    ['Check blocks', /^write it as/],
    ['store: checks blocks', /"checks" is no imperative/],
    ['store: added a check', /"added" is no imperative/],
    ['store: the blocks', /"the" is no imperative/],
    ['store: check blocks.', /full stop/],
    [`store: check ${'x'.repeat(70)}`, /^has 83 characters/],
    ['store: keep what is asked', /^has a clause with what/],
  ] as const)
    t.regex(subjectFault(subject) ?? '', fault, subject)
})
