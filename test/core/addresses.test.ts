/** The address grammar with valid and hostile input. */
import test from '#test'
import { foldAddress, parseAddress, parseDomain, parseMailbox } from '#core/addresses.ts'
import { addressProblem } from '#config/mail/address-problem.ts'
import { asSeen, trimInvisible } from '#config/mail/invisible.ts'
import { Seeded } from '../support/seeded.ts'
import { growsLinearly } from '../support/measure/growth.ts'

const long = (n: number): string => 'a'.repeat(n)
/** A domain of exactly `n` octets. */
const domainOf = (n: number): string => `${`${long(63)}.`.repeat(4)}`.slice(0, n - 3).replace(/\.$/, 'b') + '.ch'

const good: readonly (readonly [string, string])[] = [
  ['anna@example.net', 'anna@example.net'],
  ['Anna.Meier+tag@Example.NET', 'Anna.Meier+tag@example.net'],
  ["!#$%&'*+-/=?^_`{|}~@example.net", "!#$%&'*+-/=?^_`{|}~@example.net"],
  ['jürg@example.ch', 'jürg@example.ch'],
  ['用户@例え.jp', '用户@xn--r8jz45g.jp'],
  ['anna@Bücher.example', 'anna@xn--bcher-kva.example'],
  ['anna@XN--BCHER-KVA.example', 'anna@xn--bcher-kva.example'],
  ['anna@_dmarc.example', 'anna@_dmarc.example'],
  ['root@localhost', 'root@localhost'],
  ['a@1.2.3.example', 'a@1.2.3.example'],
  [`${long(64)}@example.net`, `${long(64)}@example.net`],
  [`a@${long(63)}.ch`, `a@${long(63)}.ch`],
  [`a@${domainOf(252)}`, `a@${domainOf(252)}`],
]

const bad: readonly string[] = [
  ...['', '@', 'anna', 'anna@', '@example.net', 'anna@@example.net', 'a@b@example.net', 'anna@example..net', 'anna@.example.net'],
  ...['anna@example.net.', '.anna@example.net', 'anna.@example.net', 'an..na@example.net', ' anna@example.net', 'anna@example.net '],
  ...[
    'an na@example.net',
    'anna@exam ple.net',
    'anna@example.net\r\nBcc: q@evil.test',
    'anna\r\n@example.net',
    'anna@example.net\n',
    '\0@example.net',
  ],
  ...[
    'a@x.net,b@y.net',
    'a@x.net, b@y.net',
    'a@x.net;b@y.net',
    'g:a@x.net;',
    'g: a@x.net, b@y.net;',
    'a(comment)@x.net',
    'a@x.net(comment)',
    '(c)a@x.net',
  ],
  ...[
    '"anna"@example.net',
    '"an na"@example.net',
    '"a@b"@example.net',
    '<anna@example.net>',
    'Anna <anna@example.net>',
    'anna\\@b@example.net',
    'a\\b@example.net',
  ],
  ...[
    'a@[127.0.0.1]',
    'a@[IPv6:::1]',
    'a@127.0.0.1',
    'a@127.1',
    'a@１２７.０.０.１',
    'a@1',
    '@route.example:a@example.net',
    'a@example.net:25',
    'a@ex/ample',
    'a@ex%41mple.net',
  ],
  ...[
    'a@-example.net',
    'a@example-.net',
    `a@${long(64)}.ch`,
    `${long(65)}@example.net`,
    `${'ü'.repeat(33)}@example.net`,
    `a@${domainOf(253)}`,
  ],
  ...[
    'a\u2028b@example.net',
    'a\u0085b@example.net',
    'a@exam\u2028ple.net',
    'a\ud800b@example.net',
    'a@ex\ud800.net',
    'a\u202eb@example.net',
    'a\u2066b@example.net',
  ],
  ...['a\u00a0b@example.net', '\ufeffa@example.net', 'a\u3000b@example.net', 'a@exa\u00a0mple.net'],
  ...['\u200b', '\u00ad', '\u2060', '\u200c', '\u200d', '\u3164', '\u{e0041}', '\u034f', '\ufe0f', '\u{e0100}', '\u{1d173}'].map(
    (unseen) => `a${unseen}b@example.net`,
  ),
]

