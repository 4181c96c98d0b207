import test from '#test'
import { mailDocument } from '#ingest/html/mail-document.ts'
import { safeDeclarations, safeStylesheet, withAddresses } from '#ingest/html/mail-styles.ts'
import { documentHtml, embeddableHtml } from '#ingest/html/sanitize-html.ts'
import { growsLinearly } from '../../support/measure/growth.ts'

const kept: readonly (readonly [string, string])[] = [
  ['.a{color:red}', '.a{color:red}'],
  [
    '.a > b, #x:hover::before { margin: -9px auto !important; position: fixed }',
    '.a>b,#x:hover::before{margin:-9px auto!important;position:fixed}',
  ],
  ['@media (max-width: 600px) { td { display: block } }', '@media (max-width:600px){td{display:block}}'],
  ['@keyframes x { from { opacity: 0 } to { opacity: 1 } }', '@keyframes x{from{opacity:0}to{opacity:1}}'],
  ['a{background:linear-gradient(90deg,red,rgb(0 0 0 / 50%))}', 'a{background:linear-gradient(90deg,red,rgb(0 0 0/50%))}'],
  ['a{width:calc(100% - 3px);--x:1px;padding:var(--x)}', 'a{width:calc(100% - 3px);--x:1px;padding:var(--x)}'],
  ['a{background:url("http://X.example/a b(1).png?\'")}', 'a{background:url(http://x.example/a%20b%281%29.png?%27)}'],
  ['a{background:url(data:image/png;base64,AAAA)}', 'a{background:url(data:image/png;base64,AAAA)}'],
  ['a{list-style-image:url(CID:logo@shop)}', 'a{list-style-image:url(cid:logo@shop)}'],
]

for (const [given, expected] of kept) test(`safeStylesheet() keeps ${given}`, (t) => t.is(safeStylesheet(given), expected))

const dropped = [
  '@import "https://evil.example/x.css";',
  '@import url(https://evil.example/x.css);',
  '@\\69mport "https://evil.example/x.css";',
  '@font-face{font-family:x;src:url(https://evil.example/x.woff)}',
  '@namespace x url(https://evil.example);',
  '@charset "utf-7";',
  '@media url(https://evil.example){a{color:red}}',
  'a{behavior:url(https://evil.example/x.htc)}',
  'a{beh\\61vior:url(#x)}',
  'a{-moz-binding:url(https://evil.example/x.xml#a)}',
  'a{width:expression(alert(1))}',
  'a{width:e\\xpression(alert(1))}',
  'a{cursor:url(https://evil.example/x.cur),auto}',
  'a{filter:url(https://evil.example/x.svg#a)}',
  'a{mask:url(https://evil.example/x.svg)}',
  'a{background:image-set("https://evil.example/a.png" 1x)}',
  'a{background:-webkit-image-set(url(https://evil.example/a.png) 1x)}',
  'a{background:u\\72l(https://evil.example/a.png)}',
  'a{background:url(javascript:alert(1))}',
  'a{background:url(//evil.example/a.png)}',
  'a{background:url(data:image/svg+xml;base64,AAAA)}',
  'a{background:src("https://evil.example")}',
  'a{background:element(#x)}',
  'a{background:paint(x)}',
  'a{color:var(--x,url(https://evil.example))}',
  '--x:url(https://evil.example)',
  'a{--x:url(https://evil.example)}',
  'a{filter:progid:DXImageTransform.Microsoft.AlphaImageLoader(src="https://evil.example")}',
]

for (const given of dropped)
  test(`safeStylesheet() drops ${given}`, (t) => {
    const safe = safeStylesheet(given)
    t.notRegex(safe, /evil|url|alert|import|charset/i)
    t.regex(safeStylesheet(`${given} b{color:red}`), /b\{color:red\}$|^$/)
  })

