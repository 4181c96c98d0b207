/** Invisible characters in a subject. */
import test from '#test'
import { hasInvisible } from '#ingest/inspect/facts/characters.ts'

test('hasInvisible() finds controls, fillers and bidi marks, not joiners or emoji', (t) => {
  const hidden = ['a\u0000b', 'a\u00adb', 'a\u034fb', 'a\u061cb', 'a\u115fb', 'a\u200bb', 'a\u202eb', 'a\u2065b', 'a\u206ab', 'a\u3164b']
  for (const text of [...hidden, 'a\ufff0b', 'a\u{1bca0}b', 'a\u{1d173}b', 'a\u{e0001}b']) t.true(hasInvisible(text), JSON.stringify(text))
  for (const text of ['Grüezi', 'می\u200cخواهم', '👩\u200d👧', '❤\ufe0f', '🏴\u{e0067}\u{e0062}\u{e007f}', '葛\u{e0100}'])
    t.false(hasInvisible(text), JSON.stringify(text))
})
