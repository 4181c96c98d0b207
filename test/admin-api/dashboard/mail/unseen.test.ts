/** Invisible characters in untrusted text on dashboard screens. */
import test from '#test'
import { textParts } from '../../../../admin-api/dashboard/client/mail/unseen.ts'

const shown = (text: string): string =>
  textParts(text)
    .map(({ text: seen, code }) => (code === undefined ? seen : `<${code}>`))
    .join('')

const named = (code: number): string => `<U+${code.toString(16).toUpperCase().padStart(4, '0')}>`

test('textParts(): reports all control and invisible characters', (t) => {
  const unlike: string[] = []
  for (let code = 0; code <= 0x10_ff_ff; code++) {
    if (code >= 0xd8_00 && code <= 0xdf_ff) continue
    const character = String.fromCodePoint(code)
    const isUnseen = /(?![\t\n\r])[\p{Cc}\p{Zl}\p{Zp}\p{Bidi_Control}\p{Default_Ignorable_Code_Point}\ufff9-\ufffb]/u.test(character)
    if (shown(`a${character}b`) !== `a${isUnseen ? named(code) : character}b`) unlike.push(code.toString(16))
  }
  t.deepEqual(unlike, [])
})

test('textParts(): keeps joiners and selectors with a visible effect', (t) => {
  for (const text of [
    '👩\u200d👩\u200d👧',
    '❤\ufe0f\u200d🔥',
    '👩🏽\u200d🚀',
    '1\ufe0f\u20e3',
    '☎\ufe0e',
    'می\u200cخواهم',
    'क्\u200dष',
    '葛\u{e0100}',
    'ᠠ\u180b',
  ])
    t.is(shown(text), text)
})

test('textParts(): reports joiners and selectors that hide content', (t) => {
  for (const [text, expected] of [
    ['pay\u200dpal', 'pay<U+200D>pal'],
    ['па\u200cй', 'па<U+200C>й'],
    ['e\u0301\u200dx', 'e\u0301<U+200D>x'],
    ['\u200dx', '<U+200D>x'],
    ['👩\u200d', '👩<U+200D>'],
    ['👩\u200d\u200d👧', '👩<U+200D><U+200D>👧'],
    ['😀\ufe0f\ufe0f', '😀\ufe0f<U+FE0F>'],
    ['😀\u{e0100}\u{e0101}', '😀\u{e0100}<U+E0101>'],
    ['a\ufe01', 'a<U+FE01>'],
    ['葛\u{e0100}\u{e0101}', '葛\u{e0100}<U+E0101>'],
  ] as const)
    t.is(shown(text), expected)
})

test('textParts(): returns the text in between, in order', (t) => {
  t.deepEqual(textParts('a\tb\n\u202ec\0'), [{ text: 'a\tb\n' }, { text: '', code: 'U+202E' }, { text: 'c' }, { text: '', code: 'U+0000' }])
  t.deepEqual(textParts(''), [])
})
