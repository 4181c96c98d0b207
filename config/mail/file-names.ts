/** Makes untrusted file names safe to show, to store on any system and to put into a header. */
import { atFirstUse } from '../words/formats.ts'
import { extensionOfType } from './media-types.ts'

/** What common file systems take for one name, in octets of UTF-8. */
const maxOctets = 255
// Longer ones are no extensions but parts of a sentence.
const maxExtension = 16
// Controls, separators of lines, what is invisible, and the marks that reorder text and so can disguise an extension.
// Variation selectors stay: they belong to emoji.
const hidden = /[[\p{Cc}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\ufff9-\ufffb]--\p{Variation_Selector}]/gv
// What Windows refuses in a name, beside controls and the separators of paths.
const reserved = /[<>:"|?*]/g
// Names of devices, which Windows opens in place of a file whatever the extension.
const device = /^(?:con|prn|aux|nul|com[\d¹²³]|lpt[\d¹²³]|conin\$|conout\$) ?(?:\.|$)/i

const graphemes = atFirstUse(() => new Intl.Segmenter('en', { granularity: 'grapheme' }))

/**
 * A base name of at most 255 octets in NFC: no path, no control, invisible or direction characters, runs of blanks as one,
 * nothing that a file system reserves. When nothing is left, the name is `attachment` with the extension of the media type.
 */
export function safeFilename(declared: string | undefined, contentType: string): string {
  // Only the tail can matter, and a bound keeps the work small.
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
 * The names of the files of one message, each made different from those before it: `a.pdf`, `a (2).pdf`. Names that differ
 * only in case count as the same, as they do on many file systems.
 */
export function distinctNames(names: readonly string[]): string[] {
  const taken = new Map<string, number>() // and the number that its last namesake got
  return names.map((name) => {
    let distinct = name
    let nth = taken.get(name.toLowerCase()) ?? 1
    while (taken.has(distinct.toLowerCase())) distinct = shortened(name, ` (${++nth})`)
    taken.set(name.toLowerCase(), nth)
    if (distinct !== name) taken.set(distinct.toLowerCase(), 1)
    return distinct
  })
}

/** Leading dots hide a file, trailing dots and blanks vanish on some systems; both are dropped. */
function trimDotsAndBlanks(name: string): string {
  const drops = (char: string | undefined): boolean => char === '.' || char === ' '
  let start = 0
  let end = name.length
  while (start < end && drops(name[start])) start += 1
  while (end > start && drops(name[end - 1])) end -= 1
  return name.slice(start, end)
}

/** Puts `mark` between stem and extension, and cuts the stem after a whole grapheme where the name becomes too long. */
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
  // One grapheme with hundreds of marks is no name.
  return `${trimDotsAndBlanks(stem.slice(0, cut)) || 'attachment'}${end}`
}
