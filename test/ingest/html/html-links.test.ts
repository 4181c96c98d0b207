import test from '#test'
import { findHtmlSpans } from '#ingest/html/html-links.ts'
import { linkTarget } from '#ingest/html/link-target.ts'
import { Seeded } from '../../support/seeded.ts'
import { column } from '../../support/column.ts'

const asUtf8 = (octets: string): string => Buffer.from(octets, 'latin1').toString('utf8')

/** The source text and the value of each link found. */
function linksIn(html: string): { readonly written: string; readonly value: string }[] {
  const octets = Buffer.from(html).toString('latin1')
  return findHtmlSpans(octets, asUtf8).links.map(({ start, end, value }) => ({ written: asUtf8(octets.slice(start, end)), value }))
}

const one = (html: string): readonly [string, string] | undefined => {
  const [link] = linksIn(html)
  return link && [link.written, link.value]
}

test('findHtmlSpans() finds an href in any quotes, with its place', (t) => {
  t.deepEqual(one('<a href="https://a.test/">x</a>'), ['"https://a.test/"', 'https://a.test/'])
  t.deepEqual(one("<a class=x href='https://a.test/?q=\"'>x</a>"), ["'https://a.test/?q=\"'", 'https://a.test/?q="'])
  t.deepEqual(one('<a href=https://a.test/x/ id=1>x</a>'), ['https://a.test/x/', 'https://a.test/x/'])
  t.deepEqual(one('<a href=https://a.test>x</a>'), ['https://a.test', 'https://a.test'])
  t.deepEqual(one('<a href = \r\n\t "https://a.test/"\n>x</a>'), ['"https://a.test/"', 'https://a.test/'])
  t.deepEqual(one('<A\nHREF="HTTPS://A.test/">x</A>'), ['"HTTPS://A.test/"', 'HTTPS://A.test/'])
  t.deepEqual(one('<a href="https://a.test/"/>'), ['"https://a.test/"', 'https://a.test/'])
  t.deepEqual(one('<svg><a xlink:href="https://a.test/"></a></svg>'), ['"https://a.test/"', 'https://a.test/'])
  t.deepEqual(one('<map><area shape=rect href="https://a.test/"></map>'), ['"https://a.test/"', 'https://a.test/'])
})

test('findHtmlSpans() decodes character references, and reads octets by the charset', (t) => {
  t.deepEqual(one('<a href="https://a.test/?a=1&amp;b=2&#38;c=&#x33;">x</a>')?.[1], 'https://a.test/?a=1&b=2&c=3')
  t.is(one('<a href="&#104;ttps://a.test/">x</a>')?.[0], '"&#104;ttps://a.test/"')
  t.is(one('<a href="&#104;ttps://a.test/">x</a>')?.[1], 'https://a.test/')
  // in attributes, a name without semicolon before = or a letter is not a reference
  t.is(one('<a href="https://a.test/?a=1&copy=2&amp">x</a>')?.[1], 'https://a.test/?a=1&copy=2&')
  t.deepEqual(one('ü<a href="https://a.test/caf\u00e9">x</a>'), ['"https://a.test/caf\u00e9"', 'https://a.test/caf\u00e9'])
})

test('findHtmlSpans() reads only links, and only their first href', (t) => {
  t.deepEqual(
    linksIn('<link href="https://a.test/"><base href="https://a.test/"><img src="https://a.test/"><abbr href="https://a.test/">'),
    [],
  )
  t.deepEqual(linksIn('<p title="<a href=https://a.test/>">x</p><a name=x>x</a><a href>x</a><a data-href="https://a.test/">x</a>'), [])
  t.is(one('<a href="https://first.test/" href="https://second.test/">x</a>')?.[1], 'https://first.test/')
  t.is(one('<a title="href=\'https://no.test/\'" href="https://yes.test/">x</a>')?.[1], 'https://yes.test/')
  t.is(one('<a title=">" href="https://yes.test/">x</a>')?.[1], 'https://yes.test/')
})

