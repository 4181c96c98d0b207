/** Removes and counts characters that are invisible or that change the visual order of text. */

export interface RemovedCharacters {
  /** Characters without width: joiners, soft hyphens, tags, byte order marks and controls. */
  readonly zero_width: number
  /** Bidirectional controls (Unicode UAX #9). */
  readonly bidi: number
}

// includes annotation characters, whose text some programs display next to the annotated text
const zeroWidth = /[\p{Default_Ignorable_Code_Point}\ufff9-\ufffb]/gu
const bidi = /\p{Bidi_Control}/gu
const controls = /(?![\t\n])\p{Cc}/gu

/** Recognizes printable ASCII text, which needs no change. */
const isPlain = (text: string): boolean => /^[\n\t\u0020-\u007E]*$/.test(text)
const none: RemovedCharacters = { zero_width: 0, bidi: 0 }

/** Returns the text without invisible characters, with LF line ends, and the number of removed characters. */
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
