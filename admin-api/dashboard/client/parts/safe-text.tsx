/** Text that others wrote: shown as it is, but nothing in it turns, hides or joins what stands around it. */
import type { ComponentChildren, JSX } from 'preact'
import { textParts } from '../mail/unseen.ts'

/** In an element of its own direction; characters that are not seen are shown by their number. */
export const SafeText = ({ text }: { readonly text: string }): JSX.Element => (
  <bdi>{textParts(text).map((part) => (part.code === undefined ? part.text : <span class="odd-character">{part.code}</span>))}</bdi>
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
  textParts(text)
    .map(({ text: seen, code }) => (code === undefined ? seen : `[${code}]`))
    .join('')

/** The letter that stands for a name. */
export const initial = (name: string): string => plain(name).trim().charAt(0).toUpperCase() || 'P'