test('findHtmlSpans() finds the base address', (t) => {
  const baseOf = (html: string): string | undefined => findHtmlSpans(html, asUtf8).base
  t.is(baseOf('<a href=x>x</a><base target=_blank><base href="https://a.test/n/"><base href="https://b.test/">'), 'https://a.test/n/')
  t.is(baseOf('<base href="/n/"><p>x</p>'), undefined)
  t.is(baseOf('<base href="javascript:1">'), undefined)
})

test('findHtmlSpans() omits links that are excluded from tracking', (t) => {
  t.deepEqual(linksIn('<a href="https://a.test/" data-no-track>x</a><a DATA-NO-TRACK="" href="https://a.test/">x</a>'), [])
  t.deepEqual(linksIn('<a href="https://a.test/" clicktracking=off>x</a><a ClickTracking=" OFF " href="https://a.test/">x</a>'), [])
  t.is(linksIn('<a href="https://a.test/" clicktracking=on>x</a>').length, 1)
  t.is(linksIn('<a data-no-track>x</a><a href="https://a.test/">x</a>').length, 1)
})

test('findHtmlSpans() ignores comments, scripts, styles and titles', (t) => {
  const link = '<a href="https://no.test/">x</a>'
  const hidden = [
    `<!-- ${link} -->`,
    `<!--[if mso]>${link}<![endif]-->`,
    `<script>document.write('${link}')</script>`,
    `<SCRIPT type="x">${link}</SCRIPT>`,
    `<style>/* ${link} */</style>`,
    `<title>${link}</title>`,
    `<textarea>${link}</textarea>`,
    `<![CDATA[${link.replaceAll('>', '')}]]>`,
    `<?php ${link.replaceAll('>', '')} ?>`,
  ]
  for (const html of hidden) t.deepEqual(column(linksIn(`${html}<a href="https://yes.test/">x</a>`), 'value'), ['https://yes.test/'], html)
  // a comment that hides content only from Outlook is visible to all other clients
  t.is(linksIn('<!--[if !mso]><!--><a href="https://yes.test/">x</a><!--<![endif]-->').length, 1)
  t.is(linksIn('<![if !mso]><a href="https://yes.test/">x</a><![endif]>').length, 1)
})

test('findHtmlSpans() reads broken HTML without an invented link', (t) => {
  t.deepEqual(linksIn('<a href="https://a.test/'), [])
  t.deepEqual(linksIn('<a href="https://a.test/"'), [])
  t.deepEqual(linksIn('<'), [])
  t.deepEqual(linksIn('< a href="https://a.test/">'), [])
  t.deepEqual(linksIn('<!-- <a href="https://a.test/">x</a>'), [])
  t.is(one('<div <p> <a href="https://a.test/"id=x">x')?.[0], '"https://a.test/"')
  t.is(one('</p></p><td><a href="https://a.test/"><b></a></i>')?.[0], '"https://a.test/"')
})

test('findHtmlSpans() knows the last end of the body', (t) => {
  const end = (html: string) => findHtmlSpans(html, asUtf8).bodyEnd
  t.is(end('<body>x</body></html>'), 7)
  t.is(end('<BODY>x</BODY >'), 7)
  t.is(end('<body>a</body>b</body>'), 15)
  t.is(end('<body>x<!-- </body> -->'), undefined)
  t.is(end('<p>x</p>'), undefined)
})

