/**
 * Displays untrusted text unchanged, without effects on the text around it. Covers bidirectional text, invisible characters and joiners.
 */
import type { ComponentChildren, JSX } from 'preact'
import { textParts } from '../mail/unseen.ts'

/** Untrusted text in a separate bidi context. Shows invisible characters as code points. */
export const SafeText = ({ text }: { readonly text: string }): JSX.Element => (
  <bdi>{textParts(text).map((part) => (part.code === undefined ? part.text : <span class="odd-character">{part.code}</span>))}</bdi>
)

/** Name and value pairs. Text values count as untrusted. */
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

/** Returns untrusted text for attributes, which cannot contain elements. */
export const plain = (text: string): string =>
  textParts(text)
    .map(({ text: seen, code }) => (code === undefined ? seen : `[${code}]`))
    .join('')

export const initial = (name: string): string => plain(name).trim().charAt(0).toUpperCase() || 'P'
