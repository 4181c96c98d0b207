/** Text that others wrote: shown as it is, but nothing in it turns, hides or joins what stands around it. */
import type { ComponentChildren, JSX } from 'preact'

/** Directional overrides and isolates, zero-width characters, soft hyphens, tags and other controls that are not seen. */
const unseen =
  /\u034f|[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f\u00ad\u061c\u115f\u1160\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\u3164\ufeff\uffa0\ufff9-\ufffb]|[\u{e0000}-\u{e007f}]/gu

/** The parts of a text; `code` is set for a character that is not seen. */
function parts(text: string): { readonly text: string; readonly code?: string }[] {
  const found: { readonly text: string; readonly code?: string }[] = []
  let end = 0
  for (const { 0: character, index } of text.matchAll(unseen)) {
    if (index > end) found.push({ text: text.slice(end, index) })
    found.push({ text: '', code: `U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}` })
    end = index + character.length
  }
  if (end < text.length) found.push({ text: text.slice(end) })
  return found
}

/** In an element of its own direction; characters that are not seen are shown by their number. */
export const SafeText = ({ text }: { readonly text: string }): JSX.Element => (
  <bdi>{parts(text).map((part) => (part.code === undefined ? part.text : <span class="odd-character">{part.code}</span>))}</bdi>
)

/** Names and values below each other; a value that is a text may be of others. */
export const Facts = ({ rows }: { readonly rows: readonly (readonly [name: string, value: ComponentChildren])[] }): JSX.Element => (
  <dl class="facts">
    {rows.map(([name, value]) => (
      <>
        <dt>{name}</dt>
        <dd>{typeof value === 'string' ? <SafeText text={value} /> : value}</dd>
      </>
    ))}
  </dl>
)

/** For attributes, where no element can stand. */
export const plain = (text: string): string =>
  parts(text)
    .map(({ text: seen, code }) => (code === undefined ? seen : `[${code}]`))
    .join('')

/** The letter that stands for a name. */
export const initial = (name: string): string => plain(name).trim().charAt(0).toUpperCase() || 'P'