test('safeStylesheet() writes no end of its element and of a url() in addresses', (t) => {
  for (const given of ['a{content:"</style><script>"}', 'a[x="</style>"]{color:red}', '@media (x</style){a{color:red}}'])
    t.false(safeStylesheet(given).includes('</'), given)
  for (const address of [
    'http://x.example/)}*{color:red}',
    'http://x.example/\\29 }',
    'http://x.example/"',
    'cid:a)b',
    'http://x.example/\n',
  ])
    t.regex(
      safeDeclarations(`background:url("${address.replace('"', '\\"')}")`),
      /^$|^--unjudged-background:1$|^background:url\([^()"'\\\s]+\)$/,
      address,
    )
})

test('withAddresses() replaces addresses, or removes them', (t) => {
  const safe = safeStylesheet('a{background:red url(https://x.example/a.png)no-repeat}b{background:url(cid:logo)}')
  const seen: string[] = []
  t.is(
    withAddresses(safe, (address) => void seen.push(address)).replaceAll(/ +/g, ' '),
    'a{background:red none no-repeat}b{background: none }',
  )
  t.deepEqual(seen, ['https://x.example/a.png', 'cid:logo'])
  t.regex(
    withAddresses(safe, () => '/proxy?u=1'),
    /red url\(\/proxy\?u=1\)/,
  )
})

test('mailDocument() keeps style sheets and the attributes of html and body', (t) => {
  const { html, styles, root, body } = mailDocument(
    '<html lang=de class=w onload=x><head><style media="(max-width: 9px)">.a{color:red}</style><style>b{color:red</style><style>i{color:red}</style>' +
      '</head><body bgcolor=#eee text=red background="https://x.example/b.png" style="margin:0;behavior:url(x)" onload=y class=m><p class=a id=b onclick=z>x</p>',
  )
  t.is(html, '<p class="a" id="b">x</p>')
  t.is(styles, '@media (max-width:9px){.a{color:red}}\nb{color:red}\ni{color:red}')
  t.deepEqual(root, { class: 'w', lang: 'de' })
  t.deepEqual(body, { style: 'background-color:#eee;color:red;background-image:url(https://x.example/b.png);margin:0', class: 'm' })
  t.deepEqual(mailDocument('text'), { html: 'text', styles: '', root: {}, body: {} })
  t.true(mailDocument(`<style>${'.a{color:red}'.repeat(100_000)}</style>`).styles.length <= 128 * 1024 + 32)
})

test('mailDocument() merges displayed attributes of repeated elements in linear time', (t) => {
  const bodies = (size: number): string => Array.from({ length: Math.min(size / 20, 45_000) }, (_, i) => `<body a${i}=1>`).join('')
  t.deepEqual(mailDocument(`${bodies(200)}<body class=a onload=x><body class=b id=c>`).body, { class: 'a', id: 'c' })
  t.true(growsLinearly((size) => Object.keys(mailDocument(bodies(size)).body).length))
})

test('embeddableHtml() removes names and layout that could affect the page', (t) => {
  const document = documentHtml(
    '<p class="modal" id="app" title="class=&quot;x&quot;" style="position:fixed;color:red;background:url(https://x.example/a.png)">a</p>',
  )
  t.is(
    document,
    '<p class="modal" id="app" title="class=&quot;x&quot;" style="position:fixed;color:red;background:url(https://x.example/a.png)">a</p>',
  )
  t.is(embeddableHtml(document), '<p title="class=&quot;x&quot;" style="color:red">a</p>')
})

for (const unit of [
  '(',
  '[',
  'a{',
  'a{b:(',
  'a{b:c;',
  '@media (',
  '@media x{',
  '"',
  '"\n',
  '\\',
  '/*',
  ':not(',
  'a,',
  'url(',
  'a{--x:{',
  'f(',
  '&{',
  '*{x:y}',
])
  test(`safeStylesheet() is linear on ${JSON.stringify(unit)}`, (t) => {
    t.true(growsLinearly((size) => safeStylesheet(unit.repeat(Math.ceil(size / 4 / unit.length))).length))
  })
