import test from '#test'
import { prefersPage } from '../../../admin-api/http/negotiation.ts'

const browsers = [
  'text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,image/apng,*/*;q=0.8,application/signed-exchange;v=b3;q=0.7',
  'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8',
  'text/html',
  'TEXT/HTML; q=1, application/json;q=0.9',
  'text/*, */*;q=0.1',
]
const programs = [
  ...[undefined, '', '*/*', 'application/json', 'application/json, text/plain, */*', 'application/json, text/html', '*/*, text/html;q=0.5'],
  ...['text/html;q=0', 'text/html;q=0.5, application/json', 'text/html;q=7', 'text/plain', 'application/*, text/html;q=0.9', ',;,;q='],
]

test('prefersPage() is true only for requests that prefer HTML, as browsers do', (t) => {
  for (const accept of browsers) t.true(prefersPage({ accept }), accept)
  for (const accept of programs) t.false(prefersPage({ accept }), accept)
})

test('prefersPage() reads only the first ranges of an endless list', (t) => {
  t.false(prefersPage({ accept: `${'image/png,'.repeat(5000)}text/html` }))
})
