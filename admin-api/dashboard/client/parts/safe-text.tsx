/** Text that others wrote: shown as it is, but nothing in it turns, hides or joins what stands around it. */
import type { ComponentChildren, JSX } from 'preact'

/** Controls, and characters that are not seen; variation selectors choose the form of the character before them. */
const unseen = /(?![\t\n\r\p{Variation_Selector}])[\p{Cc}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\ufff9-\ufffb]/gu

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
