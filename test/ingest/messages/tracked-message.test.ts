import { readFile } from 'node:fs/promises'
import test from '#test'
import { simpleParser } from 'mailparser'
import { trackableLinks, trackedMessage, Untracked } from '#ingest/messages/tracked-message.ts'
import { placedParts } from '#ingest/mime/mime-tree.ts'
import { decodeBody } from '#ingest/mime/transfer-encoding.ts'
import { growsLinearly } from '../../support/measure/growth.ts'
import { Seeded } from '../../support/seeded.ts'

const own = 'https://post.example.ch'
const image = `<img src="${own}/t/o/1" width="1" height="1" alt="">`
const fixture = (name: string): Promise<Buffer> => readFile(new URL(`../../fixtures/tracking/${name}.eml`, import.meta.url))
const mail = (...lines: readonly string[]): Buffer => Buffer.from(lines.join('\r\n'), 'latin1')
const page = (html: string, ...fields: readonly string[]): Buffer => mail('Content-Type: text/html; charset=utf-8', ...fields, '', html, '')

/** Adds all possible tracking to a message. */
function marked(raw: Buffer): Buffer {
  const links = trackableLinks(raw, own).map((_, at) => `${own}/t/c/${at + 1}`)
  return trackedMessage(raw, own, { links, pixel: `${own}/t/o/1` })
}

