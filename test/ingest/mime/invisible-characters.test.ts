/** Removed and preserved characters. */
import test from '#test'
import { withoutInvisible } from '#ingest/mime/invisible-characters.ts'

/** Unicode's list of default-ignorable characters. Bidirectional controls have a separate count. */
const ignorable = /\p{Default_Ignorable_Code_Point}/u
const directions = /\p{Bidi_Control}/u

test('withoutInvisible() removes and counts every default-ignorable character', (t) => {
  const left: string[] = []
  for (let code = 0; code <= 0x10_ff_ff; code++) {
    const character = code >= 0xd8_00 && code <= 0xdf_ff ? '' : String.fromCodePoint(code)
    if (!ignorable.test(character)) continue
    const { text, removed } = withoutInvisible(`a${character}b`)
    const counted = directions.test(character) ? removed.bidi : removed.zero_width
    if (text !== 'ab' || counted !== 1) left.push(code.toString(16))
  }
  t.deepEqual(left, [])
})

test('withoutInvisible() keeps letters of all scripts, marks, emoji and lines', (t) => {
  for (const text of ['Grüezi', 'Привет', 'سلام', '日本語', 'e\u0301', '👍🏽', 'a\tb\nc', '…', 'ﬁ', '𝄞'])
    t.deepEqual(withoutInvisible(text), { text, removed: { zero_width: 0, bidi: 0 } })
})