for (const [text, address] of good) {
  test(`parseAddress(): accepts ${text.slice(0, 80)}`, (t) => {
    const mailbox = parseAddress(text)
    t.is(mailbox?.address, address)
    t.is(`${mailbox?.local}@${mailbox?.domain}`, address)
    t.is(mailbox?.name, '')
    t.deepEqual(parseAddress(address), mailbox, 'the parsed address parses to itself')
    t.deepEqual(parseMailbox(`<${text}>`), mailbox)
    t.deepEqual(parseMailbox(`  Anna M. <${text}>  `), mailbox && { ...mailbox, name: 'Anna M.' })
  })
}

test('parseAddress(): refuses everything but exactly one mailbox', (t) => {
  for (const text of bad) t.is(parseAddress(text), undefined, JSON.stringify(text))
})

test('parseMailbox(): refuses hostile addresses after a display name', (t) => {
  for (const text of bad)
    if (text === text.trim() && !text.includes('<')) t.is(parseMailbox(`Anna <${text}>`), undefined, JSON.stringify(text))
})

test('parseMailbox(): reads display names', (t) => {
  const names: readonly (readonly [string, string | undefined])[] = [
    ['Anna', 'Anna'],
    ['"Meier, Anna"', 'Meier, Anna'],
    ['"a \\"b\\" \\\\c"', 'a "b" \\c'],
    ['"anna@evil.test"', 'anna@evil.test'],
    ['Zoë Müller', 'Zoë Müller'],
    ['""', ''],
    ['', ''],
    [`"${long(254)}"`, long(254)],
    [long(257), undefined],
    ['Meier, Anna', undefined],
    ['anna@evil.test', undefined],
    ['a <b@x.net>', undefined],
    ['a; b', undefined],
    ['Group: a', undefined],
    ['(comment)', undefined],
    ['[list]', undefined],
    ['"open', undefined],
    ['open"', undefined],
    ['"a" "b"', undefined],
    ['"a\\"', undefined],
    ['a\\b', undefined],
    ['a\r\nBcc: q@evil.test', undefined],
    ['"a\r\nb"', undefined],
    ['a\0b', undefined],
    ['a\u2028b', undefined],
    ['a\ud800', undefined],
  ]
  for (const [name, expected] of names) t.is(parseMailbox(`${name} <anna@example.net>`)?.name, expected, JSON.stringify(name))
  for (const text of [
    'anna@example.net>',
    '<anna@example.net',
    'Anna <anna@example.net> x',
    '<a@x.net> <b@x.net>',
    '<<a@x.net>>',
    'a@x.net, <b@x.net>',
    '<>',
  ]) {
    t.is(parseMailbox(text), undefined, text)
  }
})

test('invisible characters: removed around a mailbox, and named within it', (t) => {
  t.is(parseMailbox('\u200b\u00a0\u202aanna@example.net\u202c\u2060\n')?.address, 'anna@example.net')
  const problem = (text: string) => addressProblem(text)
  t.is(problem('an\u200bna@example.net'), 'must have no invisible character; remove U+200B ZERO WIDTH SPACE')
  t.is(problem('Anna <an\u{e0041}na@example.net>'), 'must have no invisible character; remove U+E0041 TAG LATIN CAPITAL LETTER A')
  t.is(problem('an\u{e0100}na@example.net'), 'must have no invisible character; remove U+E0100')
  t.regex(problem('"an na"@example.net') ?? '', /quoted local parts are not supported$/)
  t.regex(problem('Anna <"anna"@example.net>') ?? '', /quoted local parts/)
  for (const text of ['anna', 'an na@example.net', '', 'a@b@c', '"Anna" <anna@>', `${'"'.repeat(600)}@`])
    t.is(problem(text), undefined, text)
})

