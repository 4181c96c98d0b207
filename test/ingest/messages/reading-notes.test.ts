/** Sentences of reading notes. */
import test from '#test'
import { readingNotes } from '#ingest/messages/reading-notes.ts'

const nothing = {
  faults: [],
  textLeftOut: 0,
  htmlLeftOut: 0,
  hasCutStyles: false,
  headerLeftOut: 0,
  hasGuessedAddress: false,
  isAttachmentCut: false,
  hasBrokenTnef: false,
}

test('readingNotes() orders notes by their codes', (t) => {
  const faults = [{ code: 'unknown_transfer_encoding', name: 'x-zip' }, { code: 'unclosed_part' }] as const
  t.deepEqual(
    readingNotes({
      faults,
      textLeftOut: 5,
      htmlLeftOut: 7,
      hasCutStyles: true,
      headerLeftOut: 3,
      hasGuessedAddress: true,
      isAttachmentCut: true,
      hasBrokenTnef: true,
    }).map(({ code }) => code),
    [
      'text_cut',
      'html_cut',
      'styles_cut',
      'attachment_cut',
      'header_cut',
      'guessed_address',
      'unclosed_part',
      'unknown_transfer_encoding',
      'broken_tnef',
    ],
  )
  t.deepEqual(readingNotes(nothing), [])
})

test('readingNotes() restricts a declared name in length and characters', (t) => {
  const sentence = (name: string): string | undefined =>
    readingNotes({ ...nothing, faults: [{ code: 'unknown_charset', name }] })[0]?.sentence
  t.is(sentence('"> x\n'), 'The charset "x" is unknown; the text was decoded by a guess.')
  t.is(sentence('?'), 'The charset is unknown; the text was decoded by a guess.')
  t.is(sentence('x'.repeat(100)), `The charset "${'x'.repeat(40)}" is unknown; the text was decoded by a guess.`)
})
