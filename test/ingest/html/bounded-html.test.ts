/** Cutting HTML to a length: `data:` content does not count, tags stay whole, and the search is linear. */
import test from '#test'
import { boundedHtml, countedLength } from '#ingest/html/bounded-html.ts'
import { mailDocument } from '#ingest/html/mail-document.ts'
import { charactersLeftOut, sanitizeHtml } from '#ingest/html/sanitize-html.ts'
import { unjudgedRule } from '#ingest/html/mail-styles.ts'
import { visibleHtml } from '#ingest/html/visible/visible-html.ts'
import { growsLinearly } from '../../support/measure/growth.ts'

const base64 = 'A'.repeat(5000)

for (const address of [
  `<img src="data:image/png;base64,${base64}">`,
  `<img src=' DATA:image/png;charset=utf-8;BASE64,${base64.replaceAll(/.{76}/g, '$&\r\n ')}'>`,
  `<img src=data:image/png;base64,${base64}>`,
  `<img src = data:image/svg+xml,%3Csvg%20${base64}>`,
  `<img alt="a > b" src="data:,${base64}">`,
  `<p style="background:url(data:image/png;base64,${base64})">`,
  `<p style="background:url(&quot;data:image/png;base64,${base64}&quot;)">`,
  `<style>p{background:url( 'data:image/png;base64,${base64}')}</style>`,
])
  test(`boundedHtml() does not count the content of ${address.slice(0, 60)}`, (t) => {
    const html = `Hello${address}${address}482913${'x'.repeat(1000)}`
    t.true(countedLength(html) < 1400)
    t.true(boundedHtml(html, 1000).includes('482913'))
    t.is(boundedHtml(html, 6), 'Hello')
  })

test('boundedHtml() counts text, and cuts no tag', (t) => {
  const text = `see data:image/png;base64,${base64}`
  t.is(countedLength(text), text.length)
  t.is(boundedHtml(text, 100), text.slice(0, 100))
  for (const tag of [
    '<b title="xxxxxxxx">',
    '</blockquote>',
    '<!-- xxxxxxxxx -->',
    '<!doctype html>',
    `<img src="data:,${base64}" alt="xxxxxxxxx">`,
  ])
    t.is(boundedHtml(`abc${tag}def`, 10), 'abc', tag)
  t.is(boundedHtml('1 < 2, and 3 > 2', 8), '1 < 2, a')
  t.is(boundedHtml('<b>a</b><i>c</i>', 0), '')
})

test('charactersLeftOut() is 0 for HTML that is long only because of pictures', (t) => {
  const html = `<p>Hello,</p><img src="data:image/png;base64,${'A'.repeat(1_100_000)}"><p>482913</p>`
  t.is(charactersLeftOut(html), 0)
  t.regex(sanitizeHtml(html), /482913/)
  t.is(charactersLeftOut(`${html}${'x'.repeat(1_000_000)}`), countedLength(html))
})

test('mailDocument() keeps the styles of a body after a picture', (t) => {
  const { style } = mailDocument(`<body style="background:url(data:image/png;base64,${base64});color:red">x`).body
  t.regex(style ?? '', /A\);color:red$/)
})

test('visibleHtml() reads on after pictures in the content and in style sheets', (t) => {
  const picture = `data:image/png;base64,${'A'.repeat(300_000)}`
  const sheet = `<style>td{background:url(${picture})}.mole{display:none}</style>`
  const { html, hidden, marked, leftOut } = visibleHtml(mailDocument(`${sheet}<img src="${picture}"><p>482913</p><p class=mole>mole</p>`))
  t.regex(html, /482913/)
  t.deepEqual({ hidden, marked, leftOut, hasMole: html.includes('mole</p>') }, { hidden: 1, marked: 0, leftOut: 0, hasMole: false })
})

test('visibleHtml() marks text if style rules beyond the limit are omitted', (t) => {
  const document = mailDocument(`<style>/*${'x'.repeat(200_000)}*/.mole{display:none}</style><p class=mole>mole</p>`)
  t.is(document.styles, `\n${unjudgedRule}`)
  t.is(visibleHtml(document).marked, 1)
})

for (const [name, unit] of [
  ['addresses', '"data:image/png;base64,AAAA" '],
  ['addresses in no value', 'data:,'],
  ['heads of addresses', '"data:'],
  ['heads with base64', '"data:a;base64;base64'],
  ['blanks', '"         data:a'],
  ['quotes', '" '],
  ['tags', '<a'],
] as const)
  test(`boundedHtml() is linear on ${name}`, (t) => {
    t.true(
      growsLinearly((size) => {
        const html = unit.repeat(Math.ceil(size / unit.length))
        boundedHtml(html, html.length >> 1)
        countedLength(html)
      }, 1_000_000),
    )
  })
