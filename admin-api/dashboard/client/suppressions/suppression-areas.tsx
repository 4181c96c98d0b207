/** Navigation between suppressions and mailing list unsubscribes. */
import type { JSX } from 'preact'
import { link } from '../app/location.ts'
import { texts } from '../texts/texts.ts'

export function SuppressionAreas({ chosen }: { readonly chosen: 'suppressions' | 'unsubscribes' }): JSX.Element {
  const w = texts()
  const entry = (name: typeof chosen, path: string): JSX.Element => (
    <a href={link(path)} aria-current={name === chosen ? 'page' : undefined}>
      {w[name]}
    </a>
  )
  return (
    <nav class="areas" aria-label={w.suppressions}>
      {entry('suppressions', '/suppressions')}
      {entry('unsubscribes', '/suppressions/unsubscribes')}
    </nav>
  )
}