test('findHtmlSpans() returns places that contain the written address, in random HTML', (t) => {
  const seeded = new Seeded('links')
  const pieces = [
    '<a ',
    'href=',
    '"',
    "'",
    'https://a.test/',
    '>',
    '</a>',
    ' ',
    '&amp;',
    '&',
    '<!--',
    '-->',
    '<script>',
    '</script>',
    '=',
    '/',
    '\u00fc',
    '<area href=x>',
    '</body>',
  ]
  for (let round = 0; round < 2000; round++) {
    const html = Array.from({ length: seeded.between(1, 25) }, () => seeded.pick(pieces)).join('')
    const octets = Buffer.from(html).toString('latin1')
    const { links, bodyEnd } = findHtmlSpans(octets, asUtf8)
    let before = 0
    for (const { start, end, value } of links) {
      t.true(start >= before && end >= start, html)
      before = end
      const written = octets.slice(start, end)
      const bare = /^(["'])([^]*)\1$/.exec(written)?.[2] ?? written
      if (!bare.includes('&')) t.is(asUtf8(bare), value, html)
    }
    if (bodyEnd !== undefined) t.is(octets.slice(bodyEnd, bodyEnd + 6), '</body', html)
  }
})

const own = 'https://post.example.ch'

test('linkTarget() returns web addresses as a browser resolves them', (t) => {
  t.is(linkTarget('https://a.test', own), 'https://a.test/')
  t.is(linkTarget(' HTTP://A.test:80/x?y#z\n', own), 'http://a.test/x?y#z')
  t.is(linkTarget('https://a.test/a b/\u00fc', own), 'https://a.test/a%20b/%C3%BC')
  t.is(linkTarget('https://b\u00fccher.test/', own), 'https://xn--bcher-kva.test/')
  t.is(linkTarget('https://a.test/?a[]=1&b=x|y', own), 'https://a.test/?a[]=1&b=x|y')
  t.is(linkTarget('https://a.test/x\r\nSet-Cookie: y', own), 'https://a.test/xSet-Cookie:%20y')
  t.is(linkTarget('//a.test/x', own), 'https://a.test/x')
  t.is(linkTarget('offers?x=1', own, 'http://a.test/news/'), 'http://a.test/news/offers?x=1')
  t.is(linkTarget('#top', own, 'http://a.test/news/'), undefined)
  t.is(linkTarget('/t/c/1', own, `${own}/`), undefined)
})

test('linkTarget() returns undefined for anything except a complete web address', (t) => {
  const others = [
    ...['', '#top', '/path', 'page.html', '?q', 'mailto:a@b.test', 'tel:+41', 'cid:logo@a.test', 'sms:1', 'ftp://a.test/'],
    ...[
      'javascript:alert(1)',
      'JavaScript:alert(1)',
      'data:text/html,x',
      'vbscript:x',
      'file:///etc/passwd',
      'about:blank',
      'blob:https://a.test/x',
    ],
    ...[
      'https:/a.test',
      'https:a.test',
      'http//a.test',
      '\u00a0https://a.test/',
      'https://',
      'https://[x]/',
      'https://a.test:99999/',
      'https://a b.test/',
    ],
    ...['https://user@a.test/', 'https://user:pass@a.test/', 'https://bank.test@evil.test/'],
    ...[
      '{{url}}',
      'https://{{host}}/',
      'https://a.test/{{ id }}',
      'https://a.test/${id}',
      'https://a.test/*|ID|*',
      'https://a.test/[[id]]',
    ],
    ...[
      'https://a.test/%%ID%%',
      'https://a.test/%recipient%',
      'https://a.test/<id>',
      'https://a.test/{id}',
      'https://a.test/100%',
      'https://a.test/\ufffd',
    ],
    `https://a.test/${'x'.repeat(2048)}`,
    `https://a.test/${'\u00fc'.repeat(1000)}`,
  ]
  for (const value of others) t.is(linkTarget(value, own), undefined, value)
})

test('linkTarget() returns undefined for links to the service itself', (t) => {
  for (const path of ['/', '', '/unsubscribe/abc', '/t/c/abc', '/x?y'])
    t.is(linkTarget(`https://Post.example.ch${path}`, own), undefined, path)
  t.is(linkTarget('https://post.example.ch.evil.test/', own), 'https://post.example.ch.evil.test/')
  t.is(linkTarget('https://post.example.ch/shop', `${own}/mail`), 'https://post.example.ch/shop')
  t.is(linkTarget('https://post.example.ch/mail/unsubscribe/x', `${own}/mail`), undefined)
})
