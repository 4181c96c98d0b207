/** Text derived from HTML, for messages without a text part. */
import test from '#test'
import { textOfHtml } from '#ingest/html/html-text.ts'
import { sanitizeHtml } from '#ingest/html/sanitize-html.ts'
import { growsLinearly } from '../../support/measure/growth.ts'

const cases: readonly (readonly [string, string, string])[] = [
  ['collapses blanks', '<p>a  b\n\tc&nbsp;&nbsp;d</p>', 'a b c d'],
  ['keeps words of neighbours together', 'ex<b>am</b>ple', 'example'],
  ['separates blocks', '<h1>T</h1><p>a</p><p>b</p><div>c</div><div>d</div>', 'T\n\na\n\nb\n\nc\nd'],
  ['breaks lines', 'a<br>b<br><br>c', 'a\nb\n\nc'],
  ['marks list items', '<ul><li>a<li>b</ul>', '- a\n- b'],
  ['separates cells', '<table><tr><td>a</td><td>b</td></tr><tr><td>c</td></tr></table>', 'a b\nc'],
  ['shows the address of a link', '<a href="https://x.example/a?b=1&amp;c=2">go</a>', 'go <https://x.example/a?b=1&c=2>'],
  [
    'shows an address once',
    '<a href="mailto:a@x.example">a@x.example</a> <a href="https://x.example">https://x.example</a>',
    'a@x.example https://x.example',
  ],
  ['decodes entities once', '&amp;lt;b&amp;gt; &lt;i&gt; &quot;&copy;', '&lt;b&gt; <i> "©'],
  ['shows the alternative text of an image', '<img src="cid:x" alt="Logo &amp; co">', 'Logo & co'],
  ['keeps preformatted text', '<pre>a\n  b\n\nc</pre>', 'a\n  b\n\nc'],
  ['leaves scripts and styles out', '<style>p{}</style><script>1</script>x<title>t</title>', 'x'],
  ['answers nothing for nothing', '', ''],
]

for (const [criterion, html, expected] of cases) {
  test(`textOfHtml() ${criterion}`, (t) => t.is(textOfHtml(sanitizeHtml(html)), expected))
}

test('textOfHtml() is linear on a single line of many links', (t) => {
  const links = (n: number): string => sanitizeHtml(Array.from({ length: n }, (_, at) => `<a href="http://h${at}.example">x</a>`).join(''))
  t.true(textOfHtml(links(16_000)).endsWith('<http://h15999.example/>'))
  const htmls = new Map([4000, 16_000].map((n) => [n, links(n)]))
  t.true(growsLinearly((n) => textOfHtml(htmls.get(n) ?? ''), 4000))
})
