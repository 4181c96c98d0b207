/** Characters that a person does not see, or that show text in another order than a program reads it: taken out, and counted. */

export interface RemovedCharacters {
  /** Without width: joiners, soft hyphens, tags, byte order marks and controls. */
  readonly zero_width: number
  /** Controls of direction (Unicode UAX #9). */
  readonly bidi: number
}

// annotations are shown, by programs that know them, beside the text
const zeroWidth = /[\p{Default_Ignorable_Code_Point}\ufff9-\ufffb]/gu
const bidi = /\p{Bidi_Control}/gu
const controls = /(?![\t\n])\p{Cc}/gu

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
