/** Characters that a person does not see, or that show text in another order than a program reads it: taken out, and counted. */

export interface RemovedCharacters {
  /** Without width: joiners, soft hyphens, tags, byte order marks and controls. */
  readonly zero_width: number
  /** Controls of direction (Unicode UAX #9). */
  readonly bidi: number
}

const zeroWidth =
  /\u00AD|\u034F|[\u115F\u1160\u3164\uFFA0]|[\u17B4\u17B5]|[\u180B-\u180F]|[\u200B-\u200D]|[\u2060-\u2065\u206A-\u206F]|[\uFE00-\uFE0F]|\uFEFF|[\uFFF0-\uFFFB]|[\u{1BCA0}-\u{1BCA3}]|[\u{1D173}-\u{1D17A}]|[\u{E0000}-\u{E0FFF}]/gu
const bidi = /[\u061C\u200E\u200F\u202A-\u202E\u2066-\u2069]/gu
// C0 but for tab and line feed, DEL and C1
const controls = /[\u0000-\u0008\u000B-\u001F\u007F-\u009F]/gu

/** Printable ASCII and line feeds: nothing to take out. */
const isPlain = (text: string): boolean => /^[\n\t\u0020-\u007E]*$/.test(text)
const none: RemovedCharacters = { zero_width: 0, bidi: 0 }

/** The text without them, with lines that end in a line feed, and how many went. */
export function withoutInvisible(text: string): { readonly text: string; readonly removed: RemovedCharacters } {
  if (isPlain(text)) return { text, removed: none }
  let [invisible, directions] = [0, 0]
  const shown = text
    .replaceAll(/\r\n?/g, '\n')
    .replaceAll(bidi, () => (directions++, ''))
    .replaceAll(zeroWidth, () => (invisible++, ''))
    .replaceAll(controls, () => (invisible++, ''))
  return { text: shown.toWellFormed(), removed: { zero_width: invisible, bidi: directions } }
}
