/** Permitted and forbidden HTML. */
import test from '#test'
import { sanitizeHtml } from '#ingest/html/sanitize-html.ts'
import { Seeded } from '../../support/seeded.ts'
import { hostileHtml } from './hostile-html.ts'
import { dangers } from './safe-markup.ts'
import { growsLinearly } from '../../support/measure/growth.ts'

const kept: readonly (readonly [string, string, string])[] = [
  ['keeps structure', '<h1>a</h1><ul><li>b</li></ul><blockquote>c</blockquote>', '<h1>a</h1><ul><li>b</li></ul><blockquote>c</blockquote>'],
  [
    'keeps layout tables',
    '<table role="presentation" width="600" cellpadding="0"><tr><td colspan="2" bgcolor="#fff">a</td></tr></table>',
    '',
  ],
  ['keeps old fonts', '<font color="red" face="Arial" size="2">a</font><center>b</center>', ''],
  [
    'keeps modest styles',
    '<p style="color:#333;font-family:\'Segoe UI\', Arial;font-size:14px;line-height:1.5">a</p>',
    '<p style="color:#333;font-family:&quot;Segoe UI&quot;,Arial;font-size:14px;line-height:1.5">a</p>',
  ],
  [
    'keeps box styles',
    '<td style="padding:10px 0 10px 0;border:1px solid rgb(0, 0, 0);width:50%;vertical-align:top">a</td>',
    '<td style="padding:10px 0 10px 0;border:1px solid rgb(0,0,0);width:50%;vertical-align:top">a</td>',
  ],
  ['keeps hidden preview lines hidden', '<div style="display:none;max-height:0;overflow:hidden;opacity:0">a</div>', ''],
  ['keeps importance', '<p style="margin:0 auto !important;text-align:center">a</p>', ''],
  ['keeps embedded raster images', '<img alt="a" width="1" src="data:image/png;base64,iVBORw0KGgo=" />', ''],
  ['keeps references to parts', '<img alt="" src="cid:logo@x.example" />', ''],
]

for (const [criterion, html, expected] of kept) {
  test(`sanitizeHtml() ${criterion}`, (t) => t.is(sanitizeHtml(html), expected || html))
}

test('sanitizeHtml() makes links open a new page without a referrer', (t) => {
  const rest = 'target="_blank" rel="noopener noreferrer nofollow"'
  t.is(sanitizeHtml('<a href="https://x.example/?a=1&b=2" target=_self>a</a>'), `<a href="https://x.example/?a=1&amp;b=2" ${rest}>a</a>`)
  t.is(sanitizeHtml('<a href="mailto:a@x.example">a</a>'), `<a href="mailto:a@x.example" ${rest}>a</a>`)
  t.is(sanitizeHtml('<a href="javascript:1">a</a><a href="#x">b</a>'), '<a>a</a><a>b</a>')
})

test('sanitizeHtml() moves the address of a remote image to data-remote-src', (t) => {
  t.is(sanitizeHtml('<img src="https://x.example/a.png" alt="a">'), '<img alt="a" data-remote-src="https://x.example/a.png" />')
  t.is(sanitizeHtml('<img src=" HTTP://x.example/a.png ">'), '<img data-remote-src="http://x.example/a.png" />')
  t.is(sanitizeHtml('<img data-remote-src="https://evil.example" src="cid:a">'), '<img src="cid:a" />')
})

test('sanitizeHtml() drops styles one by one', (t) => {
  t.is(sanitizeHtml('<p style="position:fixed;color:red;background:url(x);margin-top:-9px">a</p>'), '<p style="color:red">a</p>')
  t.is(sanitizeHtml('<p style="position:fixed">a</p>'), '<p>a</p>')
  t.is(sanitizeHtml('<p style="COLOR : Red ! important;Font-Size: 10pt">a</p>'), '<p style="color:Red !important;font-size:10pt">a</p>')
  t.is(sanitizeHtml('<p style="COLOR : Red !important; MARGIN:  0   auto">a</p>'), '<p style="color:Red !important;margin:0 auto">a</p>')
  t.is(sanitizeHtml('<p style="constructor:x;__proto__:y;color:;:red;color">a</p>'), '<p>a</p>')
})

test('sanitizeHtml() keeps the text of unknown elements and drops code', (t) => {
  t.is(sanitizeHtml('<html><head><title>t</title><style>p{}</style></head><body><o:p>a</o:p><form>b</form><script>c</script></body>'), 'ab')
})

for (const html of hostileHtml) {
  test(`sanitizeHtml() disarms ${JSON.stringify(html)}`, (t) => {
    const safe = sanitizeHtml(html)
    t.deepEqual(dangers(safe), [], safe)
    const local = safe.replaceAll(/ data-(?:remote-src|address)="[^"]*"/g, '')
    t.is(sanitizeHtml(local), local)
  })
}

test('dangers() detects everything that sanitizeHtml() removes', (t) => {
  const escaped = ['<img src="cid:a&quot; onerror=&quot;alert(1)">', '&lt;script&gt;alert(1)&lt;/script&gt; &amp;lt;script&amp;gt;']
  for (const html of hostileHtml) t.is(dangers(html).length === 0, escaped.includes(html), html)
})

test('sanitizeHtml() disarms random mixtures of attacks', (t) => {
  const seeded = new Seeded('sanitize html')
  const pieces = [...hostileHtml.flatMap((html) => html.split(/(?=[<>"'= ])/)), '\0', '\ud800', '&#0;', '</b>', '<b>', '"', "'", '`']
  for (let round = 0; round < 3000; round += 1) {
    const html = Array.from({ length: seeded.between(2, 12) }, () => seeded.pick(pieces)).join('')
    const safe = sanitizeHtml(html)
    t.deepEqual(dangers(safe), [], JSON.stringify(html))
  }
})

test('sanitizeHtml() limits characters, tags and open tags', (t) => {
  t.is(sanitizeHtml('x'.repeat(1_500_000)).length, 1_000_000)
  t.is(sanitizeHtml('<p>x</p>'.repeat(100_000)).length, 50_000 * 4)
  t.is(sanitizeHtml('<p>a</p>'.repeat(25_000)).length, 25_000 * 8)
  t.is(sanitizeHtml('<b>'.repeat(6000)).length, 5000 * 7)
  t.is(sanitizeHtml('<b></x>'.repeat(6000)).length, 5000 * 7)
  t.is(sanitizeHtml('<br>'.repeat(10_000)).length, 10_000 * 6)
})

for (const [name, unit] of [
  ['nested tags', '<b>'],
  ['tags closed wrongly', '<b></i>'],
  ['unclosed quotes', '<b title="'],
  ['open angles', '<'],
  ['comments', '<!--'],
  ['entities', '&lt'],
  ['frames', '<iframe>'],
  ['hidden text', '<p><noscript></p>'],
  ['styles', '<b style="color:red;a:b(">x'],
  ['attributes', '<b a b c d e f g h>'],
] as const) {
  test(`sanitizeHtml() is linear on ${name}`, (t) => {
    const sanitize = (size: number): string => sanitizeHtml(unit.repeat(Math.ceil(size / unit.length)))
    t.deepEqual(dangers(sanitize(1_000_000)), [])
    t.true(growsLinearly(sanitize))
  })
}