test('trimInvisible(), asSeen(): remove invisible characters in linear time', (t) => {
  t.is(trimInvisible('\u200b \ta b\u00a0c \u3164'), 'a b\u00a0c')
  t.deepEqual(['', ' \u200b', 'a', '\u200ba'].map(trimInvisible), ['', '', 'a', 'a'])
  t.is(asSeen('+41\u00a079\u200e\ufe0f\u2009x'), '+41 79 x')
  t.true(growsLinearly((n) => void trimInvisible(`a${'\u200b'.repeat(n)}b\u200b`), 50_000))
})

test('parseDomain(): refuses invalid host names', (t) => {
  for (const text of ['', '.', 'a..b', 'a b', 'a/b', 'a:1', 'a?b', 'a#b', 'a@b', '[::1]', '127.0.0.1', 'a\r\nb', '\u200b'])
    t.is(parseDomain(text), undefined, JSON.stringify(text))
  t.is(parseDomain('EXAMPLE.ch'), 'example.ch')
  t.is(parseDomain('例え。テスト'), 'xn--r8jz45g.xn--zckzah')
})

test('parseAddress(): accepted random text is harmless, and parses to the same again', (t) => {
  const random = new Seeded('addresses')
  const usual = ['a', 'B', '.', '-', '_', '+', 'x.net', 'ü', '例', '@', '1']
  const hostile = [
    '\r',
    '\n',
    '\0',
    ' ',
    ',',
    ';',
    ':',
    '<',
    '>',
    '"',
    '\\',
    '(',
    ')',
    '[',
    ']',
    '\u2028',
    '\u202e',
    '\ud83d',
    '\ude00',
    '。',
    'xn--',
    '%',
    '<a@b.ch>',
  ]
  let taken = 0
  for (let i = 0; i < 60_000; i++) {
    const word = () => Array.from({ length: random.between(1, 4) }, () => random.pick(random.chance(0.9) ? usual : hostile)).join('')
    const text = random.chance(0.8) ? `${word()}@${word()}` : `${word()} <${word()}@${word()}>`
    for (const mailbox of [parseAddress(text), parseMailbox(text)]) {
      if (!mailbox) continue
      taken++
      const { address, name } = mailbox
      if (/[\s\u0000-\u001f\u007f-\u009f,;:<>"\\()[\]\u2028\u2029\u202a-\u202e]/.test(address) || address.split('@').length !== 2)
        t.fail(JSON.stringify(text))
      if (/[\r\n\0]/.test(name) || !address.isWellFormed()) t.fail(JSON.stringify(text))
      if (JSON.stringify(parseAddress(address)) !== JSON.stringify({ ...mailbox, name: '' })) t.fail(JSON.stringify(text))
      if (Buffer.byteLength(address) > 254) t.fail(JSON.stringify(text))
    }
  }
  t.true(taken > 1000, `${taken} addresses accepted`)
})

test('parseAddress(), parseMailbox(): are linear on a megabyte of junk', (t) => {
  const junk = ['@', '.', '<', '>', '"', '\\', ' ', 'a', 'ü', '"\\', '<a@b.ch>', 'a@', '\t', '<>']
  const read = (text: string): void => {
    for (const candidate of [text, `${text}>`, `"${text}" <a@b.ch>`, `${text} <a@b.ch>`, `<${text}@b.ch>`, `a@${text}`]) {
      parseAddress(candidate)
      parseMailbox(candidate)
    }
  }
  for (const piece of junk) {
    t.true(
      growsLinearly((size) => read(piece.repeat(size / piece.length))),
      piece,
    )
  }
})

test('foldAddress(): ignores case', (t) => {
  t.is(foldAddress('Anna@Example.NET'), 'anna@example.net')
})