/** The addresses of links and images, found by their attribute names, independently of the tokenizer. */
const addresses = (html: string): string[] => [...html.matchAll(/(?:href|src)=["']?([^"'\s>]+)/gi)].map(([, address = '']) => address)

test('trackableLinks() resolves addresses as readers do, in every element with a link', (t) => {
  const html = '<base href="https://shop.example/n/"><map><area href=offers></map><a href="//other.example/x">x</a><a href="tel:+41">y</a>'
  t.deepEqual(trackableLinks(page(html), own), ['https://shop.example/n/offers', 'https://other.example/x'])
  t.regex(marked(page(html)).toString(), /<area href="https:\/\/post\.example\.ch\/t\/c\/1">/)
})

const goldens = ['shop', 'latin1-base64', 'long-line', 'short-lines']
for (const name of goldens) {
  test(`trackedMessage() gives the expected message ${name}`, async (t) => {
    t.is(marked(await fixture(name)).toString('latin1'), (await fixture(`${name}.tracked`)).toString('latin1'))
  })

  test(`trackedMessage() changes only links and image of ${name}, by mailparser`, async (t) => {
    const raw = await fixture(name)
    const [before, after] = await Promise.all([simpleParser(raw), simpleParser(marked(raw))])
    const html = String(after.html)
    const links = trackableLinks(raw, own)
    t.true(links.length > 0)
    const restored = links.reduce((text, target, at) => text.replace(`"${own}/t/c/${at + 1}"`, `<${target}>`), html).replace(image, '')
    // removes links from the comparison; entities, quotes and letters must be equal
    const plain = (text: string) => text.replaceAll(/(href=)(?:"[^"]*"|'[^']*'|<[^>]*>|[^\s>]+)/gi, '$1')
    t.is(plain(restored), plain(String(before.html)))
    t.deepEqual(
      after.attachments.map(({ content, filename, contentType, headers }) => [content.toString('hex'), filename, contentType, headers]),
      before.attachments.map(({ content, filename, contentType, headers }) => [content.toString('hex'), filename, contentType, headers]),
    )
    // for a message with only HTML, mailparser creates the text and appends links in brackets
    const visible = (text = '') =>
      text
        .replaceAll(/\[[^\]]*\]/g, '')
        .replaceAll(/\s+/g, ' ')
        .trim()
    t.is(visible(after.text), visible(before.text))
    t.is(addresses(html).filter((address) => address.startsWith(`${own}/t/`)).length, links.length + 1)
  })
}

test('trackableLinks() returns the targets that a browser resolves', async (t) => {
  t.deepEqual(trackableLinks(await fixture('shop'), own), [
    'https://shop.example.ch/order?id=1&lang=de#top',
    'https://xn--bckerei-5wa.example/caf%C3%A9',
    'http://old.example.ch/x',
    'https://map.example.ch/',
  ])
  // a non-ASCII query depends on the charset of the document, so that link stays unchanged
  t.deepEqual(trackableLinks(await fixture('latin1-base64'), own), ['https://shop.example.ch/?a=1&b=2'])
})

test('trackedMessage() without marks returns the same octets', async (t) => {
  for (const name of goldens) {
    const raw = await fixture(name)
    t.deepEqual(trackedMessage(raw, own, { links: undefined, pixel: undefined }), raw)
  }
})

test('trackedMessage() marks links or openings alone, and the pixel once', (t) => {
  const raw = page('<body><a href="https://a.test/">a</a></body>')
  t.true(
    trackedMessage(raw, own, { links: undefined, pixel: `${own}/p` }).includes(
      '<a href="https://a.test/">a</a><img src="https://post.example.ch/p" width="1" height="1" alt=""></body>',
    ),
  )
  t.true(
    trackedMessage(raw, own, { links: [`${own}/1`], pixel: undefined }).includes('<body><a href="https://post.example.ch/1">a</a></body>'),
  )
  const two = mail(
    'Content-Type: multipart/mixed; boundary=b',
    '',
    '--b',
    'Content-Type: text/html',
    '',
    '<p>one',
    '',
    '--b',
    'Content-Type: text/html',
    '',
    '<a href=http://a.test/>',
    '--b--',
    '',
  )
  t.is(marked(two).toString(), two.toString().replace('<p>one\r\n', `<p>one${image}\r\n`).replace('http://a.test/', `"${own}/t/c/1"`))
})

test('trackedMessage() escapes addresses inside their quotes', (t) => {
  const text = trackedMessage(page('<a href=https://a.test/>a</a>'), own, {
    links: ['https://p.test/"><script>&x'],
    pixel: 'https://p.test/"&',
  }).toString()
  t.true(text.includes('<a href="https://p.test/&quot;><script>&amp;x">a</a>'))
  t.true(text.includes('<img src="https://p.test/&quot;&amp;" width="1"'))
})

const reasonOf = (raw: Buffer): string => {
  try {
    trackedMessage(raw, own, { links: trackableLinks(raw, own), pixel: `${own}/p` })
    return 'tracked'
  } catch (error) {
    if (error instanceof Untracked) return error.reason
    throw error
  }
}

test('trackedMessage() throws the reason for a message that must not change', (t) => {
  const html = ['Content-Type: text/html; charset=utf-8', '', '<a href="https://a.test/">a</a>', '']
  const inside = (type: string, ...more: readonly string[]) =>
    mail(`Content-Type: ${type}; boundary=b`, '', '--b', ...html, '--b', ...more, '--b--', '')
  const of = (charset: string, body = '<p>x</p>') => reasonOf(mail(`Content-Type: text/html; charset=${charset}`, '', body, ''))
  t.is(reasonOf(mail(...html)), 'tracked')
  t.is(reasonOf(mail('Subject: x', '', 'text')), 'no_html')
  t.is(reasonOf(mail('Content-Type: text/html', '', '', '  ')), 'no_html')
  t.is(reasonOf(mail('Content-Type: text/html')), 'no_html')
  t.is(reasonOf(mail('Content-Disposition: attachment', ...html)), 'no_html')
  t.is(reasonOf(mail('Content-Type: message/rfc822', '', ...html)), 'no_html')
  t.is(reasonOf(inside('multipart/signed', 'Content-Type: application/pgp-signature', '', 'x')), 'signed')
  t.is(
    reasonOf(mail('Content-Type: multipart/mixed; boundary=o', '', '--o', inside('Multipart/Signed', '', 'x').toString(), '--o--', '')),
    'signed',
  )
  t.is(reasonOf(inside('multipart/encrypted', '', 'x')), 'encrypted')
  t.is(reasonOf(mail('Content-Type: application/pkcs7-mime; name=smime.p7m', 'Content-Transfer-Encoding: base64', '', 'AAAA')), 'encrypted')
  t.is(reasonOf(mail('Content-Type: application/x-pkcs7-mime', '', 'x')), 'encrypted')
  t.is(reasonOf(inside('multipart/mixed', 'Content-Type: text/plain', '', '-----BEGIN PGP SIGNED MESSAGE-----')), 'pgp')
  t.is(
    reasonOf(
      inside(
        'multipart/mixed',
        'Content-Type: text/plain',
        'Content-Transfer-Encoding: base64',
        '',
        Buffer.from('-----BEGIN PGP MESSAGE-----').toString('base64'),
      ),
    ),
    'pgp',
  )
  t.is(
    reasonOf(
      inside(
        'multipart/mixed',
        'Content-Type: text/plain',
        'Content-Transfer-Encoding: quoted-printable',
        '',
        '=2D----BEGIN PGP MESSAGE-----',
      ),
    ),
    'pgp',
  )
  t.is(reasonOf(mail('dkim-signature: v=1; d=a.test', ...html)), 'dkim_signed')
  t.is(reasonOf(inside('multipart/mixed', 'DKIM-Signature: v=1', '', 'x')), 'tracked')
  for (const charset of ['utf-16', 'UTF-7', 'iso-2022-jp', 'shift_jis', 'gbk', 'unknown-8bit', '""']) t.is(of(charset), 'charset', charset)
  for (const charset of ['UTF-8', 'utf8', 'us-ascii', 'ISO-8859-15', 'Windows-1252', 'koi8-r']) t.is(of(charset), 'tracked', charset)
  t.is(of('utf-8', '<\0p>'), 'charset')
  t.is(reasonOf(mail("Content-Type: text/html; charset*=utf-8''utf-8", '', '<p>')), 'charset')
  t.is(reasonOf(mail('Content-Transfer-Encoding: x-uuencode', ...html)), 'encoding')
  t.is(reasonOf(mail('Content-Transfer-Encoding: base64', ...html)), 'encoding')
  t.is(reasonOf(mail('Content-Type: multipart/mixed; boundary=b', '', '--b', ...html)), 'broken_mime')
  t.is(reasonOf(page('x'.repeat(1024 * 1024))), 'too_large')
  t.is(reasonOf(page('x'.repeat(1024 * 1024 - 2))), 'tracked')
  t.is(reasonOf(page('<a href=https://a.test/>a</a>\r\n'.repeat(1001))), 'too_large')
  t.is(reasonOf(page('<a href=https://a.test/>a</a>\r\n'.repeat(1000))), 'tracked')
})

test('trackedMessage() does not count embedded images towards the limit', (t) => {
  const picture = `<img src="data:image/png;base64,${'A'.repeat(1_500_000)}">`
  const link = '<a href=https://a.test/>a</a>'
  for (const encoding of ['8bit', 'base64', 'quoted-printable']) {
    const html = Buffer.from(`${link}${picture}${link}`)
    const body = encoding === 'base64' ? html.toString('base64') : html.toString().replaceAll('=', encoding === '8bit' ? '=' : '=3D')
    const raw = page(body, `Content-Transfer-Encoding: ${encoding}`)
    t.deepEqual(trackableLinks(raw, own), ['https://a.test/', 'https://a.test/'], encoding)
    const [part] = placedParts(marked(raw))
    const octets = part && decodeBody(marked(raw).subarray(part.bodyStart, part.bodyEnd), part.encoding)
    t.true(octets?.includes(picture), encoding)
    t.true(octets?.toString().endsWith(`"${own}/t/c/2">a</a>${image}${encoding === 'base64' ? '' : '\r\n'}`), encoding)
  }
  t.is(reasonOf(page(`${picture.repeat(2)}${'x'.repeat(1024 * 1024)}`)), 'too_large')
  t.is(reasonOf(page(picture.repeat(6))), 'too_large')
})

test('trackedMessage() is linear on images in quoted-printable', (t) => {
  t.true(growsLinearly((size) => void marked(page(`<img src="data:,${'\xff'.repeat(size)}">`)), 1_000_000))
})

test('trackedMessage() keeps all octets outside of the HTML, in random messages', async (t) => {
  const seeded = new Seeded('messages')
  let changed = 0
  for (let round = 0; round < 400; round++) {
    const raw = randomMessage(seeded)
    const reason = reasonOf(raw)
    if (reason !== 'tracked') continue
    const after = marked(raw)
    const [parts, partsAfter] = [placedParts(raw), placedParts(after)]
    t.is(partsAfter.length, parts.length)
    for (const [at, part] of parts.entries()) {
      const now = partsAfter[at]
      if (!now) break
      const bodyOf = (of: Buffer, { bodyStart, bodyEnd }: typeof part) => of.toString('latin1', bodyStart, bodyEnd)
      const fieldsOf = (of: Buffer, { fields }: typeof part) =>
        fields.filter(({ name }) => name !== 'content-transfer-encoding').map(({ start, end }) => of.toString('latin1', start, end))
      t.deepEqual(fieldsOf(after, now), fieldsOf(raw, part))
      if (part.type.startsWith('multipart/')) continue
      if (part.type !== 'text/html' || part.attached) t.is(bodyOf(after, now), bodyOf(raw, part))
      else {
        changed++
        const html = (of: Buffer, { bodyStart, bodyEnd, encoding }: typeof part) =>
          decodeBody(of.subarray(bodyStart, bodyEnd), encoding)?.toString('latin1') ?? ''
        const unmarked = html(after, now)
          .replaceAll(/"https:\/\/post\.example\.ch\/t\/c\/\d+"/g, '*')
          .replace(image, '')
        t.is(unmarked, html(raw, part).replaceAll(/"https:\/\/a\.test\/x"|https:\/\/b\.test(?=>)/g, '*'))
      }
    }
    const between = (of: Buffer, list: typeof parts) => {
      // preambles, delimiters and epilogues, which do not belong to any leaf part
      let rest = of.toString('latin1')
      for (const leaf of list.filter(({ type }) => !type.startsWith('multipart/')).toReversed())
        rest = rest.slice(0, leaf.fields[0]?.start ?? leaf.bodyStart) + rest.slice(leaf.bodyEnd)
      return rest
    }
    t.is(between(after, partsAfter), between(raw, parts))
  }
  t.true(changed > 100)
})

function randomMessage(seeded: Seeded): Buffer {
  const texts = [
    'hello',
    '<a href="https://a.test/x">a</a>',
    '<body>x</body>',
    '\u00fc\u00df',
    '',
    '--not-a-boundary',
    ' trailing ',
    '.',
    `${'long '.repeat(250)}`,
    '<a href=https://b.test>',
  ]
  const body = () => Array.from({ length: seeded.between(1, 6) }, () => seeded.pick(texts)).join('\r\n')
  const leaf = (): string => {
    const type = seeded.pick([
      'text/html',
      'text/html; charset=utf-8',
      'text/plain',
      'image/png',
      'text/html; name=x.html',
      'message/rfc822',
    ])
    const encoding = type.startsWith('text/html') ? seeded.pick(['', '8bit', 'base64', 'quoted-printable']) : ''
    const content = Buffer.from(body(), 'latin1')
    const written =
      encoding === 'base64'
        ? content.toString('base64').replaceAll(/.{60}/g, '$&\r\n')
        : encoding === 'quoted-printable'
          ? content.toString('latin1').replaceAll(/[=\u0080-\u00ff]/g, (c) => `=${c.charCodeAt(0).toString(16).toUpperCase()}`)
          : content.toString('latin1')
    return [
      `Content-Type: ${type}`,
      ...(encoding === '' ? [] : [`content-transfer-encoding:${encoding}`]),
      'X-Odd:\tvalue ',
      '',
      written,
    ].join('\r\n')
  }
  const part = (depth: number): string => {
    if (depth === 0 || seeded.chance(0.3)) return leaf()
    const mark = `b${seeded.between(0, 1e9)}`
    const parts = Array.from({ length: seeded.between(1, 3) }, () => `--${mark}\r\n${part(depth - 1)}\r\n`).join('')
    return `Content-Type: multipart/${seeded.pick(['mixed', 'alternative', 'related'])}; boundary="${mark}"\r\n\r\n${seeded.pick(['', 'preamble\r\n'])}${parts}--${mark}--${seeded.pick(['', '\r\nepilogue'])}`
  }
  return Buffer.from(`Subject: x\r\n${part(3)}\r\n`, 'latin1')
}

test('trackedMessage() takes time in proportion to the HTML', (t) => {
  for (const piece of ['&', '<', '<a href=', '&#', '<a ', '"', '<!--', '<a href="https://a.test/"', ' ']) {
    t.true(
      growsLinearly(
        (size) => trackedMessage(page(`x${piece.repeat(size / piece.length)}`), own, { links: undefined, pixel: 'https://p.test/' }),
        60_000,
      ),
      piece,
    )
  }
})
