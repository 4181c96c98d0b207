/** Makes untrusted file names safe to show, to store on any system and to put into a header. */
import { atFirstUse } from '../texts/formats.ts'
import { extensionOfType } from './media-types.ts'

/** Maximum length of a file name on common file systems, in octets of UTF-8. */
const maxOctets = 255
// Longer endings are parts of a sentence and not extensions.
const maxExtension = 16
// Controls, line separators, invisible characters, and marks that reorder text and so can disguise an extension. Variation selectors remain
// because they belong to emoji.
const hidden = /[[\p{Cc}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\ufff9-\ufffb]--\p{Variation_Selector}]/gv
// Characters that Windows refuses in names, in addition to controls and path separators.
const reserved = /[<>:"|?*]/g
// Device names, which Windows opens instead of a file, with any extension.
const device = /^(?:con|prn|aux|nul|com[\d¹²³]|lpt[\d¹²³]|conin\$|conout\$) ?(?:\.|$)/i

const graphemes = atFirstUse(() => new Intl.Segmenter('en', { granularity: 'grapheme' }))

/**
 * Returns a base name of at most 255 octets in NFC. It has no path, no control, invisible or direction characters, single blanks only, and
 * no characters that file systems reserve. If nothing remains, the name is `attachment` with the extension of the media type.
 */
export function safeFilename(declared: string | undefined, contentType: string): string {
  // Only the end matters, and a limit keeps the work small.
  const visible = (declared ?? '')
    .slice(-4096)
    .toWellFormed()
    .replace(hidden, '')
    .replaceAll(/\p{Zs}+/gu, ' ')
    .normalize('NFC')
  const base = visible.slice(Math.max(visible.lastIndexOf('/'), visible.lastIndexOf('\\')) + 1)
  const name = trimDotsAndBlanks(base.replace(reserved, '_'))
  if (name === '') return `attachment.${extensionOfType(contentType)}`
  return shortened(device.test(name) ? `_${name}` : name, '')
}

/**
 * Returns the names of all files of a message, changed to be distinct: `a.pdf`, `a (2).pdf`. Names that differ only in case are equal,
 * because many file systems ignore case.
 */
export function distinctNames(names: readonly string[]): string[] {
  const taken = new Map<string, number>() // with the last number of each repeated name
  return names.map((name) => {
    let distinct = name
    let nth = taken.get(name.toLowerCase()) ?? 1
    while (taken.has(distinct.toLowerCase())) distinct = shortened(name, ` (${++nth})`)
    taken.set(name.toLowerCase(), nth)
    if (distinct !== name) taken.set(distinct.toLowerCase(), 1)
    return distinct
  })
}

/** Drops leading dots, which hide a file, and trailing dots and blanks, which some systems remove. */
function trimDotsAndBlanks(name: string): string {
  const drops = (char: string | undefined): boolean => char === '.' || char === ' '
  let start = 0
  let end = name.length
  while (start < end && drops(name[start])) start += 1
  while (end > start && drops(name[end - 1])) end -= 1
  return name.slice(start, end)
}

/** Inserts `mark` between stem and extension. Shortens the stem by whole graphemes if the name becomes too long. */
function shortened(name: string, mark: string): string {
  const dot = name.lastIndexOf('.')
  const split = dot > 0 && name.length - dot <= maxExtension ? dot : name.length
  const end = mark + name.slice(split)
  const room = maxOctets - Buffer.byteLength(end)
  const stem = name.slice(0, split)
  if (Buffer.byteLength(stem) <= room) return stem + end
  let cut = 0
  let octets = 0
  for (const { segment } of graphemes().segment(stem.slice(0, 2 * maxOctets))) {
    octets += Buffer.byteLength(segment)
    if (octets > room) break
    cut += segment.length
  }
  // A single grapheme with hundreds of marks is not a name.
  return `${trimDotsAndBlanks(stem.slice(0, cut)) || 'attachment'}${end}`
}
