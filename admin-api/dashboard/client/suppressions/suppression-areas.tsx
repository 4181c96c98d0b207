/** Navigation between suppressions and mailing list unsubscribes. */
import type { JSX } from 'preact'
import { link } from '../app/location.ts'
import { words } from '../words/words.ts'

export function SuppressionAreas({ chosen }: { readonly chosen: 'suppressions' | 'unsubscribes' }): JSX.Element {
  const w = words()
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
